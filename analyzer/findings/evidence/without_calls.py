"""The program without the calls of a place, replayed on its machine: an operation that no data needs is left out.

Ranks that did not wait for each other there come to the next exchange apart: fewer of their messages meet at a NIC that
they share. The graph of the calls gives each message what it took, so the replay is asked (`replayed`) for the same
program whose tables do not have these calls; the time that they took is not given to the code around them. Times in ps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.replayed import engine_of, followed, is_replayable, saving_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving, saving_if
from logpost.analyzer.run.directory import Run
from logpost.replay.columns import Int32, Int64


def saving_without(evidence: Evidence, graph: Graph, callpath: int) -> Saving:
    """What the program saves without the calls of this path, in which nobody sends anything."""
    here = graph.callpath == callpath
    hypothesis = Hypothesis(work_ps=np.where(here, 0, graph.work_ps), freed=here)
    run = evidence.run if is_replayable(evidence, graph) else None
    times = _times(run, graph, here, callpath) if run is not None else None
    return saving_if(graph, hypothesis) if times is None else saving_of(followed(graph, hypothesis, *times))


def _times(run: Run, graph: Graph, here: npt.NDArray[np.bool_], callpath: int) -> tuple[Int64, Int64] | None:
    """Enters and leaves by row of the graph."""
    rest = Rest(run, callpath)
    engine = engine_of(rest)
    if engine is None:
        return None
    (numbers,) = np.nonzero(graph.row_of >= 0)
    rows = graph.row_of[numbers]
    staying = ~here[rows]
    rows = rows[staying]
    kept = rest.number_of[numbers[staying]]
    longer = np.zeros(engine.calls, dtype=np.int64)
    longer[kept] = -_just_before(graph, here)[rows]
    times = engine.times_with_code(longer)
    if times is None:
        return None
    enter, leave = graph.enter_ps.copy(), graph.leave_ps.copy()
    enter[rows], leave[rows] = (ends[kept] for ends in times)
    for row in np.flatnonzero(here).tolist():
        before = leave[row - 1] if graph.follows[row] else graph.enter_ps[row] - graph.gap_ps[row]
        enter[row] = leave[row] = before + graph.gap_ps[row]
    return enter, leave


def _just_before(graph: Graph, here: npt.NDArray[np.bool_]) -> Int64:
    """By row: what the calls that are left out take between it and the call before it that stays."""
    until = np.concatenate([[0], np.cumsum(np.where(here, graph.length, 0))])[:-1]
    rows = np.arange(graph.count)
    first = np.maximum.accumulate(np.where(graph.follows, 0, rows))
    stays = np.maximum.accumulate(np.where(here, -1, rows))
    previous = np.concatenate([[-1], stays[:-1]])
    return np.asarray(until - until[np.maximum(previous, first)], dtype=np.int64)


class Rest(Run):
    """A run whose tables do not have the calls of a path, nor what these record."""

    def __init__(self, run: Run, callpath: int) -> None:
        super().__init__(run.path, run.manifest)
        self._run = run
        stays = run.facts("calls").select(stays=pl.col("callpath") != callpath).collect()["stays"].to_numpy()
        self._stays = stays
        self.number_of: Int32 = np.where(stays, np.cumsum(stays) - 1, -1).astype(np.int32)
        """by call of the run: its number here; -1: it is left out"""

    def facts(self, name: str) -> pl.LazyFrame:
        """The table without them."""
        if name == "calls":
            return self._run.facts(name).filter(pl.Series(self._stays))
        facts = self._run.facts(name)
        columns = [column for column in _OF_CALLS.get(name, ()) if column in facts.collect_schema().names()]
        if not columns:
            return facts
        rows = facts.collect()
        numbers = np.append(self.number_of, np.int32(-1))  # the last one is found by -1: no call
        renamed = rows.with_columns(
            pl.Series(column, numbers[rows[column].to_numpy()], dtype=rows.schema[column]) for column in columns
        )
        gone = (rows[columns[0]] >= 0) & (renamed[columns[0]] < 0)
        return renamed.filter(~gone).lazy()


_OF_CALLS = {
    "messages": ("recv_call", "send_call", "send_complete_call", "recv_post_call"),
    "unmatched": ("call", "complete_call"),
    "collectives": ("call", "complete_call"),
    "transfers": ("call", "complete_call", "remote_call"),
    "epochs": ("begin_call", "end_call"),
}
"""Columns that hold numbers of calls; a row whose first one is left out is none."""
