"""A machine's numbers under the parameter names of the models, in picoseconds and bytes.

What a machine file gives is offered; what it does not give stays missing, and the model then says so by name.
Values that depend on the message size are taken at the size asked for, so that a sweep over B follows
the machine's piecewise lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from logpost.machines import LOCALITIES, Machine
from logpost.machines.quantity import Quantity
from logpost.machines.schema import LocalityClass
from logpost.machines.topologies import Cartesian
from logpost.replay.models.arrays import ModelError, Number, scalar_or_array, values
from logpost.replay.models.interface import Model
from logpost.replay.models.log3p import Log3PTable
from logpost.replay.models.overlap import is_interleaved
from logpost.replay.models.overlap_profile import Level, OverlapProfile, Pattern
from logpost.replay.models.tables import Line, Surface
from logpost.replay.models.units import PICOSECOND

# Models whose o_s, L and G are those of long messages, whatever size a sweep starts with.
_BULK = frozenset({"logpc-long", "logpc-all-to-all-long", "diamond-dag"})
# As for the replay engine: what one range prints and another does not is 0 there.
_ZERO_WHERE_ABSENT = frozenset({"g", "o_s_per_byte", "o_r_per_byte"})
# Models of meshes only, which do not ask for the topology.
_MESHES = frozenset({"locality"})
_OVERLAP = frozenset({"overlap", "overlap-search"})


def machine_values(
    model: Model, machine: Machine, given: Mapping[str, Any], *, locality: str = "other_node"
) -> dict[str, Any]:
    """Values of ``machine`` for the parameters of ``model`` that ``given`` does not set; times in ps.

    ``given`` also selects: B (or S), stride, b, P. Raises ModelError for a locality class that does not exist or
    that the machine has no values for.
    """
    offered: dict[str, Any] = {}
    offered.update(_loggp(model, machine, given, locality))
    offered.update(_logpc(model, machine))
    offered.update(_network(model, machine))
    if {"o_mw", "o_net"} & {parameter.name for parameter in model.parameters}:
        offered.update(_log3p(machine, given))
    if model.name in _OVERLAP:
        offered.update(_overlap(model, machine, given, offered, locality))
    wanted = {parameter.name for parameter in model.parameters}
    return {name: value for name, value in offered.items() if name in wanted and name not in given}


def _base(machine: Machine, quantity: Quantity | None) -> float | None:
    return None if quantity is None else quantity.base(machine.clock_hz)


def _class(machine: Machine, locality: str) -> LocalityClass | None:
    if locality not in LOCALITIES:
        raise ModelError(f"{locality!r} is no locality class; choose {', '.join(LOCALITIES)}")
    found = machine.loggp.of(locality)
    if found is None and any(machine.loggp.of(other) for other in LOCALITIES):
        have = [other for other in LOCALITIES if machine.loggp.of(other)]
        raise ModelError(f"machine {machine.name} has no LogGP values for {locality}; it has {', '.join(have)}")
    return found


def _loggp(model: Model, machine: Machine, given: Mapping[str, Any], locality: str) -> dict[str, Number]:
    table = _class(machine, locality)
    if table is None:
        return {}
    offered: dict[str, Number] = {}
    per_byte_is_o = "O" not in {parameter.name for parameter in model.parameters}
    sizes = np.asarray(given.get("S" if model.name in _OVERLAP else "B", 0.0), dtype=np.float64)
    ends = np.asarray([np.inf if r.up_to_bytes is None else float(r.up_to_bytes) for r in table.range])
    # Messages above the last range continue it, as in the replay engine.
    rows = np.minimum(np.searchsorted(ends, sizes, side="left"), len(ends) - 1)
    bulk = np.full_like(rows, len(ends) - 1)

    def column(name: str, where: np.ndarray[Any, Any]) -> Number | None:
        found = [_base(machine, getattr(r, name)) for r in table.range]
        if name == "L":
            found = [
                one if one is not None or r.round_trip_L is None else r.round_trip_L.base(machine.clock_hz) / 2.0
                for one, r in zip(found, table.range, strict=True)
            ]
        if name in _ZERO_WHERE_ABSENT and any(one is not None for one in found):
            found = [one or 0.0 for one in found]
        taken = [found[int(i)] for i in np.ravel(where)]
        if any(one is None for one in taken):
            return None
        return scalar_or_array(np.asarray(taken, dtype=np.float64).reshape(where.shape))

    at = bulk if model.name in _BULK else rows
    for name in ("L", "o_s", "o_r", "g", "G"):
        value = column(name, at)
        if value is not None:
            offered[name] = value
    for name, per_byte in (("o_s", "o_s_per_byte"), ("o_r", "o_r_per_byte")):
        slope = column(per_byte, at)
        if slope is not None and per_byte_is_o and name in offered:
            offered[name] = offered[name] + slope * scalar_or_array(sizes)
    slopes = [column(name, at) for name in ("o_s_per_byte", "o_r_per_byte")]
    if any(slope is not None for slope in slopes):
        offered["O"] = sum((slope for slope in slopes if slope is not None), start=np.asarray(0.0)) / 2.0
    # The link's own gap: contention and the DMA see long messages.
    link = column("G", bulk)
    if link is not None and {"units", "G_m"} & {parameter.name for parameter in model.parameters}:
        offered["G"] = link
    for name, symbol in (("o_sl", "o_s"), ("o_rl", "o_r")):
        value = column(symbol, bulk)
        if value is not None:
            offered[name] = value
    limit = _base(machine, table.eager_limit)
    if limit is not None and not per_byte_is_o:
        # LogGOPS's S; elsewhere S is a message size or a number of sizes.
        offered["S"] = limit
    return offered


def _logpc(model: Model, machine: Machine) -> dict[str, Any]:
    offered: dict[str, Any] = {"units": machine.logpc.channel_load}
    for name, quantity in (("G_m", machine.logpc.G_m), ("a", machine.logpc.header_before_interrupt)):
        value = _base(machine, quantity)
        if value is not None:
            offered[name] = value
    if machine.clock_hz:
        offered["cycle"] = 1e12 / machine.clock_hz
    return offered


def _network(model: Model, machine: Machine) -> dict[str, Any]:
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


def _log3p(machine: Machine, given: Mapping[str, Any]) -> dict[str, Number]:
    """o_mw, o_net, T_mem at size B and l_mw at (B, stride); nothing without B."""
    points = machine.log3p.point
    if not points or "B" not in given:
        return {}
    size = values("B", given["B"])
    stride = values("stride", given.get("stride", 0.0))
    offered: dict[str, Number] = {}
    for name in ("o_mw", "o_net", "T_mem"):
        found = {float(p.size_bytes): _base(machine, getattr(p, name)) for p in points if getattr(p, name) is not None}
        if not found:
            continue
        line = Line.through(((s, float(v or 0.0)) for s, v in found.items()), what=f"{machine.name}: {name}")
        if len(found) == 1 and (np.asarray(size) != line.x[0]).any():
            raise ModelError(f"machine {machine.name} gives {name} at B = {line.x[0]:g} only: take that size")
        offered[name] = line(size)
    strided = [
        (float(p.size_bytes), float(p.stride_bytes), float(_base(machine, p.l_mw) or 0.0))
        for p in points
        if p.stride_bytes is not None and p.l_mw is not None
    ]
    if not (np.asarray(stride) > 0.0).any():
        offered["l_mw"] = 0.0
    elif strided:
        asked = [(s, d) for s, d in np.broadcast(size, stride) if d > 0.0]
        if len(strided) == 1 and set(asked) != {strided[0][:2]}:
            raise ModelError(
                f"machine {machine.name} gives l_mw at B = {strided[0][0]:g}, stride = {strided[0][1]:g} only: take "
                f"these"
            )
        zero = Line.through([(0.0, 0.0)], what="l_mw")
        table = Log3PTable(
            o_mw=zero, o_net=zero, l_mw=Surface.through(strided, what=f"{machine.name}: l_mw"), unit=PICOSECOND
        )
        offered["l_mw"] = table.latency_of_stride(size, stride)
    return offered


def overlap_profile(machine: Machine, *, locality: str = "other_node") -> OverlapProfile | None:
    """The machine's o(S,b) and G(P,S) tables in ps; None when it has none."""
    o, G = machine.overlap.o, machine.overlap.G
    if not o or not G:
        return None
    latency = _latency(machine, locality)
    if latency is None:
        raise ModelError(f"machine {machine.name} has o(S,b) and G(P,S) but no L for {locality}")
    patterns = {"nearest-neighbour": "N", "cross-section": "C"}
    return OverlapProfile.from_tables(
        overhead=[(float(p.size_bytes), float(p.burst), p.o.base(machine.clock_hz)) for p in o],
        gap=[
            (
                float(p.processors),
                float(p.size_bytes),
                cast(Pattern, patterns[p.pattern]),
                cast(Level, p.level[0]),
                p.G.base(machine.clock_hz),
            )
            for p in G
        ],
        L_roundtrip=2.0 * latency,
        unit=PICOSECOND,
        HD=_base(machine, machine.overlap.HD) or float("inf"),
        outstanding_bytes=_base(machine, machine.overlap.outstanding) or float("inf"),
    )


def _latency(machine: Machine, locality: str) -> float | None:
    table = _class(machine, locality)
    if table is None:
        return None
    for r in table.range:
        if r.L is not None:
            return r.L.base(machine.clock_hz)
        if r.round_trip_L is not None:
            return r.round_trip_L.base(machine.clock_hz) / 2.0
    return None


def _overlap(
    model: Model, machine: Machine, given: Mapping[str, Any], offered: Mapping[str, Any], locality: str
) -> dict[str, Any]:
    """Round-trip L, the limits, and o and G from the tables, or else from LogGP."""
    found: dict[str, Any] = {}
    if "L" in offered:
        found["L"] = 2.0 * offered["L"]
    for name, quantity in (("HD", machine.overlap.HD), ("outstanding", machine.overlap.outstanding)):
        value = _base(machine, quantity)
        if value is not None:
            found[name] = value
    if {"o_s", "o_r"} <= offered.keys():
        found["o"] = offered["o_s"] + offered["o_r"]
    profile = overlap_profile(machine, locality=locality)
    if profile is None:
        return found
    if model.name == "overlap-search":
        # o and G come from the tables at every point of the search.
        return {**found, "profile": profile, "o": 0.0, "G": 1.0}
    if "S" in given:
        interleaved = is_interleaved(given.get("topology", ""))
        gap: Callable[[Any], Number] = lambda size: profile.G(given.get("P", 2.0), size, interleaved=interleaved)  # noqa: E731
        found.update(o=profile.o(given["S"], given.get("b", 1.0)), G=gap(given["S"]))
        if "V" in given:
            found["G_V"] = gap(given["V"])
    return found
