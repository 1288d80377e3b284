"""Which file code between calls waits for: the one that most of its time is in."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.analyzer.run.wide import wide_sum
from logpost.replay.columns import Int64


def mostly_in_file(calls: pl.DataFrame, location: int, begins: Int64, ends: Int64) -> str:
    """The region that reaches a file for most of a location's time in some stretches; empty: none does.

    Arguments:
        calls: columns location, region (its name), enter_ps, leave_ps.
        location: whose.
        begins: of the stretches, in order and without overlap.
        ends: of each.
    """
    rows = calls.filter(pl.col("location") == location)
    if rows.is_empty() or not len(begins):
        return ""
    row = np.searchsorted(begins, rows["enter_ps"].to_numpy(), side="right") - 1
    inside = (row >= 0) & (rows["leave_ps"].to_numpy() <= ends[np.maximum(row, 0)])
    spent = rows.filter(pl.Series(inside)).with_columns(spent_ps=pl.col("leave_ps") - pl.col("enter_ps"))
    times: dict[str, int] = dict(spent.group_by("region").agg(wide_sum("spent_ps")).iter_rows())
    most = max(times, key=lambda region: (times[region], region), default="")
    return most if most and times[most] > MAINLY * int((ends - begins).sum()) else ""
