"""What of the ranks' compute is calls that reach files (`record --io`): waiting for a file is no communication."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.labels import folded
from logpost.analyzer.words.location_names import Location, LocationNames, named_text


@dataclass(frozen=True)
class FileUse:
    """The calls of one name, such as `read input.bin`."""

    name: str
    where: str
    """`rank 0`"""
    calls: int
    exposed_ps: int
    """over all ranks"""
    longest_ps: int
    """on the rank where it is longest"""


@dataclass(frozen=True)
class Files:
    """The calls that reach files, between start-up and shut-down and outside of communication calls."""

    exposed_ps: int
    """over all ranks"""
    share: float
    """of the sum of the ranks' program times"""
    uses: tuple[FileUse, ...]
    """the longest first"""


def files(run: Run, total: int) -> Files | None:
    """The time in files; None where no such call was recorded in the program.

    Arguments:
        run: a finished run.
        total: the sum of the ranks' program times; ps.
    """
    locations = run.table("locations").filter("accounted")
    before = pl.col("leave_ps").cum_max().shift(1).over("location")
    calls = (
        run.table("file_calls")
        .join(locations.select("location", "begin_ps", "end_ps"), on="location")
        .with_columns(
            enter_ps=pl.max_horizontal("enter_ps", "begin_ps"), leave_ps=pl.min_horizontal("leave_ps", "end_ps")
        )
        .filter(pl.col("leave_ps") >= pl.col("enter_ps"))
        .sort("location", "enter_ps", "leave_ps", descending=[False, False, True])
        .filter(before.is_null() | (pl.col("leave_ps") > before))  # a call within another one is part of it
    )
    names = run.table("callpaths").join(run.table("regions").select("region", "name"), on="region")
    by_rank = (
        calls.join(names.select("callpath", "name"), on="callpath")
        .group_by("name", "location")
        .agg(calls=pl.len(), spent_ps=(pl.col("leave_ps") - pl.col("enter_ps")).sum())
    )
    rows = (
        by_rank.sort("location")
        .group_by("name")
        .agg(
            pl.col("location"),
            pl.col("calls").sum(),
            exposed_ps=wide_sum("spent_ps"),
            longest_ps=pl.col("spent_ps").max(),
        )
        .sort("exposed_ps", "name", descending=[True, False])
        .collect()
    )
    if rows.is_empty():
        return None
    named = LocationNames(run.table("locations").collect())
    uses = tuple(
        FileUse(folded(name), named_text(named.several(map(Location, where))), int(calls), int(spent), int(longest))
        for name, where, calls, spent, longest in rows.iter_rows()
    )
    exposed = sum(use.exposed_ps for use in uses)
    return Files(exposed, exposed / total if total else 0.0, uses)
