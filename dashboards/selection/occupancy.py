"""What calls spend within intervals of time: a call that is only partly within one counts for that part.

A call's categories are known as sums over the call, so each part of it has them in the same proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.run.schema import CATEGORIES

Cube = npt.NDArray[np.float64]


def occupancy(calls: pl.LazyFrame, rows: int, edges: npt.NDArray[np.int64], parts: Sequence[str]) -> Cube:
    """Time by (row, interval, category) in ps, categories in the order of `parts`.

    Args:
        calls: columns row, enter_ps, leave_ps and `{part}_ps` for each part; nested calls are not counted twice by
            the run's tables, so nothing is here.
        rows: how many rows there are.
        edges: bounds of the intervals, ascending; shape (intervals + 1,).
        parts: categories of the calls.
    """
    width = len(edges) - 1
    found = np.zeros((rows, width, len(parts)))
    if width < 1 or not parts:
        return found
    begin, end = int(edges[0]), int(edges[-1])
    first, last = _interval("enter_ps", edges, "right"), _interval("leave_ps", edges, "left")
    within = (pl.col("enter_ps") >= begin) & (pl.col("leave_ps") <= end) & (pl.col("bin") >= pl.col("last"))
    placed = calls.with_columns(bin=first, last=last)
    sums = (pl.col(f"{part}_ps").cast(pl.Float64).sum() for part in parts)
    # Nearly all calls are short: they are summed where they are read, and those across an edge alone are cut.
    whole, cut = pl.collect_all([placed.filter(within).group_by("row", "bin").agg(sums), placed.filter(~within)])
    at = (whole["row"].to_numpy().astype(np.int64), np.clip(whole["bin"].to_numpy(), 0, width - 1))
    for number, part in enumerate(parts):
        np.add.at(found[:, :, number], at, whole[f"{part}_ps"].to_numpy())
    return found + _cut(cut, rows, edges, parts)


def _interval(column: str, edges: npt.NDArray[np.int64], side: Literal["left", "right"]) -> pl.Expr:
    """Number of the interval of a time; one that is an edge belongs to the interval on that side of it."""
    width = int(edges[1] - edges[0])
    shift = 0 if side == "right" else 1
    if (np.diff(edges[:-1]) == width).all() and edges[-1] - edges[-2] <= width:  # of equal width but for the last
        return (pl.col(column) - shift - int(edges[0])) // width
    found = pl.lit(pl.Series(edges)).search_sorted(pl.col(column), side=side)
    return found.cast(pl.Int64) - 1


def _cut(calls: pl.DataFrame, rows: int, edges: npt.NDArray[np.int64], parts: Sequence[str]) -> Cube:
    """The same of calls of which some are across edges."""
    width = len(edges) - 1
    found = np.zeros((rows, width, len(parts)))
    if calls.is_empty():
        return found
    row, enter, leave = (calls[name].to_numpy() for name in ("row", "enter_ps", "leave_ps"))
    enter, leave = enter.astype(np.int64), leave.astype(np.int64)
    first = np.clip(np.searchsorted(edges, enter, side="right") - 1, 0, width - 1)
    last = np.clip(np.searchsorted(edges, leave, side="left") - 1, first, width - 1)
    length = np.maximum(leave - enter, 1).astype(np.float64)

    def within(bins: npt.NDArray[np.int64], of: npt.NDArray[np.int64] | slice) -> Cube:
        covered = np.minimum(leave[of], edges[bins + 1]) - np.maximum(enter[of], edges[bins])
        share: Cube = np.maximum(covered, 0) / length[of]
        return share

    # Most calls touch one or two intervals; those that touch more fill the ones between from end to end.
    pieces = [(slice(None), first, within(first, slice(None)))]
    second = np.nonzero(last > first)[0]
    pieces.append((second, last[second], within(last[second], second)))  # type: ignore[arg-type]
    long = np.nonzero(last > first + 1)[0]
    counts = last[long] - first[long] - 1
    of = np.repeat(long, counts)
    steps = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    between = first[of] + 1 + steps
    pieces.append((of, between, within(between, of)))  # type: ignore[arg-type]
    size = rows * width
    for number, part in enumerate(parts):
        time = calls[f"{part}_ps"].to_numpy().astype(np.float64)
        total = np.zeros(size)
        for which, bins, share in pieces:
            total += np.bincount(row[which].astype(np.int64) * width + bins, time[which] * share, size)
        found[:, :, number] = total.reshape(rows, width)
    return found


def with_compute(times: Cube, available: npt.NDArray[np.float64]) -> Cube:
    """The cube of calls with what the rows did besides, computation, as its first category.

    Args:
        times: categories `CATEGORIES[1:]`.
        available: the time of each (row, interval), ps.
    """
    assert times.shape[2] == len(CATEGORIES) - 1
    compute = np.maximum(available - times.sum(axis=2), 0.0)
    return np.concatenate([compute[:, :, None], times], axis=2)
