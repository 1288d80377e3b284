"""Straight lines with intervals, and breakpoints that are found instead of seen.

    y = a + b x by weighted least squares, weights 1/sigma^2:   (a, b) = P y,   P = (X^T W X)^-1 X^T W
    half width: P applied to each round (see ``estimate``), and the misfit  1.96 sqrt((X^T W X)^-1 chi^2/(n - 2))
    without rounds: 1.96 sqrt((X^T W X)^-1 max(1, chi^2/(n - 2)))
    segments: the division of sorted points into lines that minimises  sum of chi^2 + penalty * (segments - 1)

chi^2/(n - 2) widens the interval where the points scatter about their line by more than their own errors say: then the
line is not the whole truth, and the interval has to show it (R. T. Birge, Phys. Rev. 40, 1932).

sigma of a point is its scatter over the rounds after what all points of the curve have in common was taken out of each
round: a round in which everything was three times slower says nothing about which point is off the line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from logpost.machines.calibration.estimate import NORMAL, Estimate, combined, shared_rounds

FloatArray = npt.NDArray[np.float64]

TINY = 1e-18
"""Smallest error of a point in seconds, finer than any clock."""


@dataclass(frozen=True)
class Line:
    """a + b x, and how many points it rests on."""

    intercept: Estimate
    slope: Estimate
    points: int
    chi2: float

    def __call__(self, x: float) -> float:
        return self.intercept.value + self.slope.value * x


def line(x: FloatArray, y: Sequence[Estimate], *, floor: float = 0.0) -> Line:
    """The weighted line through y(x); `floor` is the smallest relative error that a point is credited with.

    Two points give the line through them. Raises ValueError for fewer than two places.
    """
    if len(np.unique(x)) < 2:
        raise ValueError(f"a line needs points at two places or more, not {len(np.unique(x))}")
    # Scaled to the largest x: normal equations of sizes up to 10^7 would lose half of the digits.
    scale = float(np.abs(x).max())
    found, chi2 = _fit(np.column_stack([np.ones(len(x)), x / scale]), y, floor)
    return Line(found[0], found[1].scaled(1.0 / scale), len(x), chi2)


def through(x: FloatArray, y: Sequence[Estimate], intercept: Estimate, *, floor: float = 0.0) -> Line:
    """The weighted line with a given intercept: only the slope is fitted. Raises ValueError without a place x > 0."""
    if not (x > 0).any():
        raise ValueError("a slope through a given intercept needs a point at x > 0")
    scale = float(np.abs(x).max())
    sigma = scatter(y, floor)
    weight = x / scale / sigma
    # slope = sum k_i (y_i - a), so the intercept and its rounds enter with -sum k_i.
    k = weight / sigma / float((weight**2).sum())
    above = [combined((1.0, e), (-1.0, Estimate(intercept.value, 0.0, 0, intercept.rounds))) for e in y]
    found, chi2 = _fit((x / scale)[:, None], above, floor, sigma)
    slope = combined((1.0, found[0]), (float(k.sum()), Estimate(0.0, intercept.own)))
    return Line(intercept, slope.scaled(1.0 / scale), len(x), chi2)


def constant(y: Sequence[Estimate], *, floor: float = 0.0) -> Estimate:
    """The weighted mean, its interval widened where the points scatter by more than their errors."""
    return _fit(np.ones((len(y), 1)), y, floor)[0][0]


def segments(
    curves: Sequence[tuple[FloatArray, Sequence[Estimate]]],
    *,
    least: int = 3,
    most: int = 4,
    penalty: float = 12.0,
    floor: float = 0.02,
) -> list[tuple[int, int]]:
    """Divide sorted points into lines, all curves (of the same x) at the same places: [(first, end), ...].

    Each segment has at least `least` points. A further segment must lower chi^2 by more than `penalty`, which with
    `floor` as the smallest relative error means: a bend below a few floors is not worth a segment.

    Raises ValueError when there are fewer points than one segment needs.
    """
    n = len(curves[0][0])
    if n < least:
        raise ValueError(f"{n} points; a line of this fit needs {least}")
    spread = [scatter(y, floor) for _, y in curves]
    # Values alone: what the rounds say is in sigma already, and n^2 fits of all rounds would cost seconds.
    values = [[Estimate(e.value, 0.0) for e in y] for _, y in curves]

    def cost(start: int, end: int) -> float:
        return sum(
            _chi2(x[start:end], y[start:end], sigma[start:end])
            for (x, _), y, sigma in zip(curves, values, spread, strict=True)
        )

    table = {(i, j): cost(i, j) for i in range(n) for j in range(i + least, n + 1)}
    best: dict[int, tuple[float, list[tuple[int, int]]]] = {0: (-penalty, [])}
    for j in range(least, n + 1):
        ways = [
            (best[i][0] + table[i, j] + penalty, [*best[i][1], (i, j)])
            for i in range(j - least + 1)
            if i in best and len(best[i][1]) < most
        ]
        if ways:
            best[j] = min(ways, key=lambda way: way[0])
    return best[n][1]


def scatter(y: Sequence[Estimate], floor: float) -> FloatArray:
    """sigma of each point; at least `floor` times its value."""
    values = np.array([e.value for e in y], dtype=np.float64)
    k = shared_rounds(y)
    if k > 1 and all(e.rounds for e in y) and (values > 0.0).all():
        rounds = np.array([e.rounds[-k:] for e in y], dtype=np.float64) / values[:, None]
        common = np.median(rounds, axis=0)
        left = rounds / np.where(common > 0.0, common, 1.0)
        # 1.4826 times the median deviation is the standard deviation of normal errors, and outliers do not move it.
        apart = 1.4826 * np.median(np.abs(left - np.median(left, axis=1)[:, None]), axis=1)
        sigma = np.hypot(apart / math.sqrt(k) * values, [e.own / NORMAL for e in y])
    else:
        sigma = np.array([e.half_width / NORMAL for e in y], dtype=np.float64)
    # A point without any error of its own (a simulation) still counts, and not infinitely; nor does one that is zero.
    tiny = max(1e-9 * float(np.abs(values).max()), TINY)
    return np.asarray(np.maximum(np.hypot(sigma, floor * np.abs(values)), tiny))


def _fit(
    X: FloatArray, y: Sequence[Estimate], floor: float, sigma: FloatArray | None = None
) -> tuple[list[Estimate], float]:
    """Coefficients of y = X c as estimates, and chi^2."""
    sigma = scatter(y, floor) if sigma is None else sigma
    values = np.array([e.value for e in y], dtype=np.float64)
    weighted = X / sigma[:, None]
    # Not by normal equations: weights of noisy points differ by many orders of magnitude.
    pseudo = np.linalg.pinv(weighted, rcond=1e-12)
    inverse, P = pseudo @ pseudo.T, pseudo / sigma
    chi2 = float((((values - X @ (P @ values)) / sigma) ** 2).sum())
    free = len(y) - X.shape[1]
    found: list[Estimate] = []
    for row, variance in zip(P, np.diag(inverse), strict=True):
        here = combined(*((float(factor), e) for factor, e in zip(row, y, strict=True)))
        if here.rounds:
            misfit = NORMAL * math.sqrt(variance * chi2 / free) if free > 0 else 0.0
            own = math.hypot(here.own, misfit)
        else:
            own = NORMAL * math.sqrt(variance * max(1.0, chi2 / free if free > 0 else 1.0))
        found.append(Estimate(here.value, own, here.samples, here.rounds))
    return found, chi2


def _chi2(x: FloatArray, y: Sequence[Estimate], sigma: FloatArray) -> float:
    if len(np.unique(x)) < 2:
        return 0.0
    X = np.column_stack([np.ones(len(x)), x / float(np.abs(x).max())]) / sigma[:, None]
    values = np.array([e.value for e in y]) / sigma
    coefficients = np.linalg.lstsq(X, values, rcond=None)[0]
    return float(((values - X @ coefficients) ** 2).sum())
