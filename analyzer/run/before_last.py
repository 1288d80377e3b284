"""Time in rooted operations in which a member may wait that no definition makes wait.

A member that gives data to the root, or the root that gives data to the others, may leave at once, or stay until the
other side attends to it, which may itself wait for the last member. Which part of its stay is waiting depends on the
library and the network, and no trace shows it. What a trace shows is when the last member entered: what lasts until
then is no cost of the operation.
"""

from __future__ import annotations

import polars as pl

FROM_ROOT = ("Bcast", "Scatter", "Scatterv")
TO_ROOT = ("Gather", "Gatherv", "Reduce")


def before_last(collectives: pl.LazyFrame, communicators: pl.LazyFrame, locations: pl.LazyFrame) -> pl.LazyFrame:
    """(location, callpath, before_last_ps) of blocking operations of the program: such time before the last enter.

    Arguments:
        collectives: the table.
        communicators: the table; their members say where a root is.
        locations: the table; operations between their begins and ends are of the program.
    """
    operation = pl.col("operation").cast(pl.String)
    roots = communicators.select("comm", root_location="members", root=pl.int_ranges(0, pl.col("members").list.len()))
    roots = roots.explode("root_location", "root").with_columns(pl.col("root").cast(pl.Int32))
    is_root = pl.col("location") == pl.col("root_location")
    return (
        collectives.filter(
            pl.col("instance") >= 0,
            pl.col("call") == pl.col("complete_call"),
            operation.is_in([*FROM_ROOT, *TO_ROOT]),
        )
        .with_columns(last_ps=pl.col("enter_ps").max().over("instance"), gives_to_root=operation.is_in(TO_ROOT))
        .join(roots, on=("comm", "root"))
        .filter(is_root != pl.col("gives_to_root"))
        .with_columns(before_last_ps=pl.min_horizontal("leave_ps", "last_ps") - pl.col("enter_ps"))
        .join(locations.select("location", "begin_ps", "end_ps"), on="location")
        .filter(
            pl.col("before_last_ps") > 0,
            pl.col("enter_ps") >= pl.col("begin_ps"),
            pl.col("enter_ps") < pl.col("end_ps"),
        )
        .group_by("location", "callpath")
        .agg(pl.col("before_last_ps").sum())
        .sort("location", "callpath")
    )
