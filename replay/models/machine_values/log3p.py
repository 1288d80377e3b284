"""log_3P's values by message size and stride."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from logpost.machines import Machine
from logpost.machines.schema import Log3PPoint
from logpost.replay.models.arrays import ModelError, Number, values
from logpost.replay.models.log3p import Log3PTable
from logpost.replay.models.machine_values.locality import base
from logpost.replay.models.tables import Line, Surface
from logpost.replay.models.units import PICOSECOND


def log3p_values(machine: Machine, given: Mapping[str, Any], wanted: Collection[str]) -> dict[str, Number]:
    """Of o_mw, o_net, T_mem and l_mw those that are wanted, at size B and, for l_mw, stride; nothing without B.

    Raises ModelError for another size than the only one that the machine has (T_mem is left out then: only a message
    to oneself needs it), and for strided data where it has no l_mw.
    """
    points = machine.log3p.point
    if not points or "B" not in given:
        return {}
    size = values("B", given["B"])
    offered: dict[str, Number] = {}
    for name in ("o_mw", "o_net", "T_mem"):
        found = {float(p.size_bytes): base(machine, getattr(p, name)) for p in points if getattr(p, name) is not None}
        if name not in wanted or not found:
            continue
        line = Line.through(((s, float(v or 0.0)) for s, v in found.items()), what=f"{machine.name}: {name}")
        if len(found) > 1 or (np.asarray(size) == line.x[0]).all():
            offered[name] = line(size)
        elif name != "T_mem":
            raise ModelError(f"machine {machine.name} gives {name} at B = {line.x[0]:g} only: take that size")
    if "l_mw" in wanted:
        offered["l_mw"] = _latency(machine, size, values("stride", given.get("stride", 0.0)))
    return offered


def _latency(machine: Machine, size: Number, stride: Number) -> Number:
    """l_mw at sizes and strides."""
    strided = [p for p in machine.log3p.point if p.stride_bytes is not None and p.l_mw is not None]
    table = _strided_table(machine, strided)
    if (np.asarray(stride) > table.block).any():
        if not strided:
            raise ModelError(
                f"machine {machine.name} has no l_mw: strided messages cannot be predicted; calibrate it, give "
                "--set l_mw=..., or take stride=0"
            )
        only = (float(strided[0].size_bytes), float(strided[0].stride_bytes or 0))
        asked = {(s, d) for s, d in np.broadcast(size, stride) if d > table.block}
        if len(strided) == 1 and asked != {only}:
            raise ModelError(
                f"machine {machine.name} gives l_mw at B = {only[0]:g}, stride = {only[1]:g} only: take these"
            )
    return table.latency_of_stride(size, stride)


def _strided_table(machine: Machine, strided: list[Log3PPoint]) -> Log3PTable:
    """l_mw alone; a stride of the points' block size is contiguous data."""
    points = [(float(p.size_bytes), float(p.stride_bytes or 0), float(base(machine, p.l_mw) or 0.0)) for p in strided]
    blocks = [float(p.block_bytes) for p in strided if p.block_bytes is not None]
    none = Line.through([(0.0, 0.0)], what="l_mw")
    return Log3PTable(
        o_mw=none,
        o_net=none,
        l_mw=Surface.through(points, what=f"{machine.name}: l_mw") if points else None,
        unit=PICOSECOND,
        block=min(blocks, default=0.0),
    )
