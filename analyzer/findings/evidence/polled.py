"""Waits of receivers that poll: Probe, or Test and Iprobe in a loop, until the message is there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.evidence.graph import Graph, graph_of, polling_places
from logpost.analyzer.findings.evidence.tables import Evidence

SCHEMA = {
    "receiver": pl.Int32(),
    "location": pl.Int32(),
    "callpath": pl.Int32(),
    "begin_ps": pl.Int64(),
    "end_ps": pl.Int64(),
}


def polled_waits(evidence: Evidence) -> pl.DataFrame:
    """Rows (receiver; location: the sender that it waits for; callpath of the send; begin_ps: of the first query;
    end_ps: when the sender entered its send)."""
    if not polling_places(evidence):
        return pl.DataFrame(schema=SCHEMA)
    graph = graph_of(evidence)
    rows = []
    for call, node in graph.nodes.items():
        last = graph.binding(node) if node.polls else None
        if last is None or last.reason != "send":
            continue
        begin, send = _begin(graph, call), graph.nodes[last.call]
        if send.enter > begin:
            rows.append((node.location, send.location, send.callpath, begin, send.enter))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _begin(graph: Graph, call: int) -> int:
    """Enter of the first query of the loop that this one ends."""
    node = graph.nodes[call]
    while node.before >= 0:
        before = graph.nodes[node.before]
        if not before.polls or before.callpath != node.callpath or node.gap > 0:
            break
        node = before
    return node.enter


def polled_place(evidence: Evidence, locations: Iterable[int]) -> int:
    """Where these locations poll longest; -1: nowhere."""
    graph, wanted = graph_of(evidence), set(locations)
    times: dict[int, int] = defaultdict(int)
    for node in graph.nodes.values():
        if node.polls and node.location in wanted:
            times[node.callpath] += node.length
    return max(times, key=lambda callpath: times[callpath], default=-1)


def polled_ps(evidence: Evidence) -> dict[int, int]:
    """Location to the time in which it polls for messages that have not been sent yet."""
    found: dict[int, int] = defaultdict(int)
    for receiver, _, _, begin, end in polled_waits(evidence).iter_rows():
        found[receiver] += end - begin
    return found
