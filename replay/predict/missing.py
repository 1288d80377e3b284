"""What to say when a model lacks parameters although a machine is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from logpost.errors import InputError
from logpost.machines import LOCALITIES, Machine
from logpost.replay.cost.arrays import ModelError
from logpost.replay.models.interface import MissingParametersError, Model
from logpost.replay.models.kary_ncube import SIDES
from logpost.replay.predict.machine_values import machine_values
from logpost.replay.predict.network import has_distances
from logpost.replay.predict.quantities import example
from logpost.replay.predict.table import parameters

_BY_MACHINES = frozenset(
    {"L", "o_s", "o_r", "o", "g", "G", "O", "S", "o_sl", "o_rl", "G_m", "a", "cycle", "units", "topology", "k_d", "n"}
    | {*SIDES, "o_mw", "l_mw", "o_net", "T_mem", "HD", "outstanding", "G_V", "profile"}
)


def a_machine_may_have(model: Model, name: str) -> bool:
    """Whether machine files have the parameter, with the meaning that it has in this model."""
    parameter = parameters(model)[name]
    # A number of sizes, a number of messages, an order of peers.
    other = {"S": parameter.kind != "bytes" or model.name != "loggops", "n": not has_distances(model)}
    return name in _BY_MACHINES and not other.get(name, name == "topology" and "mesh" not in parameter.choices)


def size_name(model: Model) -> str | None:
    """The parameter by which a machine's values are taken, None where the model has none."""
    sizes = {parameter.name for parameter in model.parameters if parameter.kind == "bytes"}
    # What V bytes are sent in: overlap's S. LogGOPS's is the eager limit.
    name = "S" if {"V", "S"} <= sizes else "B"
    return name if name in sizes else None


def given_at_some_size(model: Model, machine: Machine, given: Mapping[str, Any], locality: str) -> set[str]:
    """Names that the machine would have values for if a message size were given."""
    name = size_name(model)
    if name is None or name in given:
        return set()
    tables = [table for table in map(machine.loggp.of, LOCALITIES) if table is not None]
    ends = {float(r.up_to_bytes) for table in tables for r in table.range if r.up_to_bytes is not None}
    points = {float(point.size_bytes) for point in machine.log3p.point}
    bursts = {float(point.size_bytes) for point in machine.overlap.o} | {float(p.size_bytes) for p in machine.overlap.G}
    found: set[str] = set()
    for size in ends | {end + 1.0 for end in ends} | points | bursts:
        try:
            found |= machine_values(model, machine, {**given, name: size}, locality=locality).keys()
        except InputError:
            continue
    return found


def explained(
    error: MissingParametersError, model: Model, machine: Machine, given: Mapping[str, Any], locality: str
) -> ModelError:
    """The error with the way out: the size that the machine's values hang on, or the parameters themselves."""
    size = size_name(model)
    by_size = given_at_some_size(model, machine, given, locality)
    others = [name for name in error.names if name != size and name not in by_size]
    if size is not None and (size in error.names or by_size & set(error.names)):
        also = f"; give {', '.join(others)} as well" if others else ""
        return ModelError(
            f"model {model.name} needs {size}, the message size: give it, e.g. --set {size}=1KiB; a machine's values "
            f"depend on it{also}"
        )
    needed = [name for name in others if not a_machine_may_have(model, name)]
    if needed:
        ways = " ".join(f"--set {example(parameters(model)[name])}" for name in needed)
        lacking = [name for name in others if name not in needed]
        also = f" (and {', '.join(lacking)}, which machine {machine.name} does not give)" if lacking else ""
        return ModelError(f"model {model.name} needs {', '.join(needed)}{also}: give it, e.g. {ways}")
    return ModelError(f"{error} (machine {machine.name} does not give it)")
