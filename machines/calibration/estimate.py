"""A measured number with its 95 % half width, and how half widths pass through sums, differences and repetitions.

    a ± b:      hw^2 = hw_a^2 + hw_b^2                       (independent errors)
    k repetitions with values x_i ± hw_i, mean m:
                hw^2 = (mean of hw_i)^2 / k + (t_{k-1} s / sqrt(k))^2

s is the standard deviation of the x_i and t Student's 97.5 % quantile: what changes from one start of the
programs to the next (placement, memory layout, other load) is part of the interval, not only the noise within one.

Times are in seconds, sizes in bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""97.5 % quantiles of Student's t for 1 to 30 degrees of freedom."""

NORMAL = 1.960
"""The same for very many."""


def student(degrees: int) -> float:
    """The factor between a standard error and a 95 % half width. Raises ValueError below one degree of freedom."""
    if degrees < 1:
        raise ValueError(f"{degrees} degrees of freedom give no interval; at least 1 is needed")
    # 1/df is the leading term of the difference to the normal quantile: t = 1.96 + 2.4/df to 0.1 % above 30.
    return STUDENT[degrees - 1] if degrees <= len(STUDENT) else NORMAL + 2.4 / degrees


@dataclass(frozen=True)
class Estimate:
    """value ± half_width at 95 %, from `samples` samples; `reached` says whether ±5 % were reached."""

    value: float
    half_width: float
    samples: int = 0
    reached: bool = True

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.value + other.value, math.hypot(self.half_width, other.half_width), *_both(self, other))

    def __sub__(self, other: Estimate) -> Estimate:
        return Estimate(self.value - other.value, math.hypot(self.half_width, other.half_width), *_both(self, other))

    def scaled(self, factor: float) -> Estimate:
        """factor times the estimate; the factor is exact."""
        return Estimate(factor * self.value, abs(factor) * self.half_width, self.samples, self.reached)

    def shifted(self, offset: float) -> Estimate:
        """The estimate plus an exact number."""
        return Estimate(self.value + offset, self.half_width, self.samples, self.reached)

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.value - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.value + self.half_width


def _both(a: Estimate, b: Estimate) -> tuple[int, bool]:
    return a.samples + b.samples, a.reached and b.reached


def total(parts: Sequence[Estimate]) -> Estimate:
    """The sum of independent estimates."""
    result = Estimate(0.0, 0.0)
    for part in parts:
        result = result + part
    return result


def repeated(rounds: Sequence[Estimate]) -> Estimate:
    """One estimate from independent repetitions of the same measurement, with the spread between them.

    Raises ValueError without any.
    """
    if not rounds:
        raise ValueError("no repetition was given")
    k = len(rounds)
    if k == 1:
        return rounds[0]
    values = [r.value for r in rounds]
    mean = math.fsum(values) / k
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (k - 1))
    within = math.fsum(r.half_width for r in rounds) / k / math.sqrt(k)
    between = student(k - 1) * spread / math.sqrt(k)
    return Estimate(mean, math.hypot(within, between), sum(r.samples for r in rounds), all(r.reached for r in rounds))
