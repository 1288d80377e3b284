"""What a trace says of one parameter: an interval, whether something measured it, and in which words."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Interval:
    """low ≤ parameter ≤ high, and the value inside that the split computes with; ps, or ps/B.

    `n` observations measured it; 0: none did, and only the ends are known.
    """

    low: float
    high: float
    value: float
    n: int
    reason: str

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.value <= self.high:
            raise ValueError(f"0 <= {self.low:g} <= {self.value:g} <= {self.high:g} does not hold: {self.reason}")

    @property
    def bound_only(self) -> bool:
        """Nothing measured it."""
        return self.n == 0

    def at_most(self, high: float) -> Interval:
        """The same, cut at a bound. What lies beyond the bound as a whole contradicts it: then nothing measured the
        parameter, and only the larger of both is known to be no less."""
        if high < self.low:
            return Interval(0.0, self.high, 0.0, 0, f"{self.reason} exceeded the parameter's bound")
        return self if high >= self.high else replace(self, high=high, value=min(self.value, high))


def bounded(high: float, reason: str, low: float = 0.0) -> Interval:
    """Only known to be between `low` and `high`; the split computes with the lower end."""
    return Interval(low, max(low, high), low, 0, reason)


def measured(low: float, high: float, value: float, n: int, reason: str, *, may_be_none: bool = False) -> Interval:
    """Measured `n` times, kept at or above 0. Observations that do not distinguish it from 0 have not measured it,
    unless a machine may do without (a cost per byte)."""
    low, high = max(0.0, low), max(0.0, high)
    value = min(max(low, value), max(low, high))
    if low == 0 and not may_be_none:
        return Interval(low, max(low, high), value, 0, f"{reason}; not distinguishable from 0")
    return Interval(low, max(low, high), value, n, reason)
