"""The network's dimensions and kind, and what LoPC and LoGPC take from a machine."""

from __future__ import annotations

from typing import Any

from logpost.machines import Machine
from logpost.machines.topologies import Cartesian
from logpost.replay.models.interface import Model
from logpost.replay.models.machine_values.locality import base

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
        offered["cycle"] = 1e12 / machine.clock_hz
    return offered


def network_values(model: Model, machine: Machine) -> dict[str, Any]:
    """Dimensions and kind, for models of networks of that kind: others mean other things by `topology` and `n`."""
    topology = machine.topology
    if not isinstance(topology, Cartesian):
        return {}
    shape, wraps = topology.shape(), topology.wraps()
    kind = "mesh" if not any(wraps) else "torus" if topology.both_ways() else "unidirectional_torus"
    kinds = [choice for parameter in model.parameters if parameter.name == "topology" for choice in parameter.choices]
    if kind not in (["mesh"] if model.name in _MESHES else kinds):
        return {}
    if len(shape) > 3 or (any(wraps) and not all(wraps)):
        mean = sum(topology.k_d()) / len(shape)
        return {"k_d": mean, "n": float(len(shape)), "topology": kind}
    return {**dict(zip(("kx", "ky", "kz"), map(float, shape), strict=False)), "topology": kind}
