"""Wavefront: ranks work one after the other, each on what the one before it has passed on; the rest waits meanwhile.

While a rank waits for a message, its sender computes, having waited itself for its own sender, which computed before
that, and so on: the *depth* of a wait is the number of ranks that compute one after the other during it. A late rank
gives depth 1, and whatever propagates through ranks that all compute at the same time as well. A pipeline filled
once per sweep gives as many as there are ranks in front.

Gain: no shorter than the busiest rank; pipelines of many small blocks come near to that (`gain`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from logpost.analyzer.findings.evidence.graph import Graph, Node, graph_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import saving_if
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of

LEAST_DEPTH = 2
"""Ranks that compute one after the other while the last one waits: from two on it is a chain, not a late rank."""
MAINLY = 0.5
"""More than half of the waiting for senders."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run, where most waiting for senders is for a chain of ranks."""
    if not evidence.worth_a_look(["late_sender"]):
        return
    graph = graph_of(evidence)
    waits = _waits(graph)
    total = sum(node.length for node, _ in waits)
    chained = [(node, depth) for node, depth in waits if depth >= LEAST_DEPTH]
    time = sum(node.length for node, _ in chained)
    if not chained or time <= MAINLY * total:
        return
    places = {node.callpath for node, _ in chained}
    saving = saving_if(
        graph, waits=lambda _, node: [] if node.callpath in places or node.collective >= 0 else node.waits
    )
    if saving.gain < MIN_SHARE:
        return
    by_place: dict[int, int] = defaultdict(int)
    for node, _ in chained:
        by_place[node.callpath] += node.length
    place = max(by_place, key=lambda callpath: by_place[callpath])
    worst = max(chained, key=lambda item: item[1])[0].location
    yield finding_of(
        evidence,
        graph,
        "wavefront",
        saving,
        at_fault={node.location for node, _ in waits} | {worst},
        callpath=place,
        cause_region=evidence.delaying_region(worst, place) or "",
        numbers=(
            Number("depth", max(depth for _, depth in chained) + 1, "count"),
            Number("chained_waits", len(chained), "count"),
            Number("share_of_waiting_for_senders", time / total, "1"),
            Number("mean_wait", time / len(chained), "ps"),
        ),
        confidence=evidence.confidence(
            HIGH if len(chained) >= MIN_SAMPLES else MEDIUM, "who computes while others wait is measured"
        ),
    )


def _waits(graph: Graph) -> list[tuple[Node, int]]:
    """The calls that wait for a sender, with the number of ranks that compute one after the other meanwhile."""
    found = []
    for call, node in graph.nodes.items():
        last = graph.binding(node)
        if last is not None and last.reason == "send" and graph.nodes[last.call].enter > node.enter:
            found.append((node, _depth(graph, call)))
    return found


def _depth(graph: Graph, call: int) -> int:
    """Ranks that compute in turn from this call's enter until it has its message."""
    nodes, begin = graph.nodes, graph.nodes[call].enter
    visited = {nodes[call].location}
    depth = 0
    last = graph.binding(nodes[call])
    while last is not None and last.reason == "send":
        at = last.call
        if nodes[at].location in visited or nodes[at].enter <= begin:
            break
        visited.add(nodes[at].location)
        computed = 0
        last = None
        # Back on the sender until the call in which it waited itself.
        while at >= 0 and nodes[at].leave > begin:
            computed += nodes[at].gap
            at = nodes[at].before
            if at >= 0 and (last := graph.binding(nodes[at])) is not None:
                break
        if at >= 0 and last is None:
            computed += min(0, nodes[at].leave - begin)
        depth += computed > 0
    return depth
