"""LogGP values by message size: those of the range that a size falls into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from logpost.machines import Machine
from logpost.replay.models.arrays import Number, scalar_or_array, values
from logpost.replay.models.interface import Model
from logpost.replay.models.machine_values.locality import base, locality_class

# Models whose o_s, L and G are those of long messages, whatever size a sweep starts with.
_BULK = frozenset({"logpc-long", "logpc-all-to-all-long", "diamond-dag"})
# As for the replay engine: what one range prints and another does not is 0 there.
_ZERO_WHERE_ABSENT = frozenset({"g", "o_s_per_byte", "o_r_per_byte"})
# Models whose messages have S bytes.
OVERLAP = frozenset({"overlap", "overlap-search"})


def loggp_values(model: Model, machine: Machine, given: Mapping[str, Any], locality: str) -> dict[str, Number]:
    """L, o_s, o_r, g, G, LogGOPS's O and S, and the overheads of long messages o_sl and o_rl."""
    table = locality_class(machine, locality)
    if table is None:
        return {}
    offered: dict[str, Number] = {}
    per_byte_is_o = "O" not in {parameter.name for parameter in model.parameters}
    size = "S" if model.name in OVERLAP else "B"
    sizes = np.asarray(values(size, given.get(size, 0.0)))
    ends = np.asarray([np.inf if r.up_to_bytes is None else float(r.up_to_bytes) for r in table.range])
    # Messages above the last range continue it, as in the replay engine.
    rows = np.minimum(np.searchsorted(ends, sizes, side="left"), len(ends) - 1)
    bulk = np.full_like(rows, len(ends) - 1)

    def column(name: str, where: np.ndarray[Any, Any]) -> Number | None:
        found = [base(machine, getattr(r, name)) for r in table.range]
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
    limit = base(machine, table.eager_limit)
    if limit is not None and not per_byte_is_o:
        # LogGOPS's S; elsewhere S is a message size or a number of sizes.
        offered["S"] = limit
    return offered
