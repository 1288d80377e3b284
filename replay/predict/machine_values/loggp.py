"""LogGP values by message size: those of the range that a size falls into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.machines import Machine
from logpost.replay.cost.arrays import Number, scalar_or_array, values
from logpost.replay.cost.message import range_of
from logpost.replay.models.interface import Model
from logpost.replay.predict.machine_values.locality import base, locality_class
from logpost.replay.predict.machine_values.stated import stated

# Models whose o_s, L and G are those of long messages, whatever size a sweep starts with.
_BULK = frozenset({"logpc-long", "logpc-all-to-all-long", "diamond-dag"})
# Models whose messages have S bytes.
OVERLAP = frozenset({"overlap", "overlap-search"})


def loggp_values(model: Model, machine: Machine, given: Mapping[str, Any], locality: str) -> dict[str, Number]:
    """L, o_s, o_r, g, G, LogGOPS's O and S, and the overheads of long messages o_sl and o_rl."""
    table = locality_class(machine, locality)
    if table is None:
        return {}
    known = stated(machine, locality)
    offered: dict[str, Number] = {}
    per_byte_is_o = "O" not in {parameter.name for parameter in model.parameters}
    size = "S" if model.name in OVERLAP else "B"
    sizes = np.asarray(values(size, given.get(size, 0.0)))
    rows = range_of(known.parameters, sizes, locality)
    bulk = np.full_like(rows, len(known.up_to_bytes) - 1)

    def column(name: str, where: NDArray[np.int64]) -> Number | None:
        if name not in known.ranges:
            return None
        taken = known.ranges[name][where]
        return None if np.isnan(taken).any() else scalar_or_array(taken)

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
    limit = base(machine, table.eager_limit)
    if limit is not None and not per_byte_is_o:
        # LogGOPS's S; elsewhere S is a message size or a number of sizes.
        offered["S"] = limit
    return offered
