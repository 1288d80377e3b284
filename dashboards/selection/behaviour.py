"""Ranks grouped by how they spend their time: outliers are alone and first.

The distance of two ranks is the time that they spend in different categories: half the sum over categories of
|a - b|, as a share of the longest rank's time. Groups are made by farthest-first traversal (Gonzalez, Clustering to
minimize the maximum intercluster distance, Theoretical Computer Science 38, 1985): the first centre is the rank nearest
to the median of all, each further one the rank farthest from every centre so far, and a rank belongs to its nearest
centre. The largest distance to a centre is then at most twice the smallest that as many groups allow, and a rank that
behaves like no other becomes a centre, so it is not averaged away. No random numbers: the same run has the same groups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from logpost.analyzer.words.units import percent_text
from logpost.dashboards.figures.folding import Rows
from logpost.dashboards.selection.selection import spans_of

ALIKE = 0.01
"""Ranks that spend no more than this share of the time otherwise need no separate group: a hundredth of a bar is
what a reader can still see."""


@dataclass(frozen=True)
class Groups:
    """Group 0 is the farthest from the median rank."""

    of: np.ndarray
    """Group of each rank."""
    count: int
    radius: float
    """The largest distance of a rank to its group's centre; share of the longest rank's time."""


def groups(each: np.ndarray, most: int, alike: float = ALIKE) -> Groups:
    """At most `most` groups of ranks; no more than it takes for every rank to be `alike` its group's centre.

    Args:
        each: shape (ranks, categories), in ps.
        most: number of groups, at least one.
        alike: distance; share of the longest rank's time.
    """
    shares = each / max(float(each.sum(axis=1).max(initial=0.0)), 1.0)
    if not len(shares):
        return Groups(np.zeros(0, dtype=np.int32), 0, 0.0)
    median = np.median(shares, axis=0)
    from_median = _distance(shares, median)
    centres = [int(from_median.argmin())]
    nearest = _distance(shares, shares[centres[0]])
    member = np.zeros(len(shares), dtype=np.int32)
    while len(centres) < most and nearest.max() > alike:
        farthest = int(nearest.argmax())
        distance = _distance(shares, shares[farthest])
        closer = distance < nearest
        member[closer] = len(centres)
        nearest = np.where(closer, distance, nearest)
        centres.append(farthest)
    outliers_first = np.argsort(-from_median[centres], kind="stable")
    place = np.empty(len(centres), dtype=np.int32)
    place[outliers_first] = np.arange(len(centres))
    return Groups(place[member], len(centres), float(nearest.max()))


def _distance(shares: np.ndarray, other: np.ndarray) -> np.ndarray:
    found: np.ndarray = 0.5 * np.abs(shares - other).sum(axis=1)
    return found


def grouped_rows(every: Rows, each: np.ndarray, most: int) -> Rows | None:
    """A row for each group of ranks; None where all are alike, because one row would show nothing.

    Args:
        every: one row per rank.
        each: their times, shape (ranks, categories), in ps.
        most: number of rows.
    """
    made = groups(each, most)
    if made.count < 2:
        return None
    members = [np.flatnonzero(made.of == group).tolist() for group in range(made.count)]
    said = (
        f"{every.count:,} {every.what}s are shown as {made.count} groups that behave alike, outliers first: in each "
        f"group at most {percent_text(made.radius)} of the time is spent otherwise than by the {every.what} "
        "in its middle."
    )
    return replace(
        every,
        of=every.of.with_columns(row=pl.Series(made.of, dtype=pl.Int32)),
        labels=tuple(every.labels[one[0]] + (f" +{len(one) - 1:,}" if len(one) > 1 else "") for one in members),
        titles=tuple(_title(every, every.titles, one) for one in members),
        names=tuple(_title(every, every.names, one) for one in members),
        sizes=np.array([len(one) for one in members], dtype=np.int64),
        grouping=said,
    )


def _title(every: Rows, titles: tuple[str, ...], members: list[int]) -> str:
    """The one rank's own; of several how many there are, and the first of them."""
    if len(members) == 1:
        return titles[members[0]]
    spans = spans_of(members)
    named = [every.labels[a] if a == b else f"{every.labels[a]}–{every.labels[b]}" for a, b in spans[:4]]
    return f"{len(members):,} {every.what}s: {', '.join(named)}{', …' if len(spans) > 4 else ''}"
