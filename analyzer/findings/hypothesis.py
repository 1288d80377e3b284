"""A finding whose gain is what a hypothesis saves in the graph of the program's calls (`evidence.what_if`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from logpost.analyzer.findings.evidence.graph import Graph, lasts_longer
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Saving
from logpost.analyzer.findings.finding import Finding, Number, worst_hit
from logpost.analyzer.words.categories import WAITING


def lost_by_location(saving: Saving) -> dict[int, float]:
    """Location to the waiting that the hypothesis takes from it; ps of the graph."""
    return sums_at_locations(saving.removes)


def sums_at_locations(at_places: Mapping[tuple[int, int], float]) -> dict[int, float]:
    """Location to the sum of its times at all call paths."""
    sums: dict[int, float] = {}
    for (location, _), time in at_places.items():
        sums[location] = sums.get(location, 0.0) + time
    return sums


def removed(evidence: Evidence, graph: Graph, saving: Saving) -> dict[tuple[int, int], float]:
    """(location, call path) to the waiting there that disappears; ps of the program."""
    longer = lasts_longer(evidence, graph)
    return {place: time * longer for place, time in saving.removes.items()}


def finding_of(
    evidence: Evidence,
    graph: Graph,
    kind: str,
    saving: Saving,
    *,
    at_fault: Iterable[int],
    callpath: int,
    cause_region: str,
    numbers: tuple[Number, ...],
    confidence: tuple[float, str],
    spent: Mapping[int, int] | None = None,
) -> Finding:
    """The finding; what it charges is the waiting that disappears with its cause, and what it exposes that and the work
    that does.

    Arguments:
        evidence: of the run.
        graph: of the run, maybe of its first part only.
        kind: of `schema.FINDING_KINDS`.
        saving: what the hypothesis saves.
        at_fault: locations named.
        callpath: the place at which time is lost.
        cause_region: the code that causes it.
        numbers: the evidence.
        confidence: and its reason.
        spent: location to its work in calls that disappears; ps of the graph.
    """
    longer = lasts_longer(evidence, graph)
    lost = {location: time * longer for location, time in lost_by_location(saving).items()}
    for location, time in (spent or {}).items():
        lost[location] = lost.get(location, 0.0) + time * longer
    first, last = evidence.active_windows(WAITING, lost)
    return Finding(
        kind=kind,
        named=evidence.named(at_fault),
        region=evidence.region(callpath),
        cause_region=cause_region,
        evidence=numbers,
        confidence=confidence[0],
        certainty=graph.stated(confidence[1]),
        callpath=callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(sum(lost.values())),
        share=min(1.0, worst_hit(lost, evidence.slowest_program_ps)),
        gain=min(1.0, saving.gain),
        removes=removed(evidence, graph, saving),
        cure=saving.cure,
    )
