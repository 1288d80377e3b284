"""Work between operations shared evenly: each member's own time before an operation is the mean of its members'.

Or, where one location is slow by exception (`evidence.slow_ranks`), its own time is the median of the others', where
that is less.

A member's own time is the code and the work of calls since its operation before. To change it, both are scaled by one
factor; what it waited meanwhile is waited again, as long as the others make it. So a member that came late by waiting,
or by messages, stays late.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence.graph import Flags, Graph
from logpost.analyzer.findings.evidence.what_if import Hypothesis

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def even_work(graph: Graph, callpath: int, slow: int | None = None) -> Hypothesis:
    """The program with the work before the operations of this call path shared evenly.

    Arguments:
        graph: of the program.
        callpath: of the operations' calls.
        slow: the location that becomes as fast as the others instead; None: none.
    """
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
    wanted = _mean(of, own) if slow is None else _as_the_others(of, own, graph.location[calls] == slow)
    here = (graph.callpath[calls] == callpath) & (own > 0)
    factor = np.where(here, wanted / np.maximum(1.0, own), 1.0)
    member = np.minimum(np.searchsorted(calls, rows), len(calls) - 1)
    before = (rows >= begin[member]) & (rows <= calls[member])
    scale = np.where(before, factor[member], 1.0)
    return Hypothesis(
        gap_ps=np.rint(graph.gap_ps * scale).astype(np.int64),
        work_ps=np.where(graph.is_member, graph.work_ps, np.rint(graph.work_ps * scale)).astype(np.int64),
    )


def _mean(of: Rows, own: Floats) -> Floats:
    return np.asarray((np.bincount(of, weights=own) / np.bincount(of))[of], dtype=np.float64)


def _as_the_others(of: Rows, own: Floats, slow: Flags) -> Floats:
    """By member: what it has; of the slow one the median of the other members of its operation, where that is less."""
    others = pl.DataFrame({"of": of[~slow], "own": own[~slow]}).group_by("of").agg(norm=pl.col("own").median())
    norms = pl.DataFrame({"of": of}).join(others, on="of", how="left", maintain_order="left")["norm"]
    norm = norms.fill_null(float("inf")).to_numpy()
    return np.where(slow, np.minimum(own, norm), own)
