"""What the threads of a process do in each execution of a parallel region, and the code between calls that it is in.

The threads of a team wait w_t, at all barriers of an execution together, for the last one to arrive. With n threads,
work shared equally between each two barriers would let all arrive sum(w_t) / n earlier: the mean of the waits. A
thread's lag is how much later than the mean it arrives: mean(w) - w_t. Times in ps.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.words.teams import teams
from logpost.replay.columns import Int64

REGIONS = 3
"""Most regions reported."""


@once
def first_threads(evidence: Evidence) -> pl.DataFrame:
    """(location, first, thread): each thread of a team, the first one of its process, and its number there."""
    members = evidence.tables["threads"].select("location").collect()["location"]
    return teams(members, evidence.tables["locations"].collect())


@once
def executions(evidence: Evidence) -> pl.DataFrame:
    """(callpath, first, instance, location, wait_ps, work_ps, begin_ps, end_ps): each thread of a team in each
    execution of a parallel region in the program; begin and end are those of the execution."""
    bounds = evidence.tables["locations"].select(first="location", from_ps="begin_ps", until_ps="end_ps").collect()
    spent = pl.col("end_ps") - pl.col("begin_ps")
    took_part = pl.col("category").cast(pl.String) != "not_in_team"
    works = pl.col("category").cast(pl.String).is_in(["parallel", "synchronization", "communication"])
    return (
        evidence.tables["thread_spans"]
        .filter(pl.col("instance") >= 0)
        .group_by("callpath", "instance", "location")
        .agg(
            wait_ps=spent.filter(pl.col("category").cast(pl.String) == "imbalance").sum(),
            work_ps=spent.filter(works).sum(),
            begin_ps=pl.col("begin_ps").min(),
            end_ps=pl.col("end_ps").max(),
            took_part=took_part.any(),
        )
        .filter("took_part")
        .drop("took_part")
        .join(first_threads(evidence).lazy().drop("thread"), on="location")
        .join(bounds.lazy(), on="first")
        .filter(pl.col("begin_ps") >= pl.col("from_ps"), pl.col("begin_ps") < pl.col("until_ps"))
        .drop("from_ps", "until_ps")
        .sort("callpath", "first", "instance", "location")
        .collect()
    )


class CodeOfProcesses:
    """The code of first threads in the program: before each call, and behind the last one."""

    def __init__(self, program: Program) -> None:
        self.program = program
        size = program.location_count
        begin, end = np.zeros((2, size), dtype=np.int64)
        bounds = program.locations.select("location", "begin_ps", "end_ps")
        begin[bounds["location"]], end[bounds["location"]] = bounds["begin_ps"], bounds["end_ps"]
        self._end_ps = end
        before = np.where(program.follows, np.roll(program.leave_ps, 1), 0)
        since = np.maximum(before, begin[program.location])
        self.before_ps: Int64 = np.clip(np.minimum(program.enter_ps, end[program.location]) - since, 0, None)
        """by call"""
        last = begin.copy()
        np.maximum.at(last, program.location, program.leave_ps)
        self.behind_ps: Int64 = np.clip(end - last, 0, None)
        """by location"""

    def sums(self, first: pl.Series, end_ps: pl.Series, times: pl.Series) -> tuple[Int64, Int64]:
        """The sum of the times of what ended on a location since the call before each call; and behind the last one."""
        program = self.program
        before, behind = np.zeros(program.count, dtype=np.int64), np.zeros(len(self._end_ps), dtype=np.int64)
        where, until, each = (column.to_numpy() for column in (first, end_ps, times))
        for location in np.unique(where[where < len(behind)]).tolist():
            here = (where == location) & (until <= self._end_ps[location])
            rows = np.flatnonzero(program.location == location)
            following = np.searchsorted(program.enter_ps[rows], until[here])
            inside = following < len(rows)
            np.add.at(before, rows[following[inside]], each[here][inside].astype(np.int64))
            behind[location] = int(each[here][~inside].sum())
        return before, behind

    def shorter(self, before_ps: Int64, behind_ps: Int64) -> Transformation:
        """The program with so much less code, as far as there is some."""
        return Transformation(
            shorter_parts_ps=np.minimum(before_ps, self.before_ps),
            longer_at_end_ps=-np.minimum(behind_ps, self.behind_ps),
        )
