"""Student's t distribution, for intervals of a mean of few values.

With t = √ν tan θ the density of t becomes cos(θ)^(ν-1) of θ, which is smooth: the integral takes a handful of nodes.
"""

from __future__ import annotations

import math

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def within(t: float, freedom: float) -> float:
    """Probability of |T| ≤ t for T with `freedom` degrees of freedom (≥ 1, need not be whole)."""
    angle = math.atan(t / math.sqrt(freedom))
    # Beyond 12 standard widths the density of θ is nothing; nodes would be spent on it where there is much freedom.
    angle = min(angle, 12 / math.sqrt(freedom)) if freedom > 100 else angle
    at = angle * (_NODES + 1) / 2
    integral = angle / 2 * float(_WEIGHTS @ np.cos(at) ** (freedom - 1))
    # The integral from 0 to π/2 is half of the beta function at (½, ν/2).
    log_half = math.lgamma(0.5) + math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2) - math.log(2)
    return integral / math.exp(log_half)


def two_sided(level: float, freedom: float) -> float:
    """The t that |T| stays below with probability `level`, e.g. 12.7 for 0.95 and one degree of freedom."""
    low, high = 0.0, 1.0
    while within(high, freedom) < level:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, freedom) < level else (low, middle)
    return (low + high) / 2
