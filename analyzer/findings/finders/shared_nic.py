"""A shared NIC: ranks of one node send at once, to different receivers, and wait for each other's messages to leave.

A message's endpoint contention belongs to the node's NIC where, within the time that it waits and is on its way out,
another rank of its node sent a message to another receiver on another node. Crowds at one receiver are `hot_receiver`.

An estimated machine that does not tell this queue from other transport says nothing of it.

Gain: the same program if these messages did not queue: more NICs, or sends that take turns with work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from logpost.analyzer.findings.evidence.graph import Flags, Graph, Messages, graph_of, sums_by
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of
from logpost.analyzer.run.wide import exact_sum
from logpost.replay.columns import Int64

MAINLY = 0.5
"""More than half of all endpoint contention between nodes: messages within a node take other ways than its NIC."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    nodes = dict(evidence.locations.select("location", "node").iter_rows())
    if len(set(nodes.values())) in (1, len(nodes)) or not evidence.divides("endpoint_contention"):
        return
    if not evidence.worth_a_look(["endpoint_contention"]):
        return
    graph = graph_of(evidence)
    messages = graph.messages
    node_of = _node_of(nodes)
    ends = _ends(messages, node_of)
    leaves_node = np.not_equal(*(node_of[end] for end in ends))
    queues = np.where(leaves_node, messages.parts["endpoint_contention"], 0)
    shared = (queues > 0) & _behind_neighbours(graph, node_of, ends, leaves_node)
    count, time, every = int(shared.sum()), exact_sum(queues[shared]), exact_sum(queues)
    if count < MIN_SAMPLES or time <= MAINLY * every:
        return
    saving = saving_if(graph, Hypothesis(less_ps=np.where(shared, queues, 0)))
    if saving.gain < MIN_SHARE:
        return
    by_place = sums_by(graph.callpath[messages.recv_call[shared]], queues[shared])
    place = max(by_place, key=lambda callpath: by_place[callpath])
    first_send = int(messages.send_call[int(shared.argmax())])
    yield finding_of(
        evidence,
        graph,
        "hot_sender",
        saving,
        at_fault=set(messages.sender[shared].tolist()),
        callpath=place,
        cause_region=evidence.region(int(graph.callpath[first_send])),
        numbers=(
            Number("ranks_share_a_nic", len(nodes) / len(set(nodes.values())), "count"),
            Number("messages_behind_a_neighbour's", count, "count"),
            Number("mean_queue", time / count, "ps"),
            Number("share_of_endpoint_contention_between_nodes", time / every, "1"),
            *evidence.rank_numbers("waiting_rank", set(messages.receiver[shared].tolist())),
        ),
        confidence=evidence.confidence(MEDIUM, "send times are measured; the queues follow from the machine's values"),
    )


def _node_of(nodes: Mapping[int, int]) -> Int64:
    """By location: its node; the last element, -1, is for those that are not accounted."""
    found = np.full(max(nodes) + 2, -1, dtype=np.int64)
    found[list(nodes)] = list(nodes.values())
    return found


def _ends(messages: Messages, node_of: Int64) -> tuple[Int64, Int64]:
    """By message: where its sender and its receiver stand in the nodes of locations."""
    sender, receiver = (np.minimum(ends, len(node_of) - 1) for ends in (messages.sender, messages.receiver))
    return sender.astype(np.int64), receiver.astype(np.int64)


def _behind_neighbours(graph: Graph, node_of: Int64, ends: tuple[Int64, Int64], leaves_node: Flags) -> Flags:
    """By message: whether another rank of its node sends to another receiver on another node within its reach."""
    sender, receiver = ends
    begin = graph.enter_ps[graph.messages.send_call]
    parts = graph.messages.parts
    reach = parts["endpoint_contention"] + parts["serialization"] + parts["send_overhead"]

    def around(key: Int64) -> Int64:
        """By message: those of the same key that leave their node within its reach, before or behind."""
        return _within(begin[leaves_node], key[leaves_node], begin - reach, begin + reach, key)

    # Of all from its node, those of other senders to other receivers.
    pair, crowd = (one * len(node_of) + receiver for one in (sender, node_of[sender]))
    others = around(node_of[sender]) - around(sender) - around(crowd) + around(pair)
    return np.asarray(others > 0)


def _within(times: Int64, keys: Int64, since: Int64, until: Int64, wanted: Int64) -> Int64:
    """For each wanted key: how many times of that key lie between since and until, both included."""
    order = np.argsort(times, kind="stable")
    ranked = np.sort(keys[order] * (len(times) + 1) + np.arange(len(times)))
    first, last = np.searchsorted(times[order], since, "left"), np.searchsorted(times[order], until, "right")
    at = wanted * (len(times) + 1)
    return np.searchsorted(ranked, at + last) - np.searchsorted(ranked, at + first)
