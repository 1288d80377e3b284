"""How much of a parameter the program bears: the factors at which its makespan grows by 1, 2, 5 and 10 %."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from logpost.replay.whatif.breakpoints import LARGEST_FACTOR, Tangents, reached

TOLERATED = (1, 2, 5, 10)
"""growth of the makespan in percent"""
LANES = 8
PRECISION = 1e-4


@dataclass(frozen=True)
class Tolerance:
    """The factor of a parameter at which the makespan has grown by `percent`; None: not up to LARGEST_FACTOR."""

    percent: int
    factor: float | None


def tolerances(tangents: Tangents) -> list[Tolerance]:
    """`tangents` replays factors of the parameter."""
    (unchanged,) = tangents([1.0])
    if unchanged.makespan_ps <= 0:
        return [Tolerance(percent, None) for percent in TOLERATED]
    factors = reached(tangents, [unchanged.makespan_ps * (1 + percent / 100) for percent in TOLERATED])
    return [Tolerance(*found) for found in zip(TOLERATED, factors, strict=True)]


def sampled_tolerances(makespans: Callable[[Sequence[float]], Sequence[int]]) -> list[Tolerance]:
    """Where the makespan is not convex: between two factors that were replayed, `PRECISION` apart.

    It may have grown as much, and fallen again, between factors that were not replayed.

    Args:
        makespans: replays factors of the parameter.
    """
    (unchanged,) = makespans([1.0])
    if unchanged <= 0:
        return [Tolerance(percent, None) for percent in TOLERATED]
    return [Tolerance(percent, _enclosed(makespans, unchanged * (1 + percent / 100))) for percent in TOLERATED]


def _enclosed(makespans: Callable[[Sequence[float]], Sequence[int]], target: float) -> float | None:
    steps = 1.0 + np.geomspace(1e-3, LARGEST_FACTOR - 1.0, LANES)
    low, high = _around(steps, makespans(steps.tolist()), target, 1.0)
    if high is None:
        return None
    while high - low > PRECISION * high:
        inner = np.linspace(low, high, LANES + 2)[1:-1]
        low, closer = _around(inner, makespans(inner.tolist()), target, low)
        high = high if closer is None else closer
    return float(high)


def _around(factors: np.ndarray, found: Sequence[int], target: float, below: float) -> tuple[float, float | None]:
    """The last factor below the target and the first one that reaches it."""
    for factor, makespan in zip(factors.tolist(), found, strict=True):
        if makespan >= target:
            return below, factor
        below = factor
    return below, None
