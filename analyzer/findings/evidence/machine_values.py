"""Machine parameters for rough estimates, read from the manifest."""

from __future__ import annotations

from logpost.analyzer.run.manifest import MachineUsed, MachineValue
from logpost.analyzer.words.units import PS


def unit_ps(value: MachineValue) -> float:
    """Picoseconds (per byte) of the unit of a value; 0: it is no time."""
    return PS.get(value.unit.partition("/")[0], 0.0)


def value_ps(machine: MachineUsed, locality: str, parameter: str, size: float) -> float | None:
    """A parameter of a locality class at a message size: ps, or ps per byte; None where the machine has none.

    Where only its bounds are known it is the lower one.
    """
    chosen = _at_size(machine, locality, parameter, size)
    if chosen is None:
        return None
    known = chosen.low if chosen.bound_only and chosen.low is not None else chosen.value
    return known * unit_ps(chosen)


def most_ps(machine: MachineUsed, locality: str, parameter: str, size: float) -> float | None:
    """The same, where only bounds are known the upper one; None where there is none."""
    chosen = _at_size(machine, locality, parameter, size)
    if chosen is None:
        return None
    known = chosen.high if chosen.bound_only else chosen.value
    return None if known is None else known * unit_ps(chosen)


def _at_size(machine: MachineUsed, locality: str, parameter: str, size: float) -> MachineValue | None:
    found = [
        value
        for value in machine.values
        if value.locality == locality and value.parameter == parameter and unit_ps(value)
    ]
    ranges = sorted(found, key=lambda value: value.up_to_bytes if value.up_to_bytes is not None else float("inf"))
    last = ranges[-1] if ranges else None
    return next((value for value in ranges if value.up_to_bytes is None or value.up_to_bytes >= size), last)


def measures(machine: MachineUsed, locality: str, parameter: str) -> bool:
    """Whether the machine states a parameter of a locality class, and not only its bounds."""
    return any(
        value.locality == locality and value.parameter == parameter and value.value > 0 and not value.bound_only
        for value in machine.values
    )
