"""One parameter as an axis: the machine at x is `at_zero` + x `step`, range by range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from logpost.machines import LOCALITIES, ReplayParameters
from logpost.machines.parameters import COLUMNS
from logpost.machines.parameters import PARAMETERS as COLUMN_OF
from logpost.replay.graph.changes import PARAMETERS, Scenario, changed


@dataclass(frozen=True)
class Direction:
    """`unit` has 1 for each value that moves: with it, a path's length counts how often the path has the parameter."""

    scenario: Scenario
    at_zero: ReplayParameters
    step: ReplayParameters
    unit: ReplayParameters


def direction(scenario: Scenario, name: str, *, factor: bool) -> Direction:
    """The axis of a parameter, `name` as in a setting; x is a factor of the scenario's, or picoseconds (per byte).

    Raises:
        InputError: there is no such parameter or locality.
    """
    at_zero = changed(scenario, [f"{name}=x0"]).machine
    where, _, symbol = name.rpartition(".")
    localities = (where,) if where else LOCALITIES
    mine = np.isin(scenario.machine.class_id, [LOCALITIES.index(one) for one in localities])
    moved = [COLUMN_OF[one] for one in PARAMETERS[symbol][1]]
    unit = _with_columns(at_zero, {column: mine * (1.0 if column in moved else 0.0) for column in COLUMNS})
    if not factor:
        return Direction(scenario, at_zero, unit, unit)
    grown = {column: getattr(scenario.machine, column) - getattr(at_zero, column) for column in COLUMNS}
    return Direction(scenario, at_zero, _with_columns(at_zero, grown), unit)


def _with_columns(machine: ReplayParameters, values: dict[str, Any]) -> ReplayParameters:
    columns: dict[str, Any] = {
        column: np.asarray(value).astype(getattr(machine, column).dtype) for column, value in values.items()
    }
    return replace(machine, **columns)
