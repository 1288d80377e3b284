"""Which file code between calls waits for: the one that most of its time is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.analyzer.run.wide import exact_sum, wide_sum
from logpost.replay.columns import Int64


@dataclass(frozen=True)
class InFiles:
    """What some time is spent on, in files."""

    name: str
    """`read a.dat`: one file, with its longest call; `read 12 files`: one kind of call; else `use 12 files`"""
    callpath: int
    """of the longest calls"""


def mostly_in_file(calls: pl.DataFrame, location: int, begins: Int64, ends: Int64) -> InFiles | None:
    """What most of a location's time in some stretches is spent on, in files; None: less than most of it is.

    Arguments:
        calls: columns location, callpath, region (its name: of the call, then of the file if it is known), enter_ps,
            leave_ps.
        location: whose.
        begins: of the stretches, in order and without overlap.
        ends: of each.
    """
    rows = calls.filter(pl.col("location") == location)
    if rows.is_empty() or not len(begins):
        return None
    row = np.searchsorted(begins, rows["enter_ps"].to_numpy(), side="right") - 1
    inside = (row >= 0) & (rows["leave_ps"].to_numpy() <= ends[np.maximum(row, 0)])
    spent = rows.filter(pl.Series(inside)).with_columns(spent_ps=pl.col("leave_ps") - pl.col("enter_ps"))
    words = pl.col("region").str.split_exact(" ", 1)
    spent = spent.with_columns(call=words.struct[0], file=words.struct[1])
    enough = MAINLY * int((ends - begins).sum())
    if exact_sum(spent["spent_ps"]) <= enough:
        return None
    for by in ("file", "call"):
        most, time = _most(spent, by)
        if time > enough:
            spent = spent.filter(pl.col(by).eq_missing(pl.lit(most, pl.String)))
            break
    else:
        by, most = "all", "use"
    name = _most(spent, "region")[0] if by == "file" else f"{most} {spent['file'].n_unique()} files"
    return InFiles(name, _most(spent, "callpath")[0])


def _most(spent: pl.DataFrame, by: str) -> tuple[Any, int]:
    """What has most of the time, and how much."""
    most, time = spent.group_by(by).agg(wide_sum("spent_ps")).sort("spent_ps", by, descending=True).row(0)
    return most, int(time)
