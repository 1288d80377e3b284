"""The own time of user regions in the program alone; the profile of a run has start-up and shut-down in it.

A run keeps of a user region its own time, first enter and last leave on each location, no single event. What of its own
time is in the program follows from these and the accounting, which knows the program's computation exactly:

- a region that was left before the program began, or entered after it ended, has none;
- one that was entered and left within the program has all of it there;
- what the others have together beyond the rest of the program's computation they have outside. It is taken from those
  that contain the whole program (`main`, which calls MPI_Init and MPI_Finalize) first, and only then from the others,
  from each in proportion to its own time.

Exact where a single region computes on both sides of the program's bounds, as `main` mostly is; never more, on any
location, than what it computes in the program.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from logpost.analyzer.run.phases import program
from logpost.analyzer.run.wide import wide_sum

OUTSIDE, INSIDE, AROUND, ACROSS = range(4)
"""Where a region was used: outside of the program alone, inside alone, around all of it, across a bound of it."""


def program_profile(table: Callable[[str], pl.LazyFrame]) -> pl.DataFrame:
    """(callpath, location, visits, exclusive_ps) of user regions on accounted locations, in the program.

    Arguments:
        table: the tables of a run by name.

    Visits are those of the whole run; 0 where all of them lie outside of the program.
    """
    user = table("regions").filter(pl.col("kind") == "user").select("region")
    paths = table("callpaths").join(user, on="region", how="semi").select("callpath", "region")
    bounds = table("locations").filter("accounted").select("location", "begin_ps", "end_ps")
    computed = (
        program(table("accounting"))
        .filter(pl.col("category") == "compute")
        .group_by("location")
        .agg(computed_ps=wide_sum("exposed_ps"))
    )
    rows = (
        table("profile")
        .select("callpath", "location", "visits", "exclusive_ps")
        .join(paths, on="callpath", maintain_order="left")
        .join(bounds, on="location", maintain_order="left")
        .join(table("region_spans"), on=["region", "location"], how="left", maintain_order="left")
        .join(computed, on="location", how="left", maintain_order="left")
        .with_columns(pl.col("computed_ps").fill_null(0), used=_used())
        .with_columns(
            pl.when(pl.col("used") == OUTSIDE).then(0).otherwise(column).alias(column)
            for column in ("visits", "exclusive_ps")
        )
        .with_columns(own_ps=wide_sum("exclusive_ps").over("location"))
        .with_columns(beyond_ps=(pl.col("own_ps") - pl.col("computed_ps")).clip(lower_bound=0).cast(float))
    )
    for where in (AROUND, ACROSS, INSIDE):
        rows = _taken(rows, where)
    return rows.select("callpath", "location", "visits", "exclusive_ps").collect()


def _used() -> pl.Expr:
    """Where a region was used; across the bounds where that is not known."""
    first, last, begin, end = (pl.col(name) for name in ("first_enter_ps", "last_leave_ps", "begin_ps", "end_ps"))
    return (
        pl.when(first.is_null())
        .then(ACROSS)
        .when((last <= begin) | (first >= end))
        .then(OUTSIDE)
        .when((first <= begin) & (last >= end))
        .then(AROUND)
        .when((first >= begin) & (last <= end))
        .then(INSIDE)
        .otherwise(ACROSS)
    )


def _taken(rows: pl.LazyFrame, where: int) -> pl.LazyFrame:
    """The rows with `beyond_ps` of their location taken from the regions that were used there, as far as it
    suffices."""
    here = pl.when(pl.col("used") == where).then("exclusive_ps").otherwise(0)
    return (
        rows.with_columns(here=here.cast(float))
        .with_columns(all_here=pl.col("here").sum().over("location"))
        .with_columns(taken=pl.min_horizontal("beyond_ps", "all_here"))
        .with_columns(
            exclusive_ps=pl.col("exclusive_ps")
            - pl.when(pl.col("here") > 0)
            .then((pl.col("taken") * pl.col("here") / pl.col("all_here")).ceil())
            .otherwise(0)
            .cast(pl.Int64),
            beyond_ps=pl.col("beyond_ps") - pl.col("taken"),
        )
        .with_columns(pl.col("exclusive_ps").clip(lower_bound=0))
        .drop("here", "all_here", "taken")
    )
