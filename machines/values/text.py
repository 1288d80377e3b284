"""Format values: a number with its most readable unit, and a measured value with its interval.

Texts, tables and pages write a machine's values with these functions, so that one value has one face: no power of ten
where a unit does, no digits that a measurement cannot have, and no number at all where the interval says that the
measurement found none.
"""

from __future__ import annotations

from dataclasses import dataclass

from logpost.machines.values.quantity import Quantity
from logpost.machines.values.units import UNITS, to_base

SCALES = tuple((to_base(1.0, unit), unit.replace("us", "µs")) for unit in ("s", "ms", "us", "ns", "ps"))
"""Picoseconds of each unit of time as people see it, largest first."""

RESOLUTION_PS = 1e-3
"""Times (per byte) below it are 0: a thousandth of the picosecond in which the replay counts."""
IDENTIFIABLE = 0.1
"""Share of its interval's upper end that a value must exceed where the interval reaches down to 0."""
EVEN = 0.1
"""Share of an interval's width by which its two sides may differ and still be one number."""
NOT_IDENTIFIABLE = "not identifiable"


@dataclass(frozen=True)
class Shown:
    """A measured value as people read it: with its unit, and what is known about its error (empty: nothing)."""

    value: str
    interval: str

    @property
    def identifiable(self) -> bool:
        """Whether the measurement found a value at all."""
        return self.value != NOT_IDENTIFIABLE


def shown(quantity: Quantity) -> Shown:
    """A value of a machine file."""
    low, high = quantity.interval or (None, None)
    return measured(quantity.number(), low, high, quantity.unit)


def measured(value: float, low: float | None, high: float | None, unit: str) -> Shown:
    """A value and the ends of its interval, all in `unit`.

    The interval is the half width as a share of the value; its two ends where the value is not in their middle or the
    lower one is 0. A value that is next to nothing within an interval that holds 0 is not identifiable: the measurement
    gives an upper end and no value.
    """
    if low is None or high is None:
        return Shown(value_text(value, unit), "")
    if low == high:
        return Shown(value_text(value, unit), "exact") if value else Shown(NOT_IDENTIFIABLE, "nothing is left for it")
    if low <= 0 and value <= IDENTIFIABLE * high:
        return Shown(NOT_IDENTIFIABLE, f"at most {value_text(high, unit)}")
    if low <= 0 or abs(high + low - 2 * value) > EVEN * (high - low):
        return Shown(value_text(value, unit), f"{value_text(low, unit)} to {value_text(high, unit)}")
    return Shown(value_text(value, unit), f"± {50 * (high - low) / value:.1f} %")


def value_text(value: float, unit: str, digits: int = 4) -> str:
    """A value with so many digits: times (per byte) in the unit in which they are at least 1, all others in theirs."""
    entry = UNITS.get(unit)
    if entry is None or entry.in_cycles or entry.dimension not in ("time", "time per byte"):
        return number_text(value, digits) if unit in ("", "1") else f"{number_text(value, digits)} {unit}"
    time_ps = to_base(value, unit)
    if abs(time_ps) < RESOLUTION_PS:
        return f"0 {unit.replace('us', 'µs')}"
    factor, name = _scale(time_ps)
    return f"{number_text(time_ps / factor, digits)} {name}{'/B' if entry.dimension == 'time per byte' else ''}"


def number_text(value: float, digits: int = 4) -> str:
    """So many significant digits, and no power of ten where that would be longer than the number."""
    rounded = float(f"{value:.{digits}g}")
    return f"{value:,.0f}" if float(value).is_integer() or abs(rounded) >= 10**digits else f"{value:.{digits}g}"


def time_text(time_ps: float) -> str:
    """A time with three digits and the unit in which it is at least 1."""
    factor, unit = _scale(time_ps)
    return f"{time_ps / factor:.3g} {unit}"


def size_text(size: float) -> str:
    """A size in B, KiB or MiB."""
    for factor, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.3g} B"


def _scale(time_ps: float) -> tuple[float, str]:
    return next(((factor, unit) for factor, unit in SCALES if abs(time_ps) >= factor), SCALES[-1])
