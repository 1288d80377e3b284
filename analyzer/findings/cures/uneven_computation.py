"""Uneven computation: some ranks compute longer than the others do before the same calls.

Two cures, and no trace shows which one a program gets:

* the work is shared evenly: in the graph, the code before these calls lasts in all as long as the mean, on each rank
  that has some; what one rank alone computes is shared among all. Where visits are equally many, what a rank gives
  away of one visit is done by others in the same one: whatever follows waits for all of them;
* the slow ranks become as fast as the others: their code lasts, visit by visit or in all, what that of the rank with
  the median total does. With S slow ranks among N, each x beyond the others, the first saves x (N - S) / N and the
  second x.

Both are ends of the gain, and their middle is replayed. Ranks that compute no longer than the mean in all their code
are not slow: only the first is a cure of theirs. Stretches of code (`stretches`) in which the same ranks are slow are
one place. A rank is slow that computes longer than the mean in all its code, too; where none is, a rank that
is slow in one stretch may wait in another, and all are made even together. The same work may be before other calls on
other ranks: where others compute most of it elsewhere, or visits to no single stretch show it, ranks are slow in all
(a few visits that are long are `long_visits`). Where more than half are slow, it is the others that have less to do,
and nothing is stated. Where none is slow beyond chance, the work is uneven all the same: stated if it costs more than
the noise of any machine does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.code import Code, code_of
from logpost.analyzer.findings.cures.offered import Proposal, column, offered, program_of
from logpost.analyzer.findings.cures.program import Flags, Program, Transformation
from logpost.analyzer.findings.cures.stretches import Floats, Stretch, stretches, whole_code
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import HIGH, LOW, MIN_SHARE, NOISE, Finding, Number, Sum
from logpost.analyzer.findings.gain_interval import STUDENT
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.replay.columns import Int64

KIND = "load_imbalance"
BY_CHANCE = "compute time is measured; it varies from visit to visit, and which rank has more of it may be chance"


@dataclass(frozen=True)
class Uneven:
    """Stretches of code whose work is uneven, and what either cure makes of them."""

    program: Program
    places: tuple[Stretch, ...]
    certain: bool = True
    """The slow ranks are so beyond chance."""
    by_visits: bool = True
    """Also by how much visits to a stretch differ."""

    @cached_property
    def slow(self) -> frozenset[int]:
        """Locations that compute longer than the others do."""
        return frozenset().union(*(_slow(one, certain=self.certain) for one in self.places))

    def rows(self, place: Stretch) -> Flags:
        """These, by row."""
        return place.slow if self.certain else place.heavy

    @cached_property
    def shared(self) -> Transformation:
        """Each rank that computes there has the mean; what one rank alone computes is shared among all."""
        longer = column(self.program.count, 0)
        for place in self.places:
            alone = np.count_nonzero(place.totals) == 1
            if place.turns is not None:
                each = _shared_by_turn(place.turns, place.totals > 0 if not alone else place.totals >= 0)
                for row, (calls, more) in enumerate(zip(place.calls, each, strict=True)):
                    longer[calls] = place.by_call(row, more)
                continue
            mean = place.totals.mean() if alone else place.totals[place.totals > 0].mean()
            for calls, gaps, total in zip(place.calls, place.gaps, place.totals, strict=True):
                if total > 0:
                    longer[calls] = _scaled(gaps, mean / total)
                elif alone:
                    longer[calls] = round(mean / len(calls))
        return Transformation(longer_ps=longer, lasts_ps=self.program.shortest_ps)

    @cached_property
    def halfway(self) -> Transformation:
        """Between the two."""
        shared, as_fast = self.shared.longer_ps, self.as_fast.longer_ps
        assert shared is not None
        assert as_fast is not None
        return Transformation(longer_ps=(shared + as_fast) // 2, lasts_ps=self.program.shortest_ps)

    @cached_property
    def as_fast(self) -> Transformation:
        """The slow ranks have, turn by turn, the times of the other rank whose turns are most like theirs; or in all
        those of the rank in the middle of the others, where that saves more: no other one may be like them."""
        in_all = self._with_total_of(lambda place: place.middle_of(~self.rows(place)))
        if any(place.turns is None for place in self.places):
            return in_all
        longer = column(self.program.count, 0)
        for place in self.places:
            slow, turns = self.rows(place), place.turns
            assert turns is not None
            for i in np.flatnonzero(slow).tolist():
                longer[place.calls[i]] = place.by_call(i, turns[place.most_like(i, ~slow)] - turns[i])
        by_turn = Transformation(longer_ps=longer, lasts_ps=self.program.shortest_ps)
        return max(by_turn, in_all, key=self.program.gain)

    @cached_property
    def among_others(self) -> tuple[Transformation, ...]:
        """The slow ranks have in all what the slowest of the others has, or the fastest: which of them each would be
        like is not known."""

        def others(place: Stretch) -> list[int]:
            return sorted(np.flatnonzero(~self.rows(place)).tolist(), key=lambda row: float(place.totals[row]))

        return self._with_total_of(lambda place: others(place)[-1]), self._with_total_of(lambda place: others(place)[0])

    def _with_total_of(self, norm: Callable[[Stretch], int | None]) -> Transformation:
        """The slow ranks' code is longer or shorter by the factor by which that rank's differs."""
        longer = column(self.program.count, 0)
        for place in self.places:
            row = norm(place)
            assert row is not None
            for i in np.flatnonzero(self.rows(place)).tolist():
                longer[place.calls[i]] = _scaled(place.gaps[i], place.totals[row] / place.totals[i])
        return Transformation(longer_ps=longer, lasts_ps=self.program.shortest_ps)


def _shared_by_turn(turns: Floats, sharing: Flags) -> Floats:
    """How much longer each turn of a rank is where those beyond the mean give away as much of each turn as makes them
    the mean in all, and those below it take that in the same turn, in proportion to what they lack."""
    totals = turns.sum(axis=1)
    apart = np.where(sharing, totals - totals[sharing].mean(), 0.0)
    given = turns * (np.maximum(0, apart) / np.maximum(1, totals))[:, None]
    lacks = np.maximum(0, -apart)
    taken = given.sum(axis=0) * (lacks / max(1.0, lacks.sum()))[:, None]
    return np.asarray(taken - given)


def _scaled(gaps: Int64, factor: float) -> Int64:
    return np.asarray(np.rint(gaps * (factor - 1.0)), dtype=np.int64)


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a stretch of code, or one for several that only together save something."""
    found = (described(evidence, one) for one in offered(evidence, propose, of_messages=False))
    return (one for one in found if one.exposed_ps > 0)


def propose(program: Program) -> Iterator[Proposal]:
    """Stretches in which the same ranks are slow, which compute longer in all; or all stretches, where none does. Where
    none of it saves anything, what is less sure."""
    by_ranks: dict[frozenset[int], list[Stretch]] = {}
    uneven = [one for one in _uneven_stretches(program) if one.slow.any() and one.norm is not None]
    for one in uneven:
        if _compute_longer(program, _slow(one)):
            by_ranks.setdefault(_slow(one), []).append(one)
    whole = whole_code(program)
    slow_in_all = whole is not None and whole.norm is not None and bool(whole.slow.any())
    if whole is not None and slow_in_all and _is_elsewhere(whole, by_ranks.get(_slow(whole), [])):
        by_ranks[_slow(whole)] = [whole]
    each = [Uneven(program, tuple(places)) for places in by_ranks.values()]
    if uneven and max((program.gain(one.shared) for one in each), default=0.0) < MIN_SHARE:
        each = [Uneven(program, tuple(uneven))]
    proposals = list(map(_proposal, each))
    yield from proposals
    if all(program.gain(one.change) < MIN_SHARE for one in proposals):
        yield from _less_sure(program, whole if slow_in_all else None)


def _less_sure(program: Program, whole: Stretch | None) -> Iterator[Proposal]:
    """All code of ranks that are slow in all; where there are none, uneven stretches in which the slow rank may be so
    by chance. Of what others differ by, too, more than noise."""
    if whole is not None and np.count_nonzero(~whole.slow) > min(STUDENT):
        of = Uneven(program, (whole,), by_visits=False)
    else:
        by_chance = [one for one in _uneven_stretches(program) if one.heavy.sum() <= len(one.locations) / 2]
        if not by_chance:
            return
        of = Uneven(program, tuple(by_chance), certain=False)
    if (of.certain and _beyond_others(of.places[0])) or program.gain(of.shared) > NOISE:
        yield _proposal(of)


def _beyond_others(place: Stretch) -> bool:
    """Whether each slow rank's total is beyond what a further one of the others has in 97.5 % of cases."""
    others = place.totals[~place.slow]
    count = len(others)
    error = STUDENT[min(count - 1, max(STUDENT))] * others.std(ddof=1) * math.sqrt(1 + 1 / count)
    return bool(place.totals[place.slow].min() - others.mean() > error)


def _is_elsewhere(whole: Stretch, places: list[Stretch]) -> bool:
    """Whether these places have most of what ranks compute beyond the others, which compute it elsewhere."""
    slowest = int(np.argmax(whole.totals))

    def beyond(place: Stretch) -> float:
        assert place.norm is not None
        row = place.locations.index(whole.locations[slowest])
        return float(place.totals[row] - place.totals[place.norm])

    return beyond(whole) < MAINLY * sum(map(beyond, places))


def _uneven_stretches(program: Program) -> list[Stretch]:
    """Those whose inequality could matter, the most uneven one first."""
    least = MIN_SHARE * program.length_ps
    return sorted((one for one in stretches(program) if one.spread >= least), key=lambda one: -one.spread)


def _slow(place: Stretch, *, certain: bool = True) -> frozenset[int]:
    flags = place.slow if certain else place.heavy
    return frozenset(location for location, slow in zip(place.locations, flags, strict=True) if slow)


def _compute_longer(program: Program, locations: Iterable[int]) -> bool:
    """Whether each of them does than the mean, in all its code."""
    return all(program.code_ps[location] > program.mean_code_ps for location in locations)


def _proposal(uneven: Uneven) -> Proposal:
    program, first = uneven.program, uneven.places[0]
    ends: tuple[Transformation, ...] = (uneven.shared,)
    if _compute_longer(program, uneven.slow):
        ends += (uneven.as_fast, *uneven.among_others)
    gains = [max(0.0, program.gain(one)) for one in ends[:2]]
    either = gains[-1] > gains[0]
    totals = program.code_ps.values()
    shows = max(totals) - min(totals) >= max(gains) * program.length_ps
    apart = len({_slow(one, certain=uneven.certain) for one in uneven.places}) > 1
    several = apart or not shows
    numbers = (
        *((Number("regions", len(uneven.places) if apart else 1, "count"),) if several else ()),
        *times_of(first.totals),
    )
    if either:
        middle = first.middle_of(~uneven.rows(first))
        assert middle is not None
        norm = float(first.totals[middle])
        numbers += (
            Sum("median_of_others", norm, "ps"),
            Number("gain_if_as_fast", gains[1], "1"),
            Number("gain_if_shared", gains[0], "1"),
            # Of what the others have, less than could be stated.
            *((Number("alone", 1, "count"),) if norm < MIN_SHARE * first.totals.max() else ()),
        )
    return Proposal(
        kind=KIND,
        callpath=first.callpath,
        callpaths=frozenset(one.callpath for one in uneven.places),
        at_fault=uneven.slow,
        change=uneven.halfway if either else uneven.shared,
        other_ends=ends,
        numbers=numbers,
        confidence=HIGH if uneven.certain and uneven.by_visits else LOW,
        certainty="compute time is measured" if uneven.certain and uneven.by_visits else BY_CHANCE,
    )


def described(evidence: Evidence, found: Finding) -> Finding:
    """A finding of uneven code with its names, where ranks wait for it, and its slowest rank; of one user region, the
    times are those of the profile."""
    program = program_of(evidence)
    assert program is not None
    proposal = found.replayed.proposal
    others = {place: time for place, time in found.removes.items() if place[0] not in proposal.at_fault}
    longer = program.times_longer(sum(evidence.program_ps.values()))
    lost: dict[int, float] = {}
    for (_, path), time in (others or found.removes).items():
        lost[path] = lost.get(path, 0.0) + time * longer
    waits_in = max(lost, key=lambda path: lost[path], default=-1)
    places = [one for one in stretches(program) if one.callpath in proposal.callpaths]
    first = next(one for one in places if one.callpath == found.callpath)
    numbers = {number.name: number for number in found.evidence}
    codes = [code_of(evidence, program, one, by_visit="long_visits" in numbers) for one in places]
    names = list(dict.fromkeys(code.name for code in codes))
    region = code_of(evidence, program, first).callpath if len(names) == 1 else -1
    in_file = len(names) == 1 and all(code.in_file for code in codes)
    times = dict(zip(first.locations, first.totals.tolist(), strict=True))
    rows = evidence.user_profile.filter(pl.col("callpath") == region, pl.col("visits") > 0)
    profile = dict(rows.group_by("location").agg(pl.col("exclusive_ps").sum()).sort("location").iter_rows())
    compared = not numbers.keys() & {"steps", "regions", "long_visits"}
    shows = max(profile.values(), default=0) - min(profile.values(), default=0) >= found.gain * program.length_ps
    if compared and shows and set(first.locations) <= profile.keys():
        times = profile
        numbers |= {number.name: number for number in times_of(times.values())}
    elif not in_file:
        region = found.callpath if "long_visits" in numbers else -1
    slowest, fastest = (pick(times, key=lambda one: times[one]) for pick in (max, min))
    ends = (("slowest_rank", slowest), ("fastest_rank", fastest)) if compared else ()
    whose = (number for name, location in ends for number in evidence.rank_numbers(name, [location]))
    sampled = codes[0].samples if len(codes) == 1 else ()
    where = (Number("in_file", 1, "count"),) if in_file else ()
    return replace(
        found,
        callpath=region,
        region=evidence.region(waits_in),
        cause_region=_most_of(places, codes),
        evidence=(*numbers.values(), *whose, *sampled, *where, Number("others_wait", sum(lost.values()), "ps")),
        exposed_ps=round(sum(lost.values())),
    )


def _most_of(places: Sequence[Stretch], codes: Sequence[Code]) -> str:
    """The names of the code that has most of what is uneven, the most uneven one first, and how many others there are;
    a single other one has its name, too."""
    uneven: dict[str, float] = {}
    for place, code in zip(places, codes, strict=True):
        uneven[code.name] = uneven.get(code.name, 0.0) + place.uneven_ps
    names = sorted(uneven, key=lambda name: -uneven[name])
    enough = MAINLY * sum(uneven.values())
    most = 1 + sum(sum(uneven[name] for name in names[:count]) <= enough for count in range(1, len(names)))
    others = len(names) - most
    return " and ".join(names if others == 1 else [*names[:most], *([f"{others} other places"] if others else [])])


def times_of(times: Iterable[float]) -> tuple[Number, ...]:
    """How long ranks compute, as evidence."""
    each = [float(time) for time in times]
    mean = sum(each) / len(each)
    return (
        Sum("longest", max(each), "ps"),
        Sum("mean", mean, "ps"),
        Sum("shortest", min(each), "ps"),
        Number("load_balance", mean / max(each), "1"),
    )
