"""The mean of repetitions and its uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Student's t, two-sided 95 %, for 1 to 10 degrees of freedom; more have the last one, which is wider."""


@dataclass(frozen=True)
class Mean:
    """A mean and the half-width of its 95 % confidence interval (0 for a single value)."""

    value: float
    error: float


def mean_of(values: Sequence[float]) -> Mean:
    """Of independent repetitions (other seeds, other runs)."""
    count = len(values)
    if count < 2:
        return Mean(float(values[0]), 0.0)
    t = _T95[min(count - 2, len(_T95) - 1)]
    return Mean(float(np.mean(values)), float(t * np.std(values, ddof=1) / np.sqrt(count)))
