"""Merge two findings of one bug: the cause stays, the symptom becomes a number of its evidence.

A finding B says nothing beyond A, a kind nearer to the cause, if their time windows overlap and

* **the same time**: more than half of B's waiting, by rank and call path, is A's as well, and is blamed on the same
  ranks for doing the same (computing, handling messages, waiting); or
* **the same code**: more than half of B's waiting is A's as well, and both are computing in the same code, on whichever
  ranks: who has most of it in all need not be who comes last most; or
* **removed**: more than half of B's waiting disappears with A in the graph of the program (`evidence.what_if`); or
* **lasts**: more than half of the time for which B's calls go on without waiting for anybody is A's as well; or
* **passed on**: more than half of B's waiting is blamed on ranks that wait themselves, in the region and on the ranks
  where A explains the waiting.

Time that A takes away in one place may come back in another. So A explains nothing whose own cure saves much more than
A's does: by half where that is replayed too, else by twice, since it may be less than is stated; where a bound stands
beside a replay, what that saves counts. Nor does it where B's cure is replayed and saves more than half of the time
that A's leaves: most of B is then not A's, however much A saves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from logpost.analyzer.findings.finding import Doing, Finding, Number

CAUSES_FIRST = (
    "start_up_skew",
    "shared_cores",
    "serial_distribution",
    "destination_order",
    "hot_receiver",
    "hot_sender",
    "hot_link",
    "strided_datatype",
    "round_trips",
    "many_small_messages",
    "unattended",
    "unattended_target",
    "lock_contention",
    "wavefront",
    "thread_imbalance",
    "serial_part",
    "load_imbalance",
    "synchronous_sends",
    "late_receiver",
    "late_post",
    "late_complete",
    "late_put",
    "collective_cost",
    "missed_overlap",
    "receive_order",
    "serial_exchange",
    "late_sender_chain",
    "needless_barrier",
    "wait_at_fence",
    "collective_wait",
)
"""Kinds from cause to symptom: what is done too much or unevenly, then who is late by it, then who waits in the end."""
MAINLY = 0.5
"""More than half of the time."""
REPLAYED = 2 / 3
"""Of a gain that is replayed, what its cause must gain."""


def one_bug_each(found: Iterable[Finding], region_of: Callable[[int], str]) -> list[Finding]:
    """The findings without those that another one states better.

    Arguments:
        found: every finding.
        region_of: call path to the name of its region.
    """
    kept: list[Finding] = []
    nearest = sorted(
        found,
        key=lambda one: (CAUSES_FIRST.index(one.kind), one.replayed is None, -one.exposed_ps, one.callpath),
    )
    for finding in nearest:
        for i, other in enumerate(kept):
            if not _may_be_one(other, finding) or not _states(other, finding, region_of):
                continue
            if other.kind != finding.kind:
                also = Number(f"also_{finding.kind}[{finding.region or 'several calls'}]", finding.exposed_ps, "ps")
                kept[i] = replace(other, evidence=(*other.evidence, also))
            break
        else:
            kept.append(finding)
    return kept


def _may_be_one(a: Finding, b: Finding) -> bool:
    """Of one kind they are two places, unless one was found by its cure and the other one was not; which cures save the
    same time their replay has said (`combined`)."""
    replayed = (a.replayed is not None) + (b.replayed is not None)
    return replayed < 2 and (a.kind != b.kind or replayed == 1) and _overlap(a, b)


def _overlap(a: Finding, b: Finding) -> bool:
    return a.first_window <= b.last_window and b.first_window <= a.last_window


def _states(cause: Finding, symptom: Finding, region_of: Callable[[int], str]) -> bool:
    least = REPLAYED if symptom.removes else MAINLY
    return (
        cause.gain >= least * (_saves(symptom) if cause.replayed is None else symptom.gain)
        and _beyond(cause, symptom) <= MAINLY
        and (
            _same_time(cause, symptom) > MAINLY
            or _same_code(cause, symptom) > MAINLY
            or _removed(cause, symptom) > MAINLY
            or _shared(symptom.lasts, cause.lasts) > MAINLY
            or _passed_on(cause, symptom, region_of) > MAINLY
        )
    )


def _saves(finding: Finding) -> float:
    """What its cure saves: where the gain is a bound beside a replay of the whole program, no more than that."""
    cure = finding.cure
    return min(finding.gain, cure.gain()) if cure is not None and cure.graph.whole else finding.gain


def _beyond(cause: Finding, symptom: Finding) -> float:
    """Fraction of the time that the cause's cure leaves which the symptom's own cure saves, where that is replayed."""
    left = 1.0 - cause.gain
    return (symptom.gain - cause.gain) / left if symptom.removes and left > 0 else 0.0


def _removed(cause: Finding, symptom: Finding) -> float:
    """Fraction of the symptom's waiting that disappears with the cause, as the graph of the program says."""
    return _shared(symptom.charges or symptom.removes, cause.removes)


def _shared(times: Mapping[tuple[int, int], float], others: Mapping[tuple[int, int], float]) -> float:
    """Fraction of these times that is in others as well, place by place."""
    total = sum(times.values())
    shared = sum(min(time, others.get(place, 0.0)) for place, time in times.items())
    return shared / total if total > 0 else 0.0


def _same_time(cause: Finding, symptom: Finding) -> float:
    """Fraction of the symptom's waiting that the cause explains, by whom it blames."""
    total = sum(symptom.charges.values())
    if total <= 0:
        return 0.0
    blamed = sum(fraction for key, fraction in symptom.fault.items() if _blames(cause, *key))
    shared = (min(time * blamed, cause.charges.get(place, 0.0)) for place, time in symptom.charges.items())
    return sum(shared) / total


def _same_code(cause: Finding, symptom: Finding) -> float:
    """Fraction of the symptom's waiting that the cause explains, where both are computing in the same code."""
    computing = all(
        sum(part for (_, doing), part in one.fault.items() if doing == "computing") > MAINLY for one in (cause, symptom)
    )
    if not computing or not symptom.cause_region or cause.cause_region != symptom.cause_region:
        return 0.0
    return _shared(symptom.charges, cause.charges)


def _blames(cause: Finding, location: int, doing: Doing) -> bool:
    """Whether it does; time in calls that is not divided may be what the other one says."""
    inside = doing == "inside" or cause.fault.get((location, "inside"), 0.0) > 0
    same: tuple[Doing, ...] = ("inside", "handling", "waiting") if inside and doing != "computing" else (doing,)
    return any(cause.fault.get((location, one), 0.0) > 0 for one in same)


def _passed_on(cause: Finding, symptom: Finding, region_of: Callable[[int], str]) -> float:
    """Fraction of the symptom's waiting for ranks that themselves wait where the cause explains it.

    0 unless the cause explains most of what the worst-hit rank of the symptom loses by that.
    """
    if not symptom.waits_in:
        return 0.0
    passing = {location: part for (location, doing), part in symptom.fault.items() if doing == "waiting"}
    explained = {
        (location, place): time
        for (location, place), time in cause.charges.items()
        if location in passing and region_of(place) == symptom.waits_in
    }
    fraction = sum(passing[location] for location in {location for location, _ in explained})
    lost: dict[int, float] = {}
    for (location, _), time in symptom.charges.items():
        lost[location] = lost.get(location, 0.0) + time
    return fraction if sum(explained.values()) > MAINLY * fraction * max(lost.values(), default=0.0) else 0.0
