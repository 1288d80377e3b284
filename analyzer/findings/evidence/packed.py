"""Messages sent as one: what the program saves if those that could travel together did.

A message is **packable** with the one before it, of the same sender to the same receiver, if that had not been received
yet when it was sent, and its sender received nothing in between. Of a pack of k messages one send, one receive and one
message with the bytes of all are left; none queues behind another. Other messages that leave or reach the same node
queue for as much shorter as those that stood before them, first come, first served, are fewer. Times in ps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Flags, Graph, graph_of
from logpost.analyzer.findings.evidence.machine_values import value_ps
from logpost.analyzer.findings.evidence.queues import QUEUES, within_nodes
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving, saving_if
from logpost.replay.columns import Int32, Int64


def saving_if_packed(evidence: Evidence, callpath: int) -> Saving:
    """The same program with the messages of a sending call path packed."""
    graph = graph_of(evidence)
    messages = graph.messages
    (rows,) = np.nonzero(graph.callpath[messages.send_call] == callpath)
    rows = rows[np.lexsort((messages.send_call[rows], messages.receiver[rows], messages.sender[rows]))]
    if len(rows) == 0:
        return Saving(0.0, {})
    packed = _packable(graph, rows)
    pack = np.cumsum(~packed) - 1
    size = np.bincount(pack)
    bytes_time = np.bincount(pack, weights=messages.parts["serialization"][rows])
    gone: Flags = np.zeros(messages.count, dtype=np.bool_)
    gone[rows] = packed
    takes = np.ones(graph.count)
    for calls in (messages.send_call, messages.recv_call, messages.post_call):
        takes = np.minimum(takes, _left(calls, gone, graph.count))
    if not evidence.divides(*QUEUES, "recv_overhead"):
        # All of that time may be a queue's or the processors', which is as much shorter.
        less = np.zeros(messages.count)
        less[rows] = (1 - 1 / size[pack]) * messages.undivided_ps[rows]
        saving = saving_if(graph, Hypothesis(share=takes, less_ps=less.astype(np.int64)))
        # Or it is the bytes', which one message with all of them takes as well.
        cure = saving.cure and replace(saving.cure, at_least=Hypothesis(share=takes))
        return replace(saving, cure=cure)
    most: Int64 = np.full(messages.count, np.iinfo(np.int64).max, dtype=np.int64)
    queued = np.sum([messages.parts[part] for part in QUEUES], axis=0) + messages.parts["serialization"]
    alone = (messages.transport - queued)[rows] + bytes_time[pack].astype(np.int64)
    most[rows] = np.where(size[pack] > 1, alone, most[rows])
    return saving_if(graph, Hypothesis(share=takes, most_ps=most, less_ps=_queue_gone(evidence, graph, gone, rows)))


def _queue_gone(evidence: Evidence, graph: Graph, gone: Flags, rows: npt.NDArray[np.intp]) -> Int64 | None:
    """By message but these rows: how much of its queue at the end of a node consists of messages that are gone. None
    where ranks share none."""
    nodes = dict(evidence.locations.select("location", "node").iter_rows())
    machine = evidence.manifest.machine
    if len(set(nodes.values())) in (1, len(nodes)):
        return None
    messages = graph.messages
    queue = messages.parts["endpoint_contention"].copy()
    queue[rows] = 0
    between = ~within_nodes(evidence, messages)
    sizes = np.unique(messages.bytes[between], return_inverse=True)
    each = [
        max(
            value_ps(machine, "other_node", "g", size) or 0.0,
            size * (value_ps(machine, "other_node", "G", size) or 0.0),
        )
        for size in sizes[0].tolist()
    ]
    service = np.zeros(messages.count)
    service[between] = np.array(each, dtype=np.float64)[sizes[1]] if each else 0.0
    node_of = np.full(max(nodes) + 2, -1, dtype=np.int64)
    node_of[list(nodes)] = list(nodes.values())
    less = np.zeros(messages.count)
    begin = graph.enter_ps[messages.send_call]
    for ends in (messages.sender, messages.receiver):
        node = node_of[np.minimum(ends, len(node_of) - 1)]
        for one in np.unique(node[between]).tolist():
            here = np.flatnonzero(between & (node == one))
            here = here[np.argsort(begin[here], kind="stable")]
            before = np.concatenate([[0.0], np.cumsum(service[here])])
            gone_before = np.concatenate([[0.0], np.cumsum(service[here] * gone[here])])
            at = np.arange(len(here))
            since = np.minimum(np.searchsorted(before, before[at] - queue[here], side="left"), at)
            less[here] = np.maximum(less[here], gone_before[at] - gone_before[since])
    return np.asarray(np.minimum(less, queue), dtype=np.int64)


def _packable(graph: Graph, rows: npt.NDArray[np.intp]) -> Flags:
    """Of messages in the order of sender, receiver and send: whether each could travel with the one before."""
    messages = graph.messages
    sender, receiver, send = messages.sender[rows], messages.receiver[rows], messages.send_call[rows]
    same = np.zeros(len(rows), dtype=np.bool_)
    same[1:] = (sender[1:] == sender[:-1]) & (receiver[1:] == receiver[:-1])
    before = np.roll(rows, 1)
    under_way = graph.leave_ps[messages.recv_call[before]] > graph.enter_ps[send]
    received = np.zeros(graph.count, dtype=np.int64)
    received[messages.recv_call] = 1
    so_far = np.cumsum(received)
    nothing_came = so_far[send] == so_far[messages.send_call[before]]
    packable: Flags = same & under_way & nothing_came
    return packable


def _left(calls: Int32, gone: Flags, count: int) -> npt.NDArray[np.float64]:
    """By call: the fraction of the messages that it handles which is left."""
    every = np.bincount(calls, minlength=count)
    left = np.bincount(calls[~gone], minlength=count)
    return np.divide(left, every, out=np.ones(count), where=every > 0)
