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
from collections.abc import Sequence
from dataclasses import dataclass

from logpost.machines.calibration.statistics import ACCURACY, Statistics, half_width, rank

NORMAL = 1.959964
"""Half width at 95 % over standard error, where the error is known."""


@dataclass(frozen=True)
class Estimate:
    """A value, the part of its half width that its rounds do not hold, and how many samples it rests on."""

    value: float
    own: float
    samples: int = 0
    rounds: tuple[float, ...] = ()

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.value - math.hypot(self.own, self._rounds_reach()[0])

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.value + math.hypot(self.own, self._rounds_reach()[1])

    @property
    def half_width(self) -> float:
        """The larger one of the two sides of the interval."""
        return math.hypot(self.own, max(self._rounds_reach()))

    @property
    def reached(self) -> bool:
        """Whether the interval is ±5 % or narrower."""
        return self.half_width <= ACCURACY * abs(self.value)

    def _rounds_reach(self) -> tuple[float, float]:
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
        return Estimate(self.value + offset, self.own, self.samples, tuple(x + offset for x in self.rounds))


def measured(time: Statistics) -> Estimate:
    """A measured time with the half width that was stated for it: what its rounds do not explain is its own."""
    rounds = time.rounds_s if len(time.rounds_s) > 1 else ()
    explained = half_width(rounds) if rounds else 0.0
    own = math.sqrt(max(time.half_width_s**2 - explained**2, 0.0))
    return Estimate(time.median_s, own, time.samples, rounds)


def combined(*terms: tuple[float, Estimate]) -> Estimate:
    """The sum of factor times estimate.

    Estimates share their last rounds: round j from the end of one was measured when round j from the end of the other
    was. An estimate without rounds is the same in each.
    """
    value = math.fsum(factor * e.value for factor, e in terms)
    samples = sum(e.samples for _, e in terms)
    k = shared_rounds([e for _, e in terms])
    if k == 0:
        own = math.hypot(*(factor * e.half_width for factor, e in terms))
        return Estimate(value, own, samples)
    own = math.hypot(*(factor * e.own for factor, e in terms))
    rounds = tuple(
        math.fsum(factor * (e.rounds[j] if e.rounds else e.value) for factor, e in terms) for j in range(-k, 0)
    )
    return Estimate(value, own, samples, rounds)


def ratio(a: Estimate, b: Estimate) -> Estimate:
    """a over b, round by round; b is above 0.

    Where a round of b is not above 0, or they share none, relative errors add in quadrature.
    """
    value = a.value / b.value
    samples = a.samples + b.samples
    k = shared_rounds([a, b])
    below = b.rounds[-k:] if b.rounds else (b.value,) * k
    if k == 0 or min(below) <= 0.0:
        own = math.hypot(a.half_width / b.value, value * b.half_width / b.value)
        return Estimate(value, own, samples)
    above = a.rounds[-k:] if a.rounds else (a.value,) * k
    own = math.hypot(a.own / b.value, value * b.own / b.value)
    return Estimate(value, own, samples, tuple(x / y for x, y in zip(above, below, strict=True)))


def shared_rounds(estimates: Sequence[Estimate]) -> int:
    """How many rounds, counted from the last, all of the estimates with rounds have; 0 where none has any.

    Points that were added during the measurement (sizes next to a change of protocol) miss the first rounds. Where one
    has half of the others' rounds or fewer, none are shared: the errors count as independent.
    """
    counts = [len(e.rounds) for e in estimates if e.rounds]
    if not counts or 2 * min(counts) <= max(counts):
        return 0
    return min(counts)
