"""A measured number with its 95 % interval, and how intervals pass through sums, differences and fits.

    x_j: what round j alone gives;  [low_x, high_x]: the interval of the x_j's median (see ``statistics``)
    low = value - sqrt((value - low_x)^2 + own^2) ;  high likewise

All that is extracted is linear in the measured times, so each x_j passes through the same sums and fits as the value:
what changes from round to round for all times together (placement, frequency, neighbours on a shared machine) cancels
in a difference as it does in truth, instead of adding up. The two sides differ: what disturbs a machine makes it
slower. `own` is what the rounds do not hold, and adds in quadrature: the clock's step, the misfit of a line, or all
of the error where there is one round only.

Times are in seconds, sizes in bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from logpost.machines.calibration.statistics import Statistics, half_width, rank

NORMAL = 1.959964
"""Half width at 95 % over standard error, where the error is known."""


@dataclass(frozen=True)
class Estimate:
    """A value, the part of its half width that its rounds do not hold, how many samples it rests on, and whether these
    measurements reached ±5 %."""

    value: float
    own: float
    samples: int = 0
    reached: bool = True
    rounds: tuple[float, ...] = ()

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.value - math.hypot(self.own, self._beside()[0])

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.value + math.hypot(self.own, self._beside()[1])

    @property
    def half_width(self) -> float:
        """The larger one of the two sides of the interval."""
        return math.hypot(self.own, max(self._beside()))

    def _beside(self) -> tuple[float, float]:
        """How far the rounds' interval reaches below and above the value."""
        k = len(self.rounds)
        if k < 2:
            return 0.0, 0.0
        r = rank(k)
        if r == 0:
            half = half_width(self.rounds)
            return half, half
        ordered = sorted(self.rounds)
        return max(self.value - ordered[r - 1], 0.0), max(ordered[k - r] - self.value, 0.0)

    def __add__(self, other: Estimate) -> Estimate:
        return combined((1.0, self), (1.0, other))

    def __sub__(self, other: Estimate) -> Estimate:
        return combined((1.0, self), (-1.0, other))

    def scaled(self, factor: float) -> Estimate:
        """factor times the estimate; the factor is exact."""
        return combined((factor, self))

    def shifted(self, offset: float) -> Estimate:
        """The estimate plus an exact number."""
        return Estimate(
            self.value + offset, self.own, self.samples, self.reached, tuple(x + offset for x in self.rounds)
        )


def measured(time: Statistics) -> Estimate:
    """A measured time with the half width that was stated for it: what its rounds do not explain is its own."""
    rounds = time.rounds_s if len(time.rounds_s) > 1 else ()
    told = half_width(rounds) if rounds else 0.0
    own = math.sqrt(max(time.half_width_s**2 - told**2, 0.0))
    return Estimate(time.median_s, own, time.samples, time.reached, rounds)


def combined(*terms: tuple[float, Estimate]) -> Estimate:
    """The sum of factor times estimate.

    Estimates with equally many rounds share them: round j of one was measured when round j of the other was. An
    estimate without rounds is the same in each. Where the numbers of rounds differ, errors count as independent.
    """
    value = math.fsum(factor * e.value for factor, e in terms)
    samples, reached = sum(e.samples for _, e in terms), all(e.reached for _, e in terms)
    counts = {len(e.rounds) for _, e in terms if e.rounds}
    if len(counts) != 1:
        own = math.hypot(*(factor * e.half_width for factor, e in terms))
        return Estimate(value, own, samples, reached)
    own = math.hypot(*(factor * e.own for factor, e in terms))
    rounds = tuple(
        math.fsum(factor * (e.rounds[j] if e.rounds else e.value) for factor, e in terms) for j in range(counts.pop())
    )
    return Estimate(value, own, samples, reached, rounds)
