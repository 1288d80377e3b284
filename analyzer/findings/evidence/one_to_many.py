"""What one rank sends to several at once, sent another way: along a tree, or by all ranks alike.

A **burst** is a run of messages of one sender to several receivers, to each in a row, with nothing received in between.
Two cures:

* **Tree**: where the messages of a burst have one size, one for each receiver, they may be the same data, as of a
  broadcast. The sender keeps ceil(log2 p) of p - 1 sends; a receiver gets the data from another one, once that has it.
  In the binomial tree, receiver r of 1 to p - 1 has it from r without its lowest bit set, which has served a larger
  part of the tree before for each bit between the two lowest set ones.
* **Shared**: data that differs by receiver cannot be passed on. It can be spread, so that each rank sends as much: then
  a receiver waits for the one before it in the burst to begin its own receive.

A hop takes the message's parts without its queues; sends that follow each other are as far apart as the larger of the
send's overhead and the serialization. Which of the two the data allows no trace tells. Times in ps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.queues import queued_ps
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis

LEAST_RECEIVERS = 3
"""Of a tree that is another one than sending to all."""
MAINLY = 0.5
"""More than half of the messages."""

Rows = npt.NDArray[np.intp]


def bursts_of(graph: Graph, location: int) -> list[Rows]:
    """All bursts of a location: rows of its messages, in the order of their sends."""
    messages = graph.messages
    (mine,) = np.nonzero(messages.sender == location)
    mine = mine[np.argsort(messages.send_call[mine], kind="stable")]
    received = np.cumsum(np.bincount(messages.recv_call, minlength=graph.count))[messages.send_call[mine]]
    receivers = messages.receiver[mine].tolist()
    begins: list[int] = []
    seen: set[int] = set()
    for i, receiver in enumerate(receivers):
        again = receiver in seen and receiver != receivers[i - 1]
        if i == 0 or again or received[i] != received[i - 1]:
            begins.append(i)
            seen = set()
        seen.add(receiver)
    return np.split(mine, begins[1:]) if begins else []


def broadcasts_of(graph: Graph, bursts: list[Rows]) -> list[Rows]:
    """Those to several receivers, if they are most of the messages, and each may be a broadcast: one message for each
    receiver, all of one size. Else none."""
    size, receiver = graph.messages.bytes, graph.messages.receiver
    large = [burst for burst in bursts if len(burst) >= LEAST_RECEIVERS]
    alike = all(
        len(np.unique(receiver[burst])) == len(burst) and bool((size[burst] == size[burst[0]]).all()) for burst in large
    )
    return large if alike and sum(map(len, large)) > MAINLY * sum(map(len, bursts)) else []


def along_trees(evidence: Evidence, graph: Graph, bursts: list[Rows]) -> Hypothesis:
    """The program with these bursts, each of one message for a receiver, sent along binomial trees."""
    change = _Change(evidence, graph)
    for burst in bursts:
        hop, apart = change.hop(burst), change.apart(burst)
        rounds = len(burst).bit_length()  # ceil(log2 p), of p - 1 receivers
        for r in range(1, len(burst) + 1):
            parent, lowest = r & (r - 1), (r & -r).bit_length() - 1
            larger = rounds if parent == 0 else (parent & -parent).bit_length() - 1
            node = enter(change.send[burst[0]]) if parent == 0 else leave(change.receive[burst[parent - 1]])
            change.wait(burst[r - 1], node, hop + (larger - lowest - 1) * apart)
        change.keep(burst, rounds / len(burst))
    return change.hypothesis()


def shared_by_all(evidence: Evidence, graph: Graph, bursts: list[Rows]) -> Hypothesis:
    """The program with these messages sent by all ranks, each as many."""
    change = _Change(evidence, graph)
    receiver = graph.messages.receiver
    for burst in bursts:
        hop, apart = change.hop(burst), change.apart(burst)
        parts = np.split(burst, np.nonzero(np.diff(receiver[burst]))[0] + 1)
        sends = change.send[burst[0]]
        for part in parts:
            for before, message in enumerate(part):
                change.wait(message, enter(sends), hop + before * apart)
            sends = change.receive[part[0]]
        change.keep(burst, 1 / len(parts))
    return change.hypothesis()


def enter(call: np.integer) -> int:
    """Its node."""
    return 2 * int(call)


def leave(call: np.integer) -> int:
    """Its node."""
    return 2 * int(call) + 1


class _Change:
    """A hypothesis that is put together message by message."""

    def __init__(self, evidence: Evidence, graph: Graph) -> None:
        messages = graph.messages
        self.send, self.receive, self._complete = messages.send_call, messages.recv_call, messages.complete_call
        self._hop = messages.transport - queued_ps(evidence, graph)
        self._apart = np.maximum(messages.parts["send_overhead"], messages.parts["serialization"])
        self._instead = np.full(messages.count, -1, dtype=np.int32)
        self._lag = np.zeros(messages.count, dtype=np.int64)
        self._share = np.ones(graph.count)

    def hop(self, burst: Rows) -> int:
        return int(np.median(self._hop[burst]))

    def apart(self, burst: Rows) -> int:
        return int(np.median(self._apart[burst]))

    def wait(self, message: np.intp, node: int, lag: int) -> None:
        self._instead[message], self._lag[message] = node, lag

    def keep(self, burst: Rows, share: float) -> None:
        """What is left of the sender's work for these messages."""
        self._share[self.send[burst]] = share
        self._share[self._complete[burst]] = share

    def hypothesis(self) -> Hypothesis:
        return Hypothesis(share=self._share, instead=self._instead, lag_ps=self._lag)
