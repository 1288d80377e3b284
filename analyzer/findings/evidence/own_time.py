"""What ranks did themselves since they last met: who is waited for is late only if it did more than its waiter."""

from __future__ import annotations

import numpy as np

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.polled import row_begins
from logpost.analyzer.run.wide import exact_sum
from logpost.replay.columns import Int64


def took_longer(graph: Graph) -> float:
    """The fraction of all waiting for senders in which the sender had spent that much more of its own time (code, and
    work in calls) since the last collective operation than the receiver had.

    Where both did the same, the sender was held up before, by others or by chance, and its own time is not to blame.
    """
    calls = graph.waiting_for("send")
    senders = graph.last_source(calls)
    waits = np.maximum(0, graph.enter_ps[senders] - row_begins(graph)[calls])
    since = _since_last_met(graph)
    longer = np.minimum(waits, np.maximum(0, since[senders] - since[calls]))
    waited = exact_sum(waits)
    # Nothing to compare: the calls of these waits are not in the graph.
    return exact_sum(longer) / waited if waited > 0 else 1.0


def _since_last_met(graph: Graph) -> Int64:
    """By call: its rank's own time from its last collective operation to the call's enter; ps."""
    own = np.concatenate([[0], np.cumsum(graph.gap_ps + graph.work_ps)])
    # Of each call: behind which call the time begins anew, counted from 1; 0: the first of all.
    rows = np.arange(graph.count)
    met = np.zeros(graph.count, dtype=np.int64)
    met[1:] = np.where(graph.is_member[:-1], rows[1:], 0)
    met = np.maximum.accumulate(np.where(graph.follows, met, rows))
    return np.asarray(own[rows] + graph.gap_ps - own[met])
