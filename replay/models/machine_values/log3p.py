"""log_3P's values by message size and stride."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from logpost.machines import Machine
from logpost.replay.models.arrays import ModelError, Number, values
from logpost.replay.models.log3p import Log3PTable
from logpost.replay.models.machine_values.locality import base
from logpost.replay.models.tables import Line, Surface
from logpost.replay.models.units import PICOSECOND


def log3p_values(machine: Machine, given: Mapping[str, Any]) -> dict[str, Number]:
    """o_mw, o_net, T_mem at size B and l_mw at (B, stride); nothing without B."""
    points = machine.log3p.point
    if not points or "B" not in given:
        return {}
    size = values("B", given["B"])
    stride = values("stride", given.get("stride", 0.0))
    offered: dict[str, Number] = {}
    for name in ("o_mw", "o_net", "T_mem"):
        found = {float(p.size_bytes): base(machine, getattr(p, name)) for p in points if getattr(p, name) is not None}
        if not found:
            continue
        line = Line.through(((s, float(v or 0.0)) for s, v in found.items()), what=f"{machine.name}: {name}")
        if len(found) == 1 and (np.asarray(size) != line.x[0]).any():
            raise ModelError(f"machine {machine.name} gives {name} at B = {line.x[0]:g} only: take that size")
        offered[name] = line(size)
    strided = [
        (float(p.size_bytes), float(p.stride_bytes), float(base(machine, p.l_mw) or 0.0))
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
