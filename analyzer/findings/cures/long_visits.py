"""Long visits: once, or a few times, a rank computes longer before a call than it does in its other visits.

Visits of a rank to a stretch of code (`stretches`) are long that are farther from its other ones than any two of these
are from each other, and less than half of all. Where ranks have equally many visits, so is what they have beyond the
mean of the other ranks' same ones; else, no visit of another rank is nearer. Where half of the ranks have such visits,
they may do there what the others do elsewhere, and nothing is stated.

Cure: these visits last as the others do. In the graph, they last as long as the mean of the rank's other visits, or as
much longer or shorter than the other ranks' same visits as its others are: whichever of the two shows better how long
its other visits last. At the other ends of the gain it is the other one of the two, or as far off as that is of any
other visit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Flags, Program, Transformation
from logpost.analyzer.findings.cures.stretches import Floats, Stretch, stretches
from logpost.analyzer.findings.cures.uneven_computation import KIND, described
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number, Sum
from logpost.replay.columns import Int64


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a stretch of code."""
    found = (described(evidence, one) for one in offered(evidence, propose, of_messages=False))
    return (one for one in found if one.exposed_ps > 0)


@dataclass(frozen=True)
class Long:
    """Long visits of a location, of so many; times in ps."""

    calls: Int64
    gaps: Floats
    visits: int
    usual: tuple[Floats, ...]
    """how long they would last: most likely, and at the other ends"""

    @property
    def beyond(self) -> float:
        """How much longer they last."""
        return float((self.gaps - self.usual[0]).sum())


def propose(program: Program) -> Iterator[Proposal]:
    """The long visits to each stretch."""
    for place, found in _every_one(program):
        changes = [_as_usual(program, found, end) for end in range(len(found[0].usual))]
        calls = np.concatenate([one.calls for one in found])
        usual = np.concatenate([one.usual[0] for one in found])
        yield Proposal(
            kind=KIND,
            callpath=place.callpath,
            callpaths=frozenset((place.callpath,)),
            at_fault=frozenset(program.location[calls].tolist()),
            change=changes[0],
            other_ends=tuple(changes[1:]),
            numbers=(
                Sum("long_visits", len(calls), "count"),
                Sum("visits", sum(one.visits for one in found), "count"),
                Number("they_last", float(program.gap_ps[calls].mean()), "ps"),
                Number("others_last", float(usual.mean()), "ps"),
                Number("first_one_ends", float(program.enter_ps[calls].min()), "ps"),
            ),
            confidence=MEDIUM,
            certainty="compute time is measured; whether there is more to do in these visits is not known",
        )


@once
def beyond_usual_ps(program: Program) -> Int64:
    """By call: how much longer the code before it is, in a long visit; else 0."""
    beyond = column(program.count, 0)
    for _, found in _every_one(program):
        for one in found:
            beyond[one.calls] = np.rint(one.gaps - one.usual[0])
    return beyond


@once
def _every_one(program: Program) -> list[tuple[Stretch, list[Long]]]:
    least = MIN_SHARE * program.length_ps
    every = []
    for place in stretches(program):
        found = [one for row in np.flatnonzero(place.totals >= least).tolist() if (one := _long(place, row))]
        if place.visits is None:
            found = _beyond_all(place, found)
        if max((one.beyond for one in found), default=0.0) >= least and len(found) < len(place.locations) / 2:
            every.append((place, found))
    return every


def _long(place: Stretch, row: int) -> Long | None:
    gaps = place.gaps[row].astype(np.float64)
    if len(gaps) < MIN_SAMPLES:
        return None
    usual = [np.zeros_like(gaps)]
    if place.visits is not None:
        usual.append(np.delete(place.visits, row, axis=0).mean(axis=0))
    long = np.logical_and.reduce([_apart(gaps - one) for one in usual])
    if not long.any():
        return None
    ends = []
    for one in usual:
        others = (gaps - one)[~long]
        ends.append((others.std(), one[long] + others.mean(), others - others.mean()))
    ends.sort(key=lambda end: float(end[0]))
    (_, first, off), *rest = ends
    lasts = (first, first + off.max(), first + off.min(), *(end for _, end, _ in rest))
    return Long(place.calls[row][long], gaps[long], len(gaps), tuple(np.maximum(0, end) for end in lasts))


def _beyond_all(place: Stretch, found: list[Long]) -> list[Long]:
    """Those whose long visits are as far beyond the other visits of all ranks as beyond their own."""
    long = [call for one in found for call in one.calls.tolist()]
    usual = np.concatenate(place.gaps)[~np.isin(np.concatenate(place.calls), long)]
    least = 2 * usual.max(initial=0) - usual.min(initial=0)
    return [one for one in found if one.gaps.min() > least]


def _apart(times: Floats) -> Flags:
    """Those of the larger half that are farther from the others than these are from each other."""
    ordered = np.sort(times)[::-1]
    next_one = ordered[:-1] - ordered[1:]
    apart = next_one > ordered[1:] - ordered[-1]
    apart[(len(times) - 1) // 2 :] = False
    if not apart.any():
        return np.zeros(len(times), dtype=np.bool_)
    return np.asarray(times >= ordered[np.argmax(np.where(apart, next_one, 0))])


def _as_usual(program: Program, found: Iterable[Long], end: int) -> Transformation:
    longer = column(program.count, 0)
    for one in found:
        longer[one.calls] = np.rint(one.usual[end] - one.gaps)
    return Transformation(longer_ps=longer, lasts_ps=program.shortest_ps)
