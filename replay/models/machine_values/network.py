"""The network's dimensions and kind, and what LoPC and LoGPC take from a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from logpost.machines import Machine
from logpost.machines.topologies import Cartesian
from logpost.replay.models.arrays import ModelError
from logpost.replay.models.interface import Model
from logpost.replay.models.kary_ncube import mean_distances
from logpost.replay.models.machine_values.locality import base

# Models of meshes only, which do not ask for the topology.
_MESHES = frozenset({"locality"})
_SIDES = ("kx", "ky", "kz")


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


def network_values(model: Model, machine: Machine, given: Mapping[str, Any]) -> dict[str, Any]:
    """Dimensions and kind, for models of networks of that kind: others mean other things by `topology` and `n`.

    Sides kx, ky, kz of up to three dimensions of one kind, else the mean of their k_d; only n beside a k_d that is
    given, and no k_d beside sides that are. Raises ModelError for what the mean of k_d cannot tell.
    """
    topology = machine.topology
    if not isinstance(topology, Cartesian):
        return {}
    shape, wraps = topology.shape(), topology.wraps()
    kind = "mesh" if not any(wraps) else "torus" if topology.both_ways() else "unidirectional_torus"
    names = {parameter.name for parameter in model.parameters}
    kinds = [choice for parameter in model.parameters if parameter.name == "topology" for choice in parameter.choices]
    if kind not in (["mesh"] if model.name in _MESHES else kinds):
        return {}
    if "k_d" in given:
        return {"n": float(len(shape)), "topology": kind}
    if len(shape) <= 3 and (not any(wraps) or all(wraps)):
        return {**dict(zip(_SIDES, map(float, shape), strict=False)), "topology": kind}
    if "k_d" not in names or any(name in given for name in _SIDES):
        return {"topology": kind}
    return {"k_d": _mean_k_d(machine.name, topology, given), "n": float(len(shape)), "topology": kind}


def _mean_k_d(name: str, topology: Cartesian, given: Mapping[str, Any]) -> float:
    """k_d, the mean over the dimensions: of the topology that is given, else of the machine's own.

    Without messages to oneself it is N/(N-1) times as much for N nodes.
    """
    to_self = given.get("self_messages") != "no"
    shape = topology.shape()
    if "topology" in given:
        distances = tuple(map(float, mean_distances(shape, given["topology"], self_messages=to_self)))
    else:
        distances = topology.k_d(include_self=to_self)
    if given.get("average") == "no" and max(distances) > min(distances) * (1.0 + 1e-12):
        raise ModelError(
            f"average=no: machine {name} ({topology.describe()}) enters by its mean k_d, as models take sides of up to "
            "three dimensions of one kind; leave average out"
        )
    if "n" in given and (np.asarray(given["n"]) != len(shape)).any():
        raise ModelError(
            f"n is given, and machine {name} ({topology.describe()}) has {len(shape)} dimensions: leave n out, or give "
            "k_d with it"
        )
    return sum(distances) / len(distances)
