"""Refused values: impossible for any machine, and not written to the file."""

from __future__ import annotations

from dataclasses import dataclass

from logpost.machines.calibration.estimate import Estimate
from logpost.machines.values.text import value_text


@dataclass(frozen=True)
class Refusal:
    """A quantity at its place in the machine file, what came out for it, and the reason why it is not written."""

    place: str
    value: float
    half_width: float
    unit: str
    reason: str

    def sentence(self) -> str:
        """The refusal as one line."""
        found = f"{value_text(self.value, self.unit)} ± {value_text(self.half_width, self.unit, digits=2)}"
        return f"{self.place} = {found} is refused: {self.reason}"


def refuse(place: str, found: Estimate, unit: str, reason: str, *, factor: float = 1.0) -> Refusal:
    """A refusal of an estimate in base units, shown in `unit` (`factor` of them per base unit)."""
    return Refusal(place, found.value * factor, found.half_width * factor, unit, reason)


MICROSECONDS = 1e6
"""Seconds into microseconds, as refusals show them."""
NANOSECONDS = 1e9
"""Seconds (per byte) into nanoseconds (per byte)."""
