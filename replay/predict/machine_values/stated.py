"""What a machine states of messages, complete or not, for the function that every message's cost comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logpost.machines import LOCALITIES, Machine
from logpost.machines.parameters import PARAMETERS, UNKNOWN_LIMIT, UNLIMITED
from logpost.machines.parameters.loggp import beyond_loggp, log3p_table
from logpost.machines.schema import Range
from logpost.replay._native import Parameters
from logpost.replay.cost.parameters import build, lines_by_size
from logpost.replay.cost.tables import Line
from logpost.replay.predict.machine_values.locality import base, class_taken

# As for the replay engine: what one range gives and another does not is 0 there.
_ZERO_WHERE_ABSENT = frozenset({"g", "o_s_per_byte", "o_r_per_byte"})


@dataclass(frozen=True, eq=False)
class Stated:
    """The ranges of one locality class by parameter, log3P's lines over the size, and the native parameters.

    A value is NaN where a range does not give it; a parameter that no range gives, and a line without points, are left
    out. Without LogGP values there is one empty range.
    """

    locality: str
    ranges: dict[str, NDArray[np.float64]]
    up_to_bytes: NDArray[np.float64]
    lines: dict[str, Line]
    parameters: Parameters


def stated(machine: Machine, locality: str) -> Stated:
    """The machine's values for the class, or for its substitute; raises ModelError for what is no class."""
    donor = class_taken(machine, locality)
    table = None if donor is None else machine.loggp.of(donor)
    ranges: Sequence[Range] = [Range()] if table is None else table.range
    columns = {name: _column(machine, ranges, name) for name in PARAMETERS}
    ends = np.array([UNLIMITED if r.up_to_bytes is None else r.up_to_bytes for r in ranges], dtype=np.int64)
    limit = None if table is None else table.eager_limit
    # One class serves for all: only that of `locality` is read.
    everywhere = {name: np.tile(column, len(LOCALITIES)) for name, column in columns.items()}
    of_each = np.arange(len(LOCALITIES) + 1, dtype=np.int64) * len(ranges)
    log3p = log3p_table(machine)
    eager = UNKNOWN_LIMIT if limit is None else round(limit.base())
    return Stated(
        locality=locality,
        ranges={name: column for name, column in columns.items() if not np.isnan(column).all()},
        up_to_bytes=np.where(ends == UNLIMITED, np.inf, ends),
        lines=lines_by_size(log3p),
        parameters=build(
            class_start=of_each,
            max_bytes=np.tile(ends, len(LOCALITIES)),
            ranges={
                name: np.nan_to_num(column) if name in _ZERO_WHERE_ABSENT else column
                for name, column in everywhere.items()
            },
            eager_limit=np.full(len(LOCALITIES), eager, dtype=np.int64),
            across_network=np.full(len(LOCALITIES), donor in (None, "other_node")),
            log3p_table=log3p,
            beyond_loggp=beyond_loggp(machine),
        ),
    )


def _column(machine: Machine, ranges: Sequence[Range], name: str) -> NDArray[np.float64]:
    found = [base(machine, getattr(r, name)) for r in ranges]
    if name == "L":
        found = [
            one if one is not None or r.round_trip_L is None else r.round_trip_L.base(machine.clock_hz) / 2.0
            for one, r in zip(found, ranges, strict=True)
        ]
    if name in _ZERO_WHERE_ABSENT and any(one is not None for one in found):
        found = [one or 0.0 for one in found]
    return np.array([np.nan if one is None else one for one in found], dtype=np.float64)
