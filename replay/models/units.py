"""The time unit a set of parameters is given in.

The equations are linear in time, so any unit works as long as all parameters of one call share it. The papers
use cycles (Alewife) and microseconds; logpost's tables use picoseconds. A unit is carried by the parameters,
never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

from logpost.machines.values.units import to_base
from logpost.replay.cost.arrays import ModelError


@dataclass(frozen=True)
class TimeUnit:
    """A name for people and its length in picoseconds."""

    name: str
    picoseconds: float

    def __post_init__(self) -> None:
        if not 0.0 < self.picoseconds < float("inf"):
            raise ModelError(f"time unit {self.name!r}: its length must be positive, not {self.picoseconds:g} ps")

    def in_units_of(self, other: TimeUnit) -> float:
        """How many ``other`` units one of this unit is."""
        return self.picoseconds / other.picoseconds


PICOSECOND, NANOSECOND, MICROSECOND, SECOND = (TimeUnit(name, to_base(1.0, name)) for name in ("ps", "ns", "us", "s"))


def cycles(clock_mhz: float) -> TimeUnit:
    """The processor cycle of a ``clock_mhz`` MHz clock: 20 MHz is 50 ns."""
    if not clock_mhz > 0.0:
        raise ModelError(f"clock_mhz = {clock_mhz:g} must be positive: cycles have no length without a clock")
    return TimeUnit("cycles", to_base(1.0, "cycle", to_base(clock_mhz, "MHz")))
