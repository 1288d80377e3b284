"""The time of threads in OpenMP, as tables of a run: what the reader's spans, calls and bounds of locations add up to.

A process whose threads share parallel regions has the time T of its first thread, from its first to its last event, on
each of its threads. Inside parallel regions (of the first thread) the reader divides it (`thread_spans`). Outside, the
first thread is in communication calls or serial, and the others, unless they are in a separate region, idle

    idle_communication = min(communication, idle)        idle_serial = idle - idle_communication

with communication that of the first thread outside of parallel regions. All of it by phases of the first thread.
"""

from __future__ import annotations

import polars as pl

from logpost.analyzer.archive._native import Trace
from logpost.analyzer.run import schema
from logpost.analyzer.run.parquet import frame
from logpost.analyzer.words.teams import teams


def stream_frame(trace: Trace) -> pl.DataFrame:
    """The table `streams`."""
    idle = trace.length_ps - pl.col("kernel_ps") - pl.col("copy_ps")
    return pl.DataFrame(dict(trace.streams())).with_columns(idle_ps=idle).select(schema.STREAMS.schema.names())


def span_frame(trace: Trace) -> pl.DataFrame:
    """The table `thread_spans`."""
    return frame(schema.THREAD_SPANS, trace.thread_spans())


def thread_frame(
    spans: pl.DataFrame, calls: pl.LazyFrame, locations: pl.DataFrame, interest: pl.DataFrame | None = None
) -> pl.DataFrame:
    """The table `threads`.

    Arguments:
        spans: the table `thread_spans`.
        calls: of every location: location, enter_ps, leave_ps.
        locations: the table, as the archive gave it.
        interest: the same with the bounds of a region of interest; None: the program is of interest.
    """
    if spans.is_empty():
        return schema.THREADS.empty()
    team = teams(spans["location"], locations)
    phases = _phases(team["first"].unique(), locations, locations if interest is None else interest)
    inside = _clipped(
        spans.lazy().join(team.lazy(), on="location"), phases, "location", "first", "callpath", "place", "category"
    )
    called = _clipped(
        calls.select(first="location", begin_ps="enter_ps", end_ps="leave_ps").join(
            phases.lazy().select("first").unique(), on="first", how="semi"
        ),
        phases,
        "first",
    ).rename({"spent_ps": "called_ps"})
    return (
        pl.concat([inside.drop("first"), _outside(team, phases, inside, called)], how="diagonal_relaxed")
        .with_columns(pl.col("callpath", "place").fill_null(-1))
        .filter(pl.col("spent_ps") > 0)
        .select(schema.THREADS.schema.names())
        .cast(dict(schema.THREADS.schema))  # type: ignore[arg-type]
        .sort("location", "callpath", "place", "phase", "category")
    )


def _phases(first: pl.Series, locations: pl.DataFrame, interest: pl.DataFrame) -> pl.DataFrame:
    """(first, phase, from_ps, until_ps): a partition of each first thread's time; some are empty."""
    bounds = (
        locations.filter(pl.col("location").is_in(first.implode()))
        .join(interest.select("location", of="begin_ps", to="end_ps"), on="location")
        .with_columns(of=pl.col("of").clip("begin_ps", "end_ps"))
        .with_columns(to=pl.col("to").clip("of", "end_ps"))
    )
    pieces = (
        ("start_up", "first_ps", "begin_ps"),
        ("outside", "begin_ps", "of"),
        ("program", "of", "to"),
        ("outside", "to", "end_ps"),
        ("shut_down", "end_ps", "last_ps"),
    )
    return pl.concat(
        [
            bounds.select(
                first="location", phase=pl.lit(phase, dtype=pl.Enum(schema.PHASES)), from_ps=start, until_ps=end
            )
            for phase, start, end in pieces
        ]
    )


def _clipped(times: pl.LazyFrame, phases: pl.DataFrame, *by: str) -> pl.DataFrame:
    """(by, phase, spent_ps): sums over the stretches begin_ps to end_ps of each `first`, by its phases."""
    within = pl.min_horizontal("end_ps", "until_ps") - pl.max_horizontal("begin_ps", "from_ps")
    return (
        times.join(phases.lazy(), on="first")
        .with_columns(spent_ps=within.clip(lower_bound=0))
        .group_by(*by, "phase")
        .agg(pl.col("spent_ps").sum())
        .collect()
    )


def _outside(team: pl.DataFrame, phases: pl.DataFrame, inside: pl.DataFrame, called: pl.DataFrame) -> pl.DataFrame:
    """(location, phase, category, spent_ps) outside of the first thread's parallel regions."""
    whole = phases.group_by("first", "phase").agg(whole_ps=(pl.col("until_ps") - pl.col("from_ps")).sum())
    spent = inside.group_by("location", "phase").agg(
        inside_ps=pl.col("spent_ps").sum(),
        inner_ps=pl.col("spent_ps").filter(pl.col("category") == "communication").sum(),
    )
    rows = (
        team.join(whole, on="first")
        .join(called, on=["first", "phase"], how="left")
        .join(spent, on=["location", "phase"], how="left")
        .with_columns(pl.col("called_ps", "inside_ps", "inner_ps").fill_null(0))
        .with_columns(rest_ps=pl.col("whole_ps") - pl.col("inside_ps"), is_first=pl.col("location") == pl.col("first"))
        # Of the first thread, and of its calls those outside of parallel regions.
        .with_columns(
            outer_ps=(pl.col("called_ps") - pl.col("inner_ps")).filter("is_first").sum().over("first", "phase")
        )
        .with_columns(communication_ps=pl.min_horizontal("outer_ps", "rest_ps"))
    )
    named = (
        ("communication", "communication_ps", "is_first"),
        ("serial", pl.col("rest_ps") - pl.col("communication_ps"), "is_first"),
        ("idle_communication", "communication_ps", ~pl.col("is_first")),
        ("idle_serial", pl.col("rest_ps") - pl.col("communication_ps"), ~pl.col("is_first")),
    )
    return pl.concat(
        [
            rows.filter(whose).select(
                "location", "phase", category=pl.lit(name, dtype=pl.Enum(schema.THREAD_CATEGORIES)), spent_ps=time
            )
            for name, time, whose in named
        ]
    )
