"""Every value behind a prediction, and where it comes from: given, the machine, or the model's default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from logpost.machines import Machine
from logpost.replay.models.interface import Model
from logpost.replay.predict.machine_values.locality import class_taken
from logpost.replay.predict.missing import a_machine_may_have, given_at_some_size, size_name
from logpost.replay.predict.network import unused
from logpost.replay.predict.scale import Scale
from logpost.replay.predict.table import parameters

_BY_CLASS = frozenset({"L", "o_s", "o_r", "o", "g", "G", "O", "S", "o_sl", "o_rl", "G_V", "profile"})


def machine_origin(machine: Machine, name: str, locality: str, *, clock_given: bool) -> str:
    """The machine, with the class that replaces the chosen one, and the clock where it is not the file's."""
    taken = class_taken(machine, locality) if name in _BY_CLASS else None
    instead = f", {taken} for {locality}" if taken not in (None, locality) else ""
    return f"{machine.name}{instead}" + (", with the clock given" if clock_given else "")


def used_values(
    model: Model, values: Mapping[str, Any], origin: Mapping[str, str], swept: set[str], scale: Scale
) -> tuple[tuple[str, str, str], ...]:
    """Name, value and origin of what was given or comes from the machine, but for the swept parameters themselves.

    A machine's value that follows a sweep is said to vary; of a machine's tables it is said that they are there.
    """
    known = parameters(model)
    found = []
    for name, value in values.items():
        whence = origin.get(name, "given")
        if name in swept or (whence == "given as o" and "o" in swept):
            continue
        if known[name].kind == "table":
            found.append((name, known[name].meaning.partition(";")[0], whence))
        elif isinstance(value, np.ndarray) and value.ndim:
            found.append((name, "varies", whence))
        else:
            found.append((name, scale.show(known[name], value), whence))
    return tuple(found)


def default_values(
    model: Model,
    values: Mapping[str, Any],
    origin: Mapping[str, str],
    scale: Scale,
    machine: Machine | None,
    locality: str,
) -> tuple[tuple[str, str, str], ...]:
    """Name, value and origin of the defaults that count; it is said of a machine's values that its file lacks them."""
    skipped = unused(model, values, origin)
    taken = [p for p in model.parameters if p.default is not None and p.name not in values and p.name not in skipped]
    by_size: set[str] = set()
    if machine is not None and any(a_machine_may_have(model, p.name) for p in taken):
        by_size = given_at_some_size(model, machine, values, locality)

    def whence(name: str) -> str:
        if machine is None or not a_machine_may_have(model, name):
            return "default"
        return (
            f"default, give {size_name(model)} for the machine's"
            if name in by_size
            else "default, not in the machine file"
        )

    return tuple((p.name, scale.show(p, p.default), whence(p.name)) for p in taken)
