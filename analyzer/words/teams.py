"""Which threads belong together: those of a process, the rank first."""

from __future__ import annotations

import polars as pl


def teams(members: pl.Series, locations: pl.DataFrame) -> pl.DataFrame:
    """(location, first, thread) of the locations `members`, process by process: the first one of the process, which is
    the rank if there is one, and the thread's number there, 0 for the first.

    Arguments:
        members: locations, in any order and any number of times.
        locations: the table.
    """
    return (
        locations.filter(pl.col("location").is_in(members.unique().implode()))
        .sort("process", pl.col("rank") < 0, "location")
        .select(
            "location",
            first=pl.col("location").first().over("process"),
            thread=pl.int_range(pl.len(), dtype=pl.Int32).over("process"),
        )
    )
