"""Missed overlap: a Wait stands directly behind what it completes, and work follows that could stand between.

The transfers of nonblocking calls run by themselves where the message need not ask first. A rank that waits for them
at once, and computes afterwards, could compute first (as far as that work needs none of the data: its author knows).
Only waiting for the transfer itself counts, its latency and serialization: whoever waits for a late rank, or queues,
has another cause.

Gain: the same program if each of these Waits were completed by the rank's next call only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import polars as pl

from logpost.analyzer.categories import WAITING
from logpost.analyzer.findings.evidence.graph import Graph, Node, Wait, graph_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import saving_if
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of, lost_by_location

LEAST_GAIN = 0.05
"""Splitting a loop costs something itself, and part of the work needs the data: less is not worth it."""
MAINLY = 0.5
"""More than half of the waiting there is for transfers."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    if not evidence.worth_a_look(["latency", "serialization"]):
        return
    places = _transfer_bound(evidence)
    if not places:
        return
    graph = graph_of(evidence)
    moved = _movable(graph, places)
    if len(moved) < MIN_SAMPLES:
        return
    taken: dict[int, list[Wait]] = {}
    for call, following in moved.items():
        work = graph.nodes[following].work
        taken[following] = [Wait(wait.call, wait.lag + work, wait.reason) for wait in graph.nodes[call].waits]

    def waits(call: int, node: Node) -> list[Wait]:
        own = [] if call in moved else node.waits
        return [*own, *taken[call]] if call in taken else own

    saving = saving_if(graph, waits=waits)
    if saving.gain < LEAST_GAIN:
        return
    by_place: dict[int, int] = defaultdict(int)
    for call in moved:
        by_place[graph.nodes[call].callpath] += graph.nodes[call].length - graph.nodes[call].work
    place = max(by_place, key=lambda callpath: by_place[callpath])
    lost = lost_by_location(saving)
    worst = max(lost, key=lambda location: lost[location], default=graph.nodes[next(iter(moved))].location)
    follows = sum(graph.nodes[following].gap for following in moved.values()) / len(moved)
    yield finding_of(
        evidence,
        graph,
        "missed_overlap",
        saving,
        at_fault={graph.nodes[call].location for call in moved},
        callpath=place,
        cause_region=evidence.delaying_region(worst, place) or "",
        numbers=(
            Number("waits", len(moved), "count"),
            Number("mean_wait", sum(by_place.values()) / len(moved), "ps"),
            Number("mean_work_behind_it", follows, "ps"),
        ),
        confidence=evidence.confidence(
            MEDIUM, "waits and the work behind them are measured; whether that work needs the data is not known"
        ),
    )


def _transfer_bound(evidence: Evidence) -> set[int]:
    """Call paths whose waiting is mainly for transfers, and no queue or late rank."""
    rows = (
        evidence.exposure.group_by("callpath")
        .agg(
            transfer=pl.col("exposed_ps").filter(pl.col("category").is_in(["latency", "serialization"])).sum(),
            other=pl.col("exposed_ps").filter(pl.col("category").is_in([*WAITING, "residual"])).sum(),
        )
        .filter(pl.col("transfer") > 0, pl.col("transfer") > MAINLY * (pl.col("transfer") + pl.col("other")))
    )
    return set(rows["callpath"].to_list())


def _movable(graph: Graph, places: set[int]) -> dict[int, int]:
    """Wait to the call before which it could stand: it directly follows what it completes, and work follows it."""
    found = {}
    for call, node in graph.nodes.items():
        last = graph.binding(node)
        following = graph.after.get(call, -1)
        if node.callpath not in places or last is None or last.reason != "send" or following < 0:
            continue
        mine = [graph.messages[number] for number in graph.received.get(call, [])]
        nonblocking = mine and all(m.post_call != call and not m.rendezvous for m in mine)
        waiting = node.length - node.work
        if nonblocking and node.gap < waiting and graph.nodes[following].gap >= waiting / 2:
            found[call] = following
    return found
