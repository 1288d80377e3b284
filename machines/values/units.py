"""Units of machine files and their one meaning in picoseconds and bytes.

Every unit that a machine file may write is a row of `UNITS`: its dimension and its factor. A unit that is
not in the table is refused; nothing is guessed from a name. The letter case counts, as in SI: `Mbit/s` is
10**6 bit/s, `MB/s` is 10**6 B/s and `MiB/s` is 2**20 B/s. The length of a cycle varies, so its factor
is `None` and the machine's processor clock gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from logpost.errors import InputError

Dimension = Literal["time", "time per byte", "bytes", "bandwidth", "frequency", "number"]

PS_PER_US = 10**6
PS_PER_S = 10**12

LARGEST = 2**63 - 1
"""The largest number of picoseconds, bytes or things: tables hold them as int64."""


@dataclass(frozen=True)
class Unit:
    """A unit: its dimension, its factor to the base unit, and whether it counts in processor cycles.

    Base units: picosecond (time), picosecond per byte, byte, byte per second (bandwidth), hertz, 1.
    With `in_cycles` the factor is in cycles instead of picoseconds (or seconds, for a bandwidth).
    """

    dimension: Dimension
    factor: float
    in_cycles: bool = False


_TIMES = {"ps": 1.0, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}
_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3}
_BITS = {"bit": 1 / 8, "kbit": 1e3 / 8, "Mbit": 1e6 / 8, "Gbit": 1e9 / 8}
_FREQUENCIES = {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}


def _table() -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    for name, factor in _TIMES.items():
        table[name] = Unit("time", factor)
        table[f"{name}/B"] = Unit("time per byte", factor)
    table["cycle"] = Unit("time", 1.0, in_cycles=True)
    table["cycle/B"] = Unit("time per byte", 1.0, in_cycles=True)
    for name, factor in _BYTES.items():
        table[name] = Unit("bytes", factor)
        table[f"{name}/s"] = Unit("bandwidth", factor)
    for name, factor in _BITS.items():
        table[f"{name}/s"] = Unit("bandwidth", factor)
    table["B/cycle"] = Unit("bandwidth", 1.0, in_cycles=True)
    for name, factor in _FREQUENCIES.items():
        table[name] = Unit("frequency", factor)
    table["1"] = Unit("number", 1.0)
    table["%"] = Unit("number", 0.01)
    return table


UNITS: Mapping[str, Unit] = MappingProxyType(_table())


def units_of(dimension: Dimension) -> list[str]:
    """The unit names of one dimension, in the order of the table."""
    return [name for name, unit in UNITS.items() if unit.dimension == dimension]


def to_base(value: float, unit: str, clock_hz: float | None = None) -> float:
    """`value` in the base unit of its dimension (ps, ps/B, B, B/s, Hz, 1).

    `clock_hz` is the processor clock and is needed for cycles only. Raises InputError when it is missing
    or when the unit does not exist.
    """
    if unit not in UNITS:
        raise InputError(f"unknown unit {unit!r}; use one of {', '.join(UNITS)}")
    entry = UNITS[unit]
    if not entry.in_cycles:
        return value * entry.factor
    if clock_hz is None or clock_hz <= 0:
        raise InputError(
            f"{value:g} {unit} needs the processor clock to become a time; give [clock] processor in the machine file"
        )
    if entry.dimension == "bandwidth":
        return value * entry.factor * clock_hz
    return value * entry.factor * PS_PER_S / clock_hz
