"""What the threads of a process do in each execution of a parallel region, and the gaps between calls that it lies in.

The threads of a team wait w_t, at all barriers of an execution together, for the last one to come. With n threads,
work shared equally between each two barriers would let all come sum(w_t) / n earlier: the mean of the waits. A thread's
lag is how much later than the mean it came: mean(w) - w_t. Times in ps.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.words.teams import teams
from logpost.replay.columns import Int64


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


def in_gaps(graph: Graph, first: pl.Series, end_ps: pl.Series, times: pl.Series) -> Int64:
    """By call: the sum of the times of those executions that ended on its location since the call before."""
    found = np.zeros(graph.count, dtype=np.int64)
    where = first.to_numpy()
    for location in np.unique(where):
        rows = graph.calls_of(int(location))
        here = where == location
        next_call = np.searchsorted(graph.enter_ps[rows], end_ps.to_numpy()[here])
        inside = next_call < rows.stop - rows.start
        np.add.at(found[rows], next_call[inside], times.to_numpy()[here][inside].astype(np.int64))
    return found
