"""Messages that were alone on their way: what they took was no queue, whatever machine it was on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Flags, Graph
from logpost.replay.columns import Int32, Int64


def alone(graph: Graph) -> Flags:
    """By message of the graph: whether none other of its sender or to its receiver was under way with it."""
    messages = graph.messages
    begin, end = graph.enter_ps[messages.send_call], graph.leave_ps[messages.recv_call]
    crowded = _crowded(messages.sender, begin, end) | _crowded(messages.receiver, begin, end)
    return np.asarray(~crowded)


def _crowded(key: Int32, begin: Int64, end: Int64) -> Flags:
    """Which intervals overlap with another one of the same key."""
    crowded: Flags = np.zeros(len(key), dtype=np.bool_)
    if len(key) < 2:
        return crowded
    order = np.lexsort((begin, key))
    # Behind every time of the keys before, so that one running maximum serves them all.
    reach: npt.NDArray[np.int64] = (int(end.max()) - int(begin.min()) + 1) * np.unique(key, return_inverse=True)[1]
    first, last = (begin + reach)[order], (end + reach)[order]
    overlaps = first[1:] < np.maximum.accumulate(last)[:-1]
    crowded[order[1:]] |= overlaps
    crowded[order[:-1]] |= first[1:] < last[:-1]
    return crowded
