"""Work between operations shared evenly: each member's own time before an operation is the mean of its members'.

Or, where one location is slow by exception (`evidence.slow_ranks`), its own time is the median of the others', where
that is less.

A member's own time is the code and the work of calls since its operation before, at the places of the calls. What it
has beyond what is wanted is taken from the places at which it spends more than the members' mean, in proportion to how
much; what it has less is given to it where it spends less. Nothing more is at a place that it does not come to: that
stands before the operation. What it waited meanwhile is waited again, as long as the others make it. So a member that
came late by waiting, or by messages, stays late.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence.graph import Flags, Graph
from logpost.analyzer.findings.evidence.what_if import Hypothesis
from logpost.replay.columns import Int32

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
    member = np.minimum(np.searchsorted(calls, rows), len(calls) - 1)
    before = (rows >= begin[member]) & (rows <= calls[member])
    times = graph.gap_ps + np.where(graph.is_member, 0, graph.work_ps)
    spent = _Places(of, member, graph.callpath, np.where(before, times, 0).astype(np.float64))
    change = np.where(here, own - wanted, 0.0)
    taken = spent.shared_out(change)
    scale = np.where(before, 1.0 - taken[spent.of_row] / np.maximum(1.0, spent.times[spent.of_row]), 1.0)
    gaps = np.rint(graph.gap_ps * scale).astype(np.int64)
    rest = change - np.bincount(spent.member, weights=taken, minlength=len(calls))
    gaps[calls] += np.rint(np.maximum(0.0, -rest)).astype(np.int64)
    return Hypothesis(
        gap_ps=gaps,
        work_ps=np.where(graph.is_member, graph.work_ps, np.rint(graph.work_ps * scale)).astype(np.int64),
    )


class _Places:
    """What each member spends at each place of calls before its operation; times in ps.

    Arguments:
        of: by member: its operation.
        member: by row: the member whose operation comes next.
        callpath: by row.
        times: by row.
    """

    def __init__(self, of: Rows, member: Rows, callpath: Int32, times: Floats) -> None:
        paths = int(callpath.max(initial=0)) + 1
        keys, self.of_row = np.unique(member * paths + callpath, return_inverse=True)
        self.member = keys // paths
        """by place of a member"""
        self.times = np.bincount(self.of_row, weights=times)
        same = np.unique(of[self.member] * paths + keys % paths, return_inverse=True)[1]
        members = np.bincount(of)[of[self.member]]
        self.beyond = self.times - np.bincount(same, weights=self.times)[same] / members
        """what it spends there more than the mean of its operation's members"""

    def shared_out(self, change: Floats) -> Floats:
        """What is taken from each place of a member, if that is taken from the member in all; given, if negative."""
        less = change[self.member]
        way = np.where(self.times > 0, np.clip(np.where(less > 0, self.beyond, -self.beyond), 0.0, None), 0.0)
        every = np.bincount(self.member, weights=way, minlength=len(change))
        # Who has too much has it at some place; who gets more gets no more at a place than it has less there.
        part = np.where(less > 0, way / np.maximum(1.0, every[self.member]), 0.0)
        given = np.minimum(way, -less * way / np.maximum(1.0, every[self.member]))
        return np.asarray(np.where(less > 0, np.minimum(self.times, less * part), -given), dtype=np.float64)


def _mean(of: Rows, own: Floats) -> Floats:
    return np.asarray((np.bincount(of, weights=own) / np.bincount(of))[of], dtype=np.float64)


def _as_the_others(of: Rows, own: Floats, slow: Flags) -> Floats:
    """By member: what it has; of the slow one the median of the other members of its operation, where that is less."""
    others = pl.DataFrame({"of": of[~slow], "own": own[~slow]}).group_by("of").agg(norm=pl.col("own").median())
    norms = pl.DataFrame({"of": of}).join(others, on="of", how="left", maintain_order="left")["norm"]
    norm = norms.fill_null(float("inf")).to_numpy()
    return np.where(slow, np.minimum(own, norm), own)
