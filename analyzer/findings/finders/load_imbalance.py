"""Load imbalance: some ranks compute longer than the others, which then wait for them.

With c_i the time that rank i computes in a user region (its own time there; all its compute time where no user region
was recorded), over the ranks that run it (`roles`),
the slowest sets the pace and each other rank has max(c) - c_i to wait somewhere. The exposed time is
what they really do wait, at most that:

    exposed = sum_i min(max(c) - c_i, waiting_i)

waiting_i being rank i's exposed late sender, late receiver, queueing, contention and collective wait, the time in
which it polls for what has not been sent, and that in operations whose members the trace does not tell
(`evidence.unknown_members`), which may be waiting (ps).

Gain: max(c) - mean(c), at most what the program saves with that much less or more code on each rank
(`evidence.shared_work`, `evidence.replayed`): whatever the partition, the work of the region remains, and the ranks
share it at best. Where ranks are slow by exception (`evidence.slow_ranks`), they may as well become as fast as the
others: max(c) less the largest time then, likewise. No trace tells which of the two a program gets: the middle of both
gains is stated, and reaches to either; the advice names both. Where most of the others' time is in operations of
unknown members, no replay lets them meet, and each gain is a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.between import between_text, longest_excess
from logpost.analyzer.findings.evidence.chance import chance_of
from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.one_sided_followed import follows_epochs
from logpost.analyzer.findings.evidence.polled import polled_place, polled_ps
from logpost.analyzer.findings.evidence.replayed import saving_replayed
from logpost.analyzer.findings.evidence.roles import roles_of
from logpost.analyzer.findings.evidence.shared_work import shared_gaps
from logpost.analyzer.findings.evidence.slow_ranks import as_the_others, by_exception, either, evenly
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.unknown_members import unknown_members_place, unknown_members_ps
from logpost.analyzer.findings.evidence.what_if import Cure, Hypothesis
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SHARE, NOISE, Finding, Number, worst_hit
from logpost.analyzer.findings.gain import gain_by_changing, gain_by_sharing
from logpost.analyzer.run.wide import exact_sum, wide_sum
from logpost.analyzer.words.categories import WAITING

HEAVY = 0.5
"""A rank is named with the slowest if its compute time lies in the upper half of the way from the mean to the
maximum."""
MOST_HEAVY = 0.75
"""Where more ranks than these are heavy, the others have little to do, and sharing it out again gains little."""
CERTAIN = 3.0
"""Standard deviations by which the slowest rank must differ from the mean: less is noise that happened to add up."""
WAITED_FOR = 0.25
"""Part of the others' waiting that must be for the ranks named, where ranks have different roles."""
REGIONS = 3
"""Most regions reported."""
LEAST_OF_FIRST = 1 / 3
"""A further region must be this much as unequal as the first; a smaller one would only draw attention from it."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per user region whose inequality could gain `MIN_SHARE`; one for the program where none is."""
    if evidence.locations.height < 2:
        return
    roles = roles_of(evidence)
    every = {location: float(time) for location, time in evidence.exposed_of(["compute"]).items()}
    unequal = _unequal_regions(evidence, roles)
    if not unequal:
        beside = _beside(every, roles)
        found = _finding(evidence, [-1], beside)
        if found is not None and (len(beside) == len(every) or _waited_for(evidence, _heavy(beside))):
            yield found
        return
    largest = unequal[0].spread
    regions = [some for some in unequal[:REGIONS] if some.spread >= LEAST_OF_FIRST * largest]
    if len({some.heavy for some in regions}) > 1:
        # Unequal in turn: who has more in one region has less in another, and all wait in between.
        found = _finding(evidence, [some.callpath for some in regions], *(some.times for some in regions))
        if found is not None:
            yield found
        return
    for some in regions:
        found = _finding(evidence, [some.callpath], some.times)
        if found is not None:
            yield found


@dataclass(frozen=True)
class Unequal:
    """A user region with the time that each location computes in it; ps."""

    callpath: int
    times: dict[int, float]

    @property
    def spread(self) -> float:
        """max - mean."""
        return max(self.times.values()) - _mean(self.times)

    @property
    def heavy(self) -> tuple[int, ...]:
        """Those in the upper half of the way from the mean to the maximum."""
        return tuple(_heavy(self.times))


def _mean(times: Mapping[int, float]) -> float:
    return sum(times.values()) / len(times)


def _heavy(times: Mapping[int, float]) -> list[int]:
    most, mean = max(times.values()), _mean(times)
    return [location for location, time in times.items() if time >= mean + HEAVY * (most - mean)]


def _waited_for(evidence: Evidence, locations: list[int]) -> bool:
    """Whether much of the others' waiting is for these: of several groups, another one may set the pace."""
    graph = graph_of(evidence)
    (calls,) = np.nonzero((graph.waited_last >= 0) & ~np.isin(graph.location, locations))
    for_these = np.isin(graph.location[graph.last_source(calls)], locations)
    lengths = graph.length[calls]
    return exact_sum(lengths[for_these]) > WAITED_FOR * exact_sum(lengths)


def _beside(times: Mapping[int, float], roles: Mapping[int, int]) -> dict[int, float]:
    """The times of those that do the same work; of several groups, that which is most unequal."""
    groups: dict[int, dict[int, float]] = {}
    for location, time in times.items():
        groups.setdefault(roles.get(location, -1), {})[location] = time
    return max(groups.values(), key=lambda group: Unequal(-1, group).spread)


def _unequal_regions(evidence: Evidence, roles: Mapping[int, int]) -> list[Unequal]:
    """User regions by max - mean over those that run them, of those that could matter.

    Who never enters a region has another part to play in the program: its work is no share of this one. Who does and
    finds nothing to do has a share of 0, whether the clock is coarse or not.
    """
    found = []
    for (callpath,), rows in evidence.user_profile.partition_by("callpath", as_dict=True).items():
        run_it = rows.filter(pl.col("visits") > 0).group_by("location", maintain_order=True)
        times = {int(location): float(time) for location, time in run_it.agg(wide_sum("exclusive_ps")).iter_rows()}
        if times and evidence.parent(int(callpath)) < 0 and evidence.calls_communication(int(callpath)):
            times = _beside(times, roles)
        if len(times) > 1 and Unequal(int(callpath), times).spread >= evidence.least_ps:
            found.append(Unequal(int(callpath), times))
    return sorted(found, key=lambda some: (-some.spread, some.callpath))


def _finding(evidence: Evidence, callpaths: list[int], *regions: Mapping[int, float]) -> Finding | None:
    callpath, times = callpaths[0], regions[0]
    slowest = max(times, key=lambda location: (times[location], -location))
    most, mean = times[slowest], _mean(times)
    waits = evidence.maybe(WAITING)
    waiting, polling, unknown = evidence.exposed_of(waits), polled_ps(evidence), unknown_members_ps(evidence)
    tops = [max(some.values()) for some in regions]
    charged = {
        location: float(
            min(
                sum(top - some.get(location, 0.0) for top, some in zip(tops, regions, strict=True)),
                waiting[location] + polling.get(location, 0) + unknown.get(location, 0),
            )
        )
        for location in times
    }
    spread = sum(top - _mean(some) for top, some in zip(tops, regions, strict=True))
    if not evidence.matters(charged) or most - mean < evidence.least_ps:
        return None
    heavy = sorted({location for some in regions for location in _heavy(some)})
    if len(regions) == 1 and len(heavy) > MOST_HEAVY * len(times):
        return None
    if len(regions) == 1 and most - mean < CERTAIN * chance_of(evidence, times):
        return None
    gain, cure, others = _either_gain(evidence, times) if len(regions) == 1 else _shared(evidence, spread)
    if gain < MIN_SHARE or (len(regions) > 1 and gain <= NOISE):
        return None
    least = min(times, key=lambda location: (times[location], location))
    first, last = evidence.active_windows(waits, charged)
    waiters = [location for location in charged if charged[location] > 0]
    seen, polled = sum(waiting[one] for one in waiters), sum(polling.get(one, 0) for one in waiters)
    unseen = sum(unknown.get(one, 0) for one in waiters) > max(seen, polled)
    waits_in = evidence.region(polled_place(evidence, waiters)) if polled > seen else evidence.where(waits, waiters)[1]
    if unseen:
        waits_in = evidence.region(unknown_members_place(evidence))
    region = _region(evidence, callpath, slowest)
    if len(callpaths) > 1:
        region = " and ".join(evidence.region(one) for one in callpaths)
    confidence, certainty = evidence.confidence(
        HIGH if callpath >= 0 and not unseen else MEDIUM,
        "compute time is measured"
        + ("" if callpath >= 0 else "; the function is unknown, because no user region was recorded")
        + (f"; the trace does not tell for whom ranks wait in {waits_in}" if unseen else ""),
    )
    beyond = {location: max(some[location] - _mean(some) for some in regions if location in some) for location in heavy}
    return Finding(
        kind="load_imbalance",
        named=evidence.named(heavy),
        region=waits_in,
        cause_region=region,
        evidence=(
            *((Number("regions", len(regions), "count"),) if len(regions) > 1 else ()),
            Number("longest", most, "ps"),
            *evidence.rank_numbers("slowest_rank", [slowest]),
            Number("mean", mean, "ps"),
            Number("shortest", times[least], "ps"),
            *evidence.rank_numbers("fastest_rank", [least]),
            Number("load_balance", mean / most, "1"),
            Number("others_wait", sum(charged.values()), "ps"),
            *others,
        ),
        confidence=confidence,
        certainty=certainty,
        callpath=callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(sum(charged.values())),
        share=worst_hit(charged, evidence.slowest_program_ps),
        gain=gain,
        charges=evidence.charges(charged, waits),
        fault={(location, "computing"): time / sum(beyond.values()) for location, time in beyond.items()},
        cure=cure,
    )


Cured = tuple[float, Cure | None, tuple[Number, ...]]
"""What a cure saves, the program with it, where that is replayed, and what tells which cure it is."""


def _shared(evidence: Evidence, spread: float) -> Cured:
    return gain_by_sharing(evidence, spread), None, ()


def _either_gain(evidence: Evidence, times: Mapping[int, float]) -> Cured:
    """Of the two cures: where both are possible, the middle of what they save."""
    shared, cure = _gain(evidence, times, evenly(times))
    slow = _heavy(times)
    if not by_exception(slow, times):
        return shared, cure, ()
    wanted = as_the_others(times, slow)
    gain, removed = _gain(evidence, times, wanted)
    if gain <= shared:
        return shared, cure, ()
    return (gain + shared) / 2, removed, (Number("median_of_others", wanted[slow[0]], "ps"), *either(gain, shared))


def _gain(evidence: Evidence, times: Mapping[int, float], wanted: Mapping[int, float]) -> tuple[float, Cure | None]:
    """What the program saves with the wanted times in a region, and how it is replayed."""
    less = max(times.values()) - max(wanted.values())
    graph = graph_of(evidence)
    if less < evidence.least_ps or not follows_epochs(evidence, graph) or not _sees_waits(evidence, times):
        more = {location: wanted[location] - time for location, time in times.items()}
        return gain_by_changing(evidence, less, more), None
    part = min(1.0, graph.length_ps / max(1, evidence.slowest_program_ps))  # the graph may hold a part only
    gaps = shared_gaps(graph, *({location: time * part for location, time in some.items()} for some in (times, wanted)))
    saving = saving_replayed(evidence, graph, Hypothesis(gap_ps=gaps))
    return min(less / evidence.slowest_program_ps, saving.gain), saving.cure


def _sees_waits(evidence: Evidence, times: Mapping[int, float]) -> bool:
    """Whether these locations wait longer for ranks that are known than they are in operations of unknown ones."""
    waiting, unknown = evidence.exposed_of(evidence.maybe(WAITING)), unknown_members_ps(evidence)
    return sum(waiting[one] for one in times) >= sum(unknown.get(one, 0) for one in times)


def _region(evidence: Evidence, callpath: int, slowest: int) -> str:
    """The region; where it calls communication itself, or none was recorded, between which calls most of the excess
    lies."""
    region = evidence.region(callpath)
    if callpath >= 0 and not evidence.calls_communication(callpath):
        return region
    pair = longest_excess(evidence, slowest)
    if pair is None:
        return region
    text = between_text(evidence, pair)
    return f"{region}, {text}" if region else f"code {text}"
