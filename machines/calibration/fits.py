"""Straight lines with intervals, and breakpoints that are found instead of seen.

    y = a + b x, weights 1/sigma^2 ;  cov = (X^T W X)^-1 max(1, chi^2/(n - 2)) ;  half width = 1.96 sqrt(cov)
    segments: the division of sorted points into lines that minimises  sum of chi^2 + penalty * (segments - 1)

The factor max(1, chi^2/(n - 2)) widens the interval where the points scatter about their line by more than their own
errors say: then the line is not the whole truth, and the interval has to tell.

Source of the factor: R. T. Birge, The Calculation of Errors by the Method of Least Squares, Phys. Rev. 40, 1932.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from logpost.machines.calibration.estimate import NORMAL, Estimate

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """a + b x with 95 % half widths, and how many points and samples it rests on."""

    intercept: Estimate
    slope: Estimate
    points: int
    chi2: float

    def __call__(self, x: float) -> float:
        return self.intercept.value + self.slope.value * x


def line(x: FloatArray, y: Sequence[Estimate], *, floor: float = 0.0) -> Line:
    """The weighted line through y(x); `floor` is the least relative error that a point is credited with.

    Two points give the line through them, with their errors passed on. Raises ValueError for fewer than two places.
    """
    if len(np.unique(x)) < 2:
        raise ValueError(f"a line needs points at two places or more, not {len(np.unique(x))}")
    values, sigma = _columns(y, floor)
    # Scaled to the largest x: normal equations of sizes up to 10^7 would lose half of the digits.
    scale = float(np.abs(x).max())
    X = np.column_stack([np.ones(len(x)), x / scale]) / sigma[:, None]
    inverse = np.linalg.inv(X.T @ X)
    a, b = inverse @ (X.T @ (values / sigma))
    chi2 = float((((values - a - b * x / scale) / sigma) ** 2).sum())
    return _line(len(x), chi2, (a, inverse[0, 0]), (b / scale, inverse[1, 1] / scale**2), y)


def through(x: FloatArray, y: Sequence[Estimate], intercept: Estimate, *, floor: float = 0.0) -> Line:
    """The weighted line with a given intercept: only the slope is fitted. Raises ValueError without a place x > 0."""
    if not (x > 0).any():
        raise ValueError("a slope through a given intercept needs a point at x > 0")
    values, sigma = _columns(y, floor)
    weight = x / sigma
    variance = 1.0 / float((weight**2).sum())
    slope = variance * float((weight * (values - intercept.value) / sigma).sum())
    chi2 = float((((values - intercept.value - slope * x) / sigma) ** 2).sum())
    inherited = intercept.half_width * variance * float((weight / sigma).sum())
    fitted = _line(len(x), chi2, (intercept.value, 0.0), (slope, variance), y)
    widened = Estimate(
        slope, math.hypot(fitted.slope.half_width, inherited), fitted.slope.samples, fitted.slope.reached
    )
    return Line(intercept, widened, len(x), chi2)


def constant(y: Sequence[Estimate], *, floor: float = 0.0) -> Estimate:
    """The weighted mean, its interval widened where the points scatter by more than their errors."""
    values, sigma = _columns(y, floor)
    weight = 1.0 / sigma**2
    mean = float((values * weight).sum() / weight.sum())
    chi2 = float((((values - mean) / sigma) ** 2).sum())
    n = len(y)
    widening = max(1.0, chi2 / (n - 1)) if n > 1 else 1.0
    half = NORMAL * math.sqrt(widening / float(weight.sum()))
    return Estimate(mean, half, sum(e.samples for e in y), all(e.reached for e in y))


def segments(
    curves: Sequence[tuple[FloatArray, Sequence[Estimate]]],
    *,
    least: int = 3,
    most: int = 4,
    penalty: float = 12.0,
    floor: float = 0.02,
    allowed: Callable[[int], bool] = lambda _start: True,
) -> list[tuple[int, int]]:
    """Divide sorted points into lines, all curves (of the same x) at the same places: [(first, end), ...].

    Each segment has at least `least` points. A further segment must lower chi^2 by more than `penalty`, which with
    `floor` as the least relative error means: a bend below a few floors is not worth a segment. `allowed(start)`
    says whether a segment other than the first may start at a point.

    Raises ValueError when there are fewer points than one segment needs.
    """
    n = len(curves[0][0])
    if n < least:
        raise ValueError(f"{n} points; a line of this fit needs {least}")

    def cost(start: int, end: int) -> float:
        return sum(_chi2(x[start:end], y[start:end], floor) for x, y in curves)

    table = {(i, j): cost(i, j) for i in range(n) for j in range(i + least, n + 1) if i == 0 or allowed(i)}
    best: dict[int, tuple[float, list[tuple[int, int]]]] = {0: (-penalty, [])}
    # best[j]: the cheapest division of the first j points; a division of more than `most` segments is not made.
    for j in range(least, n + 1):
        ways = [
            (best[i][0] + table[i, j] + penalty, [*best[i][1], (i, j)])
            for i in range(j - least + 1)
            if i in best and (i, j) in table and len(best[i][1]) < most
        ]
        if ways:
            best[j] = min(ways, key=lambda way: way[0])
    return best[n][1]


def _chi2(x: FloatArray, y: Sequence[Estimate], floor: float) -> float:
    if len(np.unique(x)) < 2:
        return 0.0
    return line(x, y, floor=floor).chi2


def _columns(y: Sequence[Estimate], floor: float) -> tuple[FloatArray, FloatArray]:
    values = np.array([e.value for e in y], dtype=np.float64)
    sigma = np.array([e.half_width / NORMAL for e in y], dtype=np.float64)
    # A point without any error of its own (a simulation) still counts, and not infinitely.
    tiny = 1e-9 * max(float(np.abs(values).max()), 1e-300)
    return values, np.maximum(np.hypot(sigma, floor * np.abs(values)), tiny)


def _line(
    n: int, chi2: float, intercept: tuple[float, float], slope: tuple[float, float], y: Sequence[Estimate]
) -> Line:
    """Values and variances into estimates with Birge's factor."""
    free = n - 2
    widening = max(1.0, chi2 / free) if free > 0 else 1.0
    samples, reached = sum(e.samples for e in y), all(e.reached for e in y)
    ends = [
        Estimate(float(value), NORMAL * math.sqrt(variance * widening), samples, reached)
        for value, variance in (intercept, slope)
    ]
    return Line(ends[0], ends[1], n, chi2)
