"""Turn estimates into values of a machine file: unit, source, interval, samples and notes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.statistics import CONFIDENCE

DIGITS = 6
"""Significant digits in the file: finer than any measurement, coarse enough to read."""


@dataclass
class Values:
    """Builds the values of one machine file, and keeps the names of those that did not reach ±5 %."""

    not_reached: list[str] = field(default_factory=list)
    count: int = 0

    def time(
        self, found: Estimate, place: str, source: str, note: str = "", *, derived: bool = False
    ) -> dict[str, Any]:
        """A time in us."""
        return self.value(found, place, "us", 1e6, source, note, derived=derived)

    def per_byte(
        self, found: Estimate, place: str, source: str, note: str = "", *, derived: bool = False
    ) -> dict[str, Any]:
        """A time per byte in ns/B."""
        return self.value(found, place, "ns/B", 1e9, source, note, derived=derived)

    def value(
        self, found: Estimate, place: str, unit: str, factor: float, source: str, note: str = "", *, derived: bool
    ) -> dict[str, Any]:
        """An estimate in base units as a table of the machine file; `factor` units per base unit."""
        value = rounded(found.value * factor)
        low, high = rounded(max(found.low, 0.0) * factor), rounded(found.high * factor)
        notes = [note] if note else []
        if not found.reached:
            self.not_reached.append(place)
            reached = f"±{100 * found.half_width / abs(found.value):.1f} %" if found.value else f"±{high:g} {unit}"
            notes.append(f"±5 % not reached: {reached}")
        self.count += 1
        table: dict[str, Any] = {
            "value": value,
            "unit": unit,
            "source": source,
            # Rounding must not push the value out of its interval.
            "interval": [min(low, value), max(high, value)],
            "confidence": CONFIDENCE,
            "basis": "derived" if derived else "measured",
        }
        if found.samples > 0:
            table["samples"] = found.samples
        if notes:
            table["note"] = "; ".join(notes)
        return table

    def exact(self, value: float, low: float, high: float, unit: str, source: str, note: str = "") -> dict[str, Any]:
        """A whole number that was found by search, with the numbers it lies between."""
        self.count += 1
        table: dict[str, Any] = {
            "value": value,
            "unit": unit,
            "source": source,
            "interval": [low, high],
            "confidence": CONFIDENCE,
            "basis": "measured",
        }
        return {**table, "note": note} if note else table


def rounded(value: float, digits: int = DIGITS) -> float:
    """`value` to so many significant digits."""
    return 0.0 if value == 0.0 or not math.isfinite(value) else float(f"{value:.{digits}g}")
