"""A run's values of its machine with the ends of the intervals that the machine's file states.

A run keeps half of an interval's width, which is all that a replay needs; a reader wants to see where it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from logpost.analyzer.manifest import MachineValue
from logpost.machines import LOCALITIES, Machine
from logpost.machines.parameters import PARAMETERS
from logpost.machines.values.quantity import Quantity
from logpost.machines.values.units import to_base

Place = tuple[str, str, int | None]
"""Locality, parameter, upper end of the range of sizes."""


def with_ends(values: Sequence[MachineValue], machine: Machine) -> list[MachineValue]:
    """The values, those of the file with low and high; an estimate's have them already.

    Args:
        values: of the run.
        machine: its file, with a clock where it is in cycles.
    """
    ends = dict(_ends(machine))
    found = []
    for value in values:
        stated = ends.get((value.locality, value.parameter, value.up_to_bytes))
        known = value.low is None and value.uncertainty is not None and stated is not None
        found.append(value.model_copy(update={"low": stated[0], "high": stated[1]}) if known and stated else value)
    return found


def _ends(machine: Machine) -> Iterator[tuple[Place, tuple[float, float]]]:
    for locality in LOCALITIES:
        table = machine.loggp.of(locality)
        for one in () if table is None else table.range:
            for parameter in PARAMETERS:
                quantity: Quantity | None = getattr(one, parameter)
                if quantity is not None and quantity.interval is not None:
                    low, high = (to_base(end, quantity.unit, machine.clock_hz) for end in quantity.interval)
                    yield (locality, parameter, one.up_to_bytes), (low, high)
