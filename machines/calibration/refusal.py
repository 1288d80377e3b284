"""What the extraction will not write, and why: a value that no machine can have."""

from __future__ import annotations

from dataclasses import dataclass

from logpost.machines.calibration.estimate import Estimate


@dataclass(frozen=True)
class Refusal:
    """A quantity at its place in the machine file, what came out for it, and the reason why it is not written."""

    place: str
    value: float
    half_width: float
    unit: str
    reason: str

    def sentence(self) -> str:
        """One line for people."""
        return f"{self.place} = {self.value:.4g} ± {self.half_width:.2g} {self.unit} is refused: {self.reason}"


def refuse(place: str, found: Estimate, unit: str, reason: str, *, factor: float = 1.0) -> Refusal:
    """A refusal of an estimate in base units, shown in `unit` (`factor` of them per base unit)."""
    return Refusal(place, found.value * factor, found.half_width * factor, unit, reason)


MICROSECONDS = 1e6
"""Seconds into microseconds, as refusals show them."""
NANOSECONDS = 1e9
"""Seconds (per byte) into nanoseconds (per byte)."""
