"""The interval of a message's time from a machine's intervals: the costs with all values at their lowest and highest.

A time grows with each of the values, so these bound it. An estimate bounds the sum of L, o_s and o_r more narrowly than
each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from logpost.analyzer.run.manifest import MachineValue
from logpost.dashboards.figures.machine_curves import TimeBand
from logpost.machines import LOCALITIES, ReplayParameters
from logpost.machines.parameters import PARAMETERS
from logpost.replay.cost.message import message_costs
from logpost.replay.cost.parameters import native_parameters

CONSTANT = ("L", "o_s", "o_r")
SUM = "L + o_s + o_r"


def bounds(value: MachineValue) -> tuple[float, float] | None:
    """Lowest and highest of a value, as far as they are stated."""
    if value.low is not None and value.high is not None:
        return value.low, value.high
    if value.uncertainty is not None:
        return max(0.0, value.value - value.uncertainty), value.value + value.uncertainty
    return None


def time_bands(machine: ReplayParameters, values: Sequence[MachineValue], sizes: np.ndarray) -> dict[str, TimeBand]:
    """By locality, between which times a message's end lies; nothing where the machine states no interval.

    Args:
        machine: its values in picoseconds.
        values: the same with their intervals.
        sizes: bytes, ascending.
    """
    ends = []
    for end in (0, 1):
        columns: dict[str, Any] = {column: np.array(getattr(machine, column)) for column in PARAMETERS.values()}
        for value in values:
            known = bounds(value)
            if known is not None and value.parameter in PARAMETERS:
                columns[PARAMETERS[value.parameter]][_rows(machine, value)] = known[end]
        ends.append(native_parameters(replace(machine, **columns)))
    found = {}
    for locality in sorted({one.locality for one in values if bounds(one)}):
        low, high = (np.asarray(message_costs(one, sizes, locality=locality).total, dtype=np.float64) for one in ends)
        mine = [one for one in values if one.locality == locality]
        for total in (one for one in mine if one.parameter == SUM):
            known, apart = bounds(total), [bounds(one) for one in mine if one.parameter in CONSTANT]
            if known and len(apart) == len(CONSTANT) and all(apart):
                low = low + max(0.0, known[0] - sum(one[0] for one in apart if one))
                high = high - max(0.0, sum(one[1] for one in apart if one) - known[1])
        stated = [one for one in mine if one.parameter in PARAMETERS]
        found[locality] = TimeBand(low, np.maximum(high, low), measured=not all(one.bound_only for one in stated))
    return found


def _rows(machine: ReplayParameters, value: MachineValue) -> np.ndarray:
    """The rows of the table that the value is of."""
    at = LOCALITIES.index(value.locality)
    mine = np.arange(int(machine.class_start[at]), int(machine.class_start[at + 1]))
    if value.up_to_bytes is None:
        return mine[-1:]
    return np.asarray(mine[machine.max_bytes[mine] == value.up_to_bytes])
