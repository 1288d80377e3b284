"""Times over sizes: groups of one size each, and all lines that pass through the intervals of the groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]
Sizes = npt.NDArray[np.uint64]
Column = tuple[Sizes, Times]

LOW_QUANTILE = 0.05
"""The shortest times are read at this quantile, not at the minimum: one wrong clock must not decide."""
HIGH_QUANTILE = 1 - LOW_QUANTILE
"""Where noise has made more times 0 than the low quantile, what it adds to is read up to here."""
VALUE_QUANTILE = 0.25
"""A time that is measured, but for noise to both sides and disturbances that only add, lies near this quantile."""
LOWER_QUANTILES = (0.1, 0.25)
"""Between which and the low quantile noise is read, too, where most times contain a delay."""
BETWEEN = 30
"""Observations between two quantiles whose distance is known to a fifth of it (1 / sqrt(30))."""
MOST_GROUPS = 16
"""Of more sizes than this, neighbours are put together."""


def _to_median(q: float) -> float:
    """From the low quantile of normal noise to its median, over that to another quantile."""
    low, other = (NormalDist().inv_cdf(one) for one in (LOW_QUANTILE, q))
    return low / (low - other)


@dataclass(frozen=True)
class Group:
    """Observations of messages of about one size: smallest and mean size in bytes, and their times in ps, ascending."""

    smallest: float
    mean: float
    times: Times

    @property
    def n(self) -> int:
        """How many."""
        return int(self.times.size)

    def quantile(self, q: float) -> float:
        """An observed time."""
        return float(self.times[int(q * (self.times.size - 1))])

    @property
    def shortest(self) -> float:
        """The low quantile."""
        return self.quantile(LOW_QUANTILE)

    @property
    def spread(self) -> float:
        """From the low quantile to the median; as far above the median where it is 0, since no time shows how far noise
        reaches below that."""
        median = self.quantile(0.5)
        return median - self.shortest if self.shortest > 0 else self.quantile(HIGH_QUANTILE) - median

    @property
    def noise(self) -> float:
        """What of the spread can be noise. A delay that does not depend on noise moves no two of its quantiles closer
        together (Droste and Wefelmeyer 1985, for log-concave densities), so that each pair bounds it, as if normal."""
        below = [q for q in LOWER_QUANTILES if (q - LOW_QUANTILE) * self.n >= BETWEEN and self.shortest > 0]
        return min([self.spread, *((self.quantile(q) - self.shortest) * _to_median(q) for q in below)])


def groups(column: Column) -> list[Group]:
    """Observations by size, ascending."""
    sizes, times = column
    if sizes.size == 0:
        return []
    distinct = np.unique(sizes)
    if distinct.size > MOST_GROUPS:
        distinct = np.unique(np.quantile(sizes, np.linspace(0, 1, MOST_GROUPS + 1), method="lower"))
    place = np.clip(np.searchsorted(distinct, sizes, side="right") - 1, 0, distinct.size - 1)
    found = []
    for g in np.unique(place):
        mine = sizes[place == g]
        found.append(Group(float(mine.min()), float(mine.mean()), np.sort(times[place == g])))
    return found


@dataclass(frozen=True)
class Point:
    """An interval of a time at a size, the value inside, and how many observations are behind it."""

    x: float
    low: float
    high: float
    value: float
    n: int


def point(group: Group, slop: float, *, before: float = 0.0) -> Point:
    """The interval of a measured time: its low quantile, as far above its median, and the clock's `slop` at both ends.

    Noise to both sides puts the truth near the median, disturbances that only add put it at the low end.
    """
    value = group.quantile(VALUE_QUANTILE)
    low = group.shortest if group.n >= 20 else float(group.times[0])
    high = group.quantile(0.5) + group.spread
    return Point(max(0.0, group.mean - before), low - slop, high + slop, value, group.n)


@dataclass(frozen=True)
class Lines:
    """Ends and values of constant and slope of all lines through the points; ps and ps/B.

    One size says nothing of the slope: `sloped` is False, and the constant is the time there, `at` its bytes.
    """

    constant: tuple[float, float, float]
    slope: tuple[float, float, float]
    n: int
    sloped: bool
    at: float = 0.0


def lines(points: Sequence[Point]) -> Lines | None:
    """All lines through the intervals of the points; where there is none, the intervals grow by twice what is
    needed."""
    if not points:
        return None
    n = sum(p.n for p in points)
    if len(points) == 1:
        only = points[0]
        return Lines((only.low, only.value, only.high), (0.0, 0.0, 0.0), n, sloped=False, at=only.x)
    x, low, high = (np.array([getattr(p, name) for p in points]) for name in ("x", "low", "high"))
    i, j = np.triu_indices(len(points), 1)
    i, j = i[x[j] > x[i]], j[x[j] > x[i]]  # points of one size, as 0 and 1 B before the first gap, show no slope
    run = x[j] - x[i]
    if not run.size:
        ends = sorted((float(low.max()), float(high.min())))
        value = float(np.clip(np.average([p.value for p in points], weights=[p.n for p in points]), ends[0], ends[1]))
        return Lines((ends[0], value, ends[1]), (0.0, 0.0, 0.0), n, sloped=False, at=float(x.max()))
    misfit = 2 * _misfit(low, high, i, j, run, x)
    low, high = low - misfit, high + misfit
    least = max(0.0, float(np.max((low[j] - high[i]) / run)))
    most = max(least, float(np.min((high[j] - low[i]) / run)))
    # The constant's ends are piecewise linear in the slope, with corners where two points' ends meet.
    corners = np.concatenate([(high[j] - high[i]) / run, (low[j] - low[i]) / run, [least, most]])
    slopes = np.clip(corners, least, most)
    lows = np.max(low[None, :] - slopes[:, None] * x[None, :], axis=1)
    highs = np.min(high[None, :] - slopes[:, None] * x[None, :], axis=1)
    values = np.array([p.value for p in points])
    weight = np.sqrt([p.n for p in points])
    slope = float(np.clip(np.polyfit(x, values, 1, w=weight)[0], least, most))
    constant = float(
        np.clip(
            values[0] - slope * x[0], np.max(low - slope * x), max(np.max(low - slope * x), np.min(high - slope * x))
        )
    )
    return Lines(
        (min(float(lows.min()), constant), constant, max(float(highs.max()), constant)),
        (least, slope, most),
        n,
        sloped=True,
    )


def _misfit(
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    i: npt.NDArray[np.intp],
    j: npt.NDArray[np.intp],
    run: npt.NDArray[np.float64],
    x: npt.NDArray[np.float64],
) -> float:
    """By how much all intervals must grow at both ends before a line that does not fall passes through them."""

    def passes(by: float) -> bool:
        wide_low, wide_high = low - by, high + by
        steepest = float(np.min((wide_high[j] - wide_low[i]) / run))
        flattest = max(0.0, float(np.max((wide_low[j] - wide_high[i]) / run)))
        if flattest > steepest:
            return False
        slopes = np.clip(
            np.concatenate([(wide_high[j] - wide_high[i]) / run, (wide_low[j] - wide_low[i]) / run]), flattest, steepest
        )
        gap = np.min(wide_high - slopes[:, None] * x, axis=1) - np.max(wide_low - slopes[:, None] * x, axis=1)
        return bool(np.any(gap >= -1e-6 * max(1.0, float(np.max(np.abs(high))))))

    if passes(0.0):
        return 0.0
    below, above = 0.0, float(np.max(high) - np.min(low)) + 1.0
    for _ in range(40):
        middle = (below + above) / 2
        below, above = (below, middle) if passes(middle) else (middle, above)
    return above
