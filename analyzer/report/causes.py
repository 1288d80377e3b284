"""What a run's time is spent on: the profile of its critical path, and what makes ranks wait (docs/causes.md)."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.wide import WIDE, exact_sum, wide_sum

COMPUTATION, CALLS = "computation", "calls"
"""What a place is: the computation before the calls of a call path, or those calls."""

FOR_OTHERS = ("late_sender", "late_receiver", "collective_wait")
"""Categories in which a rank waits until another one enters a call, in runs that do not have the waits themselves."""

_PLACE = pl.when(pl.col("category") == "compute").then(pl.lit(COMPUTATION)).otherwise(pl.lit(CALLS)).alias("place")


def path_by_rank(run: Run) -> pl.DataFrame:
    """(location, on_path_ps): how long the critical path of the program is on each rank, the longest first."""
    return (
        program(run.table("path_profile"))
        .group_by("location")
        .agg(wide_sum("on_path_ps"))
        .filter(pl.col("on_path_ps") > 0)
        .sort("on_path_ps", "location", descending=[True, False])
        .collect()
    )


def path_by_category(run: Run) -> dict[str, int]:
    """Category to its time on the critical path of the program, of those that a machine divides or that are one."""
    rows = program(run.shown("path_profile")).group_by(pl.col("category").cast(pl.String)).agg(wide_sum("on_path_ps"))
    return {category: int(time) for category, time in rows.sort("category").collect().iter_rows() if time}


def path_by_place(run: Run, profile: pl.LazyFrame | None = None) -> pl.DataFrame:
    """(callpath, place, on_path_ps, imbalance_ps, activity_ps), the longest first; `profile`: of these rows of
    `path_profile` only, not of the program's.

    The imbalance of a place is what other ranks idle because of it (Böhme et al., critical-path imbalance impact): a
    rank has as much headroom in a function, or in the calls of a call path, as it spends less there than the path does.
    Its idle time, which is the path's length less its own active time, is shared among the places in proportion to its
    headroom, and those of a function in proportion to their time on the path. The activity of a place is what all ranks
    spend there, each at most as much as the path, shared likewise.
    """
    callers = run.table("callpaths").select("callpath", "parent")
    table = (
        (program(run.table("path_profile")) if profile is None else profile)
        .with_columns(pl.col("category").cast(pl.String))
        .join(callers, on="callpath", how="left")
        .with_columns(
            _PLACE,
            active_ps=pl.col("spent_ps")
            - pl.col("waited_ps").fill_null(
                pl.when(pl.col("category").is_in(FOR_OTHERS)).then(pl.col("spent_ps")).otherwise(0)
            ),
            compared=pl.when(pl.col("category") == "compute")
            .then(pl.col("parent").fill_null(-1))
            .otherwise(pl.col("callpath")),
        )
        .collect()
    )
    key = ["compared", "place"]
    on_path = table.group_by(key).agg(path_ps=wide_sum("on_path_ps")).filter(pl.col("path_ps") > 0)
    length = exact_sum(on_path["path_ps"])
    active = table.group_by("location", *key).agg(wide_sum("active_ps"))
    ranks = active.group_by("location").agg(idle_ps=(length - wide_sum("active_ps")).clip(0))
    headroom = (
        ranks.join(on_path, how="cross")
        .join(active, on=["location", *key], how="left")
        .with_columns(headroom_ps=(pl.col("path_ps") - pl.col("active_ps").fill_null(0)).clip(0))
        .with_columns(every_ps=wide_sum("headroom_ps").over("location"))
        .filter(pl.col("every_ps") > 0)
        .with_columns(impact=pl.col("headroom_ps") / pl.col("every_ps") * pl.col("idle_ps"))
        .group_by(key)
        .agg(pl.col("impact").sum())
    )
    activity = (
        active.join(on_path, on=key)
        .group_by(key)
        .agg(activity=pl.min_horizontal("active_ps", "path_ps").cast(pl.Float64).sum())
    )
    part = pl.col("on_path_ps") / pl.col("path_ps")
    return (
        table.group_by("callpath", *key)
        .agg(wide_sum("on_path_ps"))
        .filter(pl.col("on_path_ps") > 0)
        .join(on_path, on=key)
        .join(headroom, on=key, how="left")
        .join(activity, on=key)
        .select(
            "callpath",
            "place",
            "on_path_ps",
            imbalance_ps=(pl.col("impact").fill_null(0.0) * part).round().cast(WIDE),
            activity_ps=(pl.col("activity") * part).round().cast(WIDE),
        )
        .sort("on_path_ps", "callpath", "place", descending=[True, False, False])
    )


def delaying_places(run: Run) -> pl.DataFrame:
    """(callpath, place, short_term_ps, long_term_ps, locations): what makes others wait, the costliest first;
    `locations` has those of the ranks that cost at least a quarter of the one that costs most."""
    both = pl.col("short_term_ps") + pl.col("long_term_ps")
    by_rank = (
        run.table("delay_costs")
        .filter(pl.col("location") >= 0)
        .with_columns(pl.col("place").cast(pl.String))
        .group_by("callpath", "place", "location")
        .agg(wide_sum("short_term_ps", "long_term_ps"))
        .with_columns(costs_ps=both)
        .sort("costs_ps", "location", descending=[True, False])
    )
    return (
        by_rank.group_by("callpath", "place", maintain_order=True)
        .agg(
            wide_sum("short_term_ps", "long_term_ps"),
            locations=pl.col("location").filter(4 * pl.col("costs_ps") >= pl.col("costs_ps").max()),
        )
        .sort(both, "callpath", "place", descending=[True, False, False])
        .collect()
    )


def waits_ps(run: Run) -> tuple[int, int]:
    """All waits that the delay costs add up to, and what of them no delay explains."""
    rows = run.table("delay_costs").select(
        pl.col("location"), costs_ps=pl.col("short_term_ps") + pl.col("long_term_ps")
    )
    table = rows.collect()
    return exact_sum(table["costs_ps"]), int(table.filter(pl.col("location") < 0)["costs_ps"].sum())
