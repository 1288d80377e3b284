"""How many other messages were on the way with one: what one took alone was no queue, whatever machine it was on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.replay.columns import Int32, Int64


def company(graph: Graph) -> Int64:
    """By message of the graph: how many others of its sender were under way with it, or to its receiver, if more."""
    messages = graph.messages
    begin, end = graph.enter_ps[messages.send_call], graph.leave_ps[messages.recv_call]
    return np.maximum(_beside(messages.sender, begin, end), _beside(messages.receiver, begin, end))


def _beside(key: Int32, begin: Int64, end: Int64) -> Int64:
    """How many others of the same key each interval overlaps with."""
    if len(key) == 0:
        return np.zeros(0, dtype=np.int64)
    # Behind every time of the keys before, so that one search serves them all.
    reach: npt.NDArray[np.int64] = (int(end.max()) - int(begin.min()) + 1) * np.unique(key, return_inverse=True)[1]
    first, last = begin + reach, np.maximum(end, begin + 1) + reach
    begun = np.searchsorted(np.sort(first), last, side="left")
    ended = np.searchsorted(np.sort(last), first, side="right")
    return np.asarray(begun - ended - 1, dtype=np.int64)
