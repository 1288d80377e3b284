"""A weighted difference of two means, with the interval that their scatter gives (Welch 1947, Satterthwaite 1946).

    c = w_B · mean(B) − w_A · mean(A) − bound
    standard error² = w_B² s_B² / n_B + w_A² s_A² / n_A

c > 0 is "B exceeds the bound": with w_A = 1 + 5 % it says "B is more than 5 % above A"; there is no quotient
of noisy values.
A side with a single run has no known scatter; it is taken to scatter like the other.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from logpost.analyzer.statistics.student import two_sided

LEVEL = 0.95
"""Of intervals: a gate fails or passes wrongly in at most one of forty cases each."""

MOST_REPEATS = 100
"""Beyond these it is only said that more are needed."""


@dataclass(frozen=True)
class Side:
    """Repeats of one program: their number, mean and scatter (standard deviation of one run; None: not known)."""

    count: int
    mean: float
    scatter: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Side:
        """From the values of the runs, at least one."""
        scatter = statistics.stdev(values) if len(values) > 1 else None
        return cls(len(values), statistics.fmean(values), scatter)


@dataclass(frozen=True)
class Contrast:
    """c and what is needed for its interval."""

    a: Side
    b: Side
    weight_a: float = 1.0
    weight_b: float = 1.0
    bound: float = 0.0

    @property
    def value(self) -> float:
        """c, in the unit of the values."""
        return self.weight_b * self.b.mean - self.weight_a * self.a.mean - self.bound

    @property
    def _terms(self) -> list[tuple[float, int]]:
        """Variance of each side's weighted mean, and the degrees of freedom that it is known with."""
        sides = [
            (side, other, weight)
            for side, other, weight in ((self.a, self.b, self.weight_a), (self.b, self.a, self.weight_b))
            if weight
        ]
        terms = []
        for side, other, weight in sides:
            scatter, freedom = side.scatter, side.count - 1
            if scatter is None:
                scatter, freedom = other.scatter, other.count - 1
            if scatter is None:
                return []
            terms.append(((weight * scatter) ** 2 / side.count, freedom))
        return terms

    @property
    def half_width(self) -> float | None:
        """Half of the interval's width at `LEVEL`; None where no side has repeats, so that noise is not known."""
        terms = self._terms
        if not terms:
            return None
        variance = sum(term for term, _ in terms)
        if variance == 0:
            return 0.0
        borrowed = len(terms) == 2 and (self.a.scatter is None or self.b.scatter is None)
        # Scatter that is taken from the other side is one estimate, not two.
        freedom = terms[0][1] if borrowed else variance**2 / sum(term**2 / freedom for term, freedom in terms)
        return two_sided(LEVEL, freedom) * math.sqrt(variance)

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Of c at `LEVEL`; None where the noise is not known."""
        half = self.half_width
        return None if half is None else (self.value - half, self.value + half)

    @property
    def decided(self) -> bool:
        """Whether the sign of c is known."""
        interval = self.interval
        return interval is not None and (interval[0] > 0 or interval[1] < 0 or interval[0] == interval[1])

    def repeats_to_decide(self) -> int | None:
        """Runs of each side that decide the sign of c if means and scatter stay as they are.

        None: not known without scatter, or more than `MOST_REPEATS`.
        """
        scatters = (self.a.scatter, self.b.scatter)
        if all(scatter is None for scatter in scatters):
            return None
        known = max(scatter for scatter in scatters if scatter is not None)
        filled = [known if scatter is None else scatter for scatter in scatters]
        for count in range(2, MOST_REPEATS + 1):
            more = replace(self, a=Side(count, self.a.mean, filled[0]), b=Side(count, self.b.mean, filled[1]))
            if more.decided:
                return count
        return None
