"""The LogGP values of a locality class, and a quantity in picoseconds."""

from __future__ import annotations

from logpost.machines import LOCALITIES, Machine
from logpost.machines.parameters.loggp import standing_in
from logpost.machines.schema import LocalityClass
from logpost.machines.values.quantity import Quantity
from logpost.replay.cost.arrays import ModelError


def base(machine: Machine, quantity: Quantity | None) -> float | None:
    """In picoseconds, bytes, or what the quantity counts; None where the machine does not give it."""
    return None if quantity is None else quantity.base(machine.clock_hz)


def locality_class(machine: Machine, locality: str) -> LocalityClass | None:
    """Its values, or those of the class that stands for it; None where the machine has no LogGP values at all.

    Raises ModelError for what is no class.
    """
    return machine.loggp.of(class_taken(machine, locality) or locality)


def class_taken(machine: Machine, locality: str) -> str | None:
    """The class itself or the one that stands for it, as for the replay engine: the next farther one, else the next
    nearer one; None where the machine has no LogGP values at all.

    Raises ModelError for what is no class.
    """
    if locality not in LOCALITIES:
        raise ModelError(f"{locality!r} is not a locality class; choose {', '.join(LOCALITIES)}")
    present = [name for name in LOCALITIES if machine.loggp.of(name) is not None]
    return standing_in(locality, present) if present else None


def first_latency(machine: Machine, locality: str) -> float | None:
    """One-way L of the smallest messages that have one, ps."""
    table = locality_class(machine, locality)
    if table is None:
        return None
    for r in table.range:
        if r.L is not None:
            return r.L.base(machine.clock_hz)
        if r.round_trip_L is not None:
            return r.round_trip_L.base(machine.clock_hz) / 2.0
    return None
