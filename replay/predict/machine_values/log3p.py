"""log_3P's values by message size, block and stride."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from logpost.machines import Machine
from logpost.replay.cost.arrays import ModelError, Number, values
from logpost.replay.cost.message import message_costs
from logpost.replay.predict.machine_values.stated import Stated, stated


def log3p_values(
    machine: Machine, given: Mapping[str, Any], wanted: Collection[str], locality: str
) -> dict[str, Number]:
    """Of o_mw, o_net, T_mem and l_mw the wanted ones, at size B and, for l_mw, block and stride; nothing without B.

    Raises ModelError for another size than the only one that the machine has (T_mem is left out then: only a message
    to oneself needs it), and for strided data where it has no l_mw.
    """
    points = machine.log3p.point
    if not points or "B" not in given:
        return {}
    size = values("B", given["B"])
    known = stated(machine, locality)
    offered: dict[str, Number] = {}
    for name in ("o_mw", "o_net", "T_mem"):
        found = {float(p.size_bytes) for p in points if getattr(p, name) is not None}
        if name not in wanted or not found:
            continue
        only = min(found)
        if len(found) > 1 or (np.asarray(size) == only).all():
            offered[name] = known.lines[name](size)
        elif name != "T_mem":
            raise ModelError(f"machine {machine.name} gives {name} at B = {only:g} only: take that size")
    if "l_mw" in wanted:
        block, stride = (values(name, given.get(name, 0.0)) for name in ("block", "stride"))
        offered["l_mw"] = _latency(machine, known, size, block, stride)
    return offered


def _latency(machine: Machine, known: Stated, size: Number, block: Number, stride: Number) -> Number:
    """l_mw at sizes, blocks and strides."""
    strided = [p for p in machine.log3p.point if p.stride_bytes is not None and p.l_mw is not None]
    own = np.where(np.asarray(block) > 0.0, block, known.parameters.block_bytes)
    has_gaps = np.asarray(stride) > own
    if has_gaps.any():
        if not strided:
            raise ModelError(
                f"machine {machine.name} has no l_mw: strided messages cannot be predicted; calibrate it, give "
                "--set l_mw=..., or take stride=0"
            )
        only = (float(strided[0].size_bytes), float(strided[0].stride_bytes or 0))
        other = (np.asarray(size) != only[0]) | (np.asarray(stride) != only[1])
        if len(strided) == 1 and (other & has_gaps).any():
            raise ModelError(
                f"machine {machine.name} gives l_mw at B = {only[0]:g}, stride = {only[1]:g} only: take these"
            )
    return message_costs(known.parameters, size, block=block, stride=stride).l_mw
