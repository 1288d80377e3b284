"""How much of a parameter the program bears: the values at which its makespan grows by 1, 2, 5 and 10 %.

The makespan over a parameter's factor is convex, piecewise linear and does not fall (a maximum over paths of linear
functions). The factor at which it reaches a target is enclosed between two replays, and the enclosure is divided in
passes of several lanes until it is narrower than the stated precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

TOLERATED = (1, 2, 5, 10)
"""growth of the makespan in percent"""
LANES = 8
PRECISION = 1e-4
LARGEST_FACTOR = 1e6


@dataclass(frozen=True)
class Tolerance:
    """The factor of a parameter at which the makespan has grown by `percent`; None: not up to LARGEST_FACTOR."""

    percent: int
    factor: float | None


def tolerances(makespans: Callable[[Sequence[float]], Sequence[int]], measured_ps: int) -> list[Tolerance]:
    """`makespans` replays the factors in one pass; a factor of 1 gives `measured_ps`."""
    return [
        Tolerance(percent, _reached(makespans, measured_ps * (1 + percent / 100), measured_ps)) for percent in TOLERATED
    ]


def _reached(makespans: Callable[[Sequence[float]], Sequence[int]], target: float, measured_ps: int) -> float | None:
    if measured_ps <= 0:
        return None
    steps = 1.0 + np.geomspace(1e-3, LARGEST_FACTOR - 1.0, LANES)
    low, high = _around(steps, makespans(steps.tolist()), target, 1.0)
    if high is None:
        return None
    while high - low > PRECISION * high:
        inner = np.linspace(low, high, LANES + 2)[1:-1]
        low, closer = _around(inner, makespans(inner.tolist()), target, low)
        high = high if closer is None else closer
    return float(high)


def _around(factors: np.ndarray, reached: Sequence[int], target: float, below: float) -> tuple[float, float | None]:
    """The last factor below the target and the first one that reaches it."""
    for factor, makespan in zip(factors.tolist(), reached, strict=True):
        if makespan >= target:
            return below, factor
        below = factor
    return below, None
