"""Work between operations shared evenly: each member's own time before an operation is the mean of its members'.

A member's own time is the code and the work of calls since its operation before. To share it, both are scaled by one
factor; what it waited meanwhile is waited again, as long as the others make it. So a member that came late by waiting,
or by messages, stays late.
"""

from __future__ import annotations

import numpy as np

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.what_if import Hypothesis


def even_work(graph: Graph, callpath: int) -> Hypothesis:
    """The program with the work before the operations of this call path shared evenly."""
    order = np.argsort(graph.members["call"], kind="stable")
    calls = graph.members["call"][order].astype(np.int64)
    if not len(calls):
        return Hypothesis()
    of = np.unique(graph.members["instance"][order], return_inverse=True)[1]
    rows = np.arange(graph.count)
    begin = np.maximum.accumulate(np.where(graph.follows, 0, rows))[calls]
    begin[1:] = np.maximum(begin[1:], calls[:-1] + 1)  # behind the member's operation before
    until = np.concatenate([[0], np.cumsum(graph.gap_ps + graph.work_ps)])
    own = (until[calls] - until[begin] + graph.gap_ps[calls]).astype(np.float64)
    mean = np.bincount(of, weights=own) / np.bincount(of)
    here = (graph.callpath[calls] == callpath) & (own > 0)
    factor = np.where(here, mean[of] / np.maximum(1.0, own), 1.0)
    member = np.minimum(np.searchsorted(calls, rows), len(calls) - 1)
    before = (rows >= begin[member]) & (rows <= calls[member])
    scale = np.where(before, factor[member], 1.0)
    return Hypothesis(
        gap_ps=np.rint(graph.gap_ps * scale).astype(np.int64),
        work_ps=np.where(graph.is_member, graph.work_ps, np.rint(graph.work_ps * scale)).astype(np.int64),
    )
