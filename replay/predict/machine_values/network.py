"""The network's dimensions and kind, and the machine's values for LoPC and LoGPC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from logpost.machines import Machine
from logpost.machines.topologies import Cartesian
from logpost.machines.values.units import to_base
from logpost.replay.cost.arrays import ModelError
from logpost.replay.models.interface import Model
from logpost.replay.models.kary_ncube import SIDES, mean_distances
from logpost.replay.predict.machine_values.locality import base

# Models of meshes only, which do not ask for the topology.
_MESHES = frozenset({"locality"})


def logpc_values(machine: Machine) -> dict[str, Any]:
    """How a channel is loaded, G_m, a, and the processor's cycle."""
    offered: dict[str, Any] = {"units": machine.logpc.channel_load}
    for name, quantity in (("G_m", machine.logpc.G_m), ("a", machine.logpc.header_before_interrupt)):
        value = base(machine, quantity)
        if value is not None:
            offered[name] = value
    if machine.clock_hz:
        offered["cycle"] = to_base(1.0, "cycle", machine.clock_hz)
    return offered


def network_values(model: Model, machine: Machine, given: Mapping[str, Any]) -> dict[str, Any]:
    """Dimensions and kind, for models of networks of that kind: others mean other things by `topology` and `n`.

    Sides kx, ky, kz of up to three dimensions of one kind, else the mean of their k_d; only n with a k_d that is
    given, and no k_d with sides that are. A dimension of one node is none. Raises ModelError for what the mean of k_d
    does not determine.
    """
    topology = machine.topology
    if not isinstance(topology, Cartesian):
        return {}
    sides = list(zip(topology.shape(), topology.wraps(), strict=True))
    if len(sides) > 3 or len({wrap for _, wrap in sides}) > 1:
        sides = [(size, wrap) for size, wrap in sides if size > 1] or sides[:1]
    wraps = {wrap for _, wrap in sides}
    kind = "mesh" if True not in wraps else "torus" if topology.both_ways() else "unidirectional_torus"
    kinds = [choice for parameter in model.parameters if parameter.name == "topology" for choice in parameter.choices]
    if kind not in (["mesh"] if model.name in _MESHES else kinds):
        return {}
    n = float(sum(size > 1 for size, _ in sides))
    if "k_d" in given:
        return {"n": n, "topology": kind} if n >= 1.0 else {"topology": kind}
    if len(sides) <= 3 and len(wraps) == 1:
        return {**{name: float(size) for name, (size, _) in zip(SIDES, sides, strict=False)}, "topology": kind}
    takes_k_d = any(parameter.name == "k_d" for parameter in model.parameters)
    if not takes_k_d or any(name in given for name in SIDES):
        return {"topology": kind}
    return {"k_d": _mean_k_d(machine.name, topology, n, given), "n": n, "topology": kind}


def _mean_k_d(name: str, topology: Cartesian, n: float, given: Mapping[str, Any]) -> float:
    """k_d, the mean over the n dimensions: of the topology that is given, else of the machine's own.

    Without messages to oneself it is N/(N-1) times as much for N nodes.
    """
    to_self = given.get("self_messages") != "no"
    own = f"machine {name} ({topology.describe()})"
    if "topology" in given:
        sides = [size for size in topology.shape() if size > 1]
        distances = tuple(map(float, mean_distances(sides, given["topology"], self_messages=to_self)))
    else:
        distances = topology.k_d(include_self=to_self)
        distances = tuple(k for k, size in zip(distances, topology.shape(), strict=True) if size > 1)
    if given.get("average") == "no" and max(distances) > min(distances) * (1.0 + 1e-12):
        raise ModelError(
            f"average=no: {own} enters by its mean k_d, as models take sides of up to three dimensions of one kind; "
            "leave average out"
        )
    if "n" in given and (np.asarray(given["n"]) != n).any():
        raise ModelError(f"n is given, and {own} has {n:g} dimensions: leave n out, or give k_d with it")
    return sum(distances) / n
