"""A shared NIC: ranks of one node send at once, to different receivers, and wait for each other's messages to leave.

A message's endpoint contention belongs to the node's NIC where, within the time that it waits and is on its way out,
another rank of its node sent a message to another receiver on another node. Crowds at one receiver are `hot_receiver`.

Gain: the same program if these messages did not queue: more NICs, or sends that take turns with work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from logpost.analyzer.findings.evidence.graph import Graph, Wait, graph_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import saving_if
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of

MAINLY = 0.5
"""More than half of all endpoint contention."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    nodes = dict(evidence.locations.select("location", "node").iter_rows())
    if len(set(nodes.values())) in (1, len(nodes)) or not evidence.worth_a_look(["endpoint_contention"]):
        return
    graph = graph_of(evidence)
    queues = {number: m.parts["endpoint_contention"] for number, m in enumerate(graph.messages)}
    shared = _behind_neighbours(graph, nodes)
    time = sum(queues[number] for number in shared)
    if len(shared) < MIN_SAMPLES or time <= MAINLY * sum(queues.values()):
        return
    saving = saving_if(
        graph,
        waits=lambda _, node: [
            Wait(wait.call, max(0, wait.lag - queues[wait.message]), wait.reason, wait.message)
            if wait.message in shared
            else wait
            for wait in node.waits
        ],
    )
    if saving.gain < MIN_SHARE:
        return
    senders = {graph.messages[number].sender for number in shared}
    by_place: dict[int, int] = defaultdict(int)
    for number in shared:
        by_place[graph.nodes[graph.messages[number].recv_call].callpath] += queues[number]
    place = max(by_place, key=lambda callpath: by_place[callpath])
    yield finding_of(
        evidence,
        graph,
        "hot_sender",
        saving,
        at_fault=senders,
        callpath=place,
        cause_region=evidence.region(graph.nodes[graph.messages[min(shared)].send_call].callpath),
        numbers=(
            Number("ranks_share_a_nic", len(nodes) / len(set(nodes.values())), "count"),
            Number("messages_behind_a_neighbour's", len(shared), "count"),
            Number("mean_queue", time / len(shared), "ps"),
            Number("share_of_endpoint_contention", time / sum(queues.values()), "1"),
            *evidence.rank_numbers("waiting_rank", {graph.messages[number].receiver for number in shared}),
        ),
        confidence=evidence.confidence(MEDIUM, "send times are measured; the queues follow from the machine's values"),
    )


def _behind_neighbours(graph: Graph, nodes: dict[int, int]) -> set[int]:
    """Messages that wait while another rank of their node sends to another receiver."""
    sent: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for m in graph.messages:
        if nodes.get(m.sender) != nodes.get(m.receiver):
            sent[nodes[m.sender]].append((graph.nodes[m.send_call].enter, m.sender, m.receiver))
    for rows in sent.values():
        rows.sort()
    found = set()
    for number, m in enumerate(graph.messages):
        queue = m.parts["endpoint_contention"]
        if queue <= 0 or nodes.get(m.sender) == nodes.get(m.receiver):
            continue
        begin = graph.nodes[m.send_call].enter
        reach = queue + m.parts["serialization"] + m.parts["send_overhead"]
        if any(
            abs(at - begin) <= reach and sender != m.sender and receiver != m.receiver
            for at, sender, receiver in sent[nodes[m.sender]]
        ):
            found.add(number)
    return found
