"""How sure a prediction is: what the machine's intervals and what the model does not explain make of it.

    interval = T - sqrt(sum of falls^2), T + sqrt(sum of rises^2)

One term for each of the machine's values that states an uncertainty and that the scenario changes: the replay at both
ends of the error of the change. Two more for the trace: the residual on the predicted critical path, as if it changed
in the proportion in which the modelled communication on it changed; and the run's deficit share of the predicted
change (the machine that the trace was split with is too slow by it). And one for the order of messages, a fall: the
replay keeps the recorded one at every NIC, and where messages overtake each other, the earlier one waits for the later
one. A replay in which it does not takes less: by as much more than it does for the recorded scenario. Unchanged, every
term is 0.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from logpost.machines.parameters import COLUMNS
from logpost.replay.whatif import Engine, Outcome, Scenario

MODELLED = (
    "send_overhead",
    "latency",
    "serialization",
    "endpoint_contention",
    "network_contention",
    "recv_overhead",
    "handshake",
    "collective",
)


def interval_ps(
    engine: Engine, scenario: Scenario, before: Outcome, after: Outcome, deficit_share: float
) -> tuple[int, int]:
    """Lower and upper end of the predicted makespan."""
    rises = falls = 0.0
    columns = [column for column in COLUMNS if np.any(scenario.errors.get(column, np.zeros(1)) > 0)]
    ends = [_moved(scenario, column, sign) for column in columns for sign in (-1.0, 1.0)]
    found = [makespan - after.makespan_ps for makespan in engine.makespans(ends)] if ends else []
    for low, high in zip(found[::2], found[1::2], strict=True):
        rises += max(low, high, 0) ** 2
        falls += max(-low, -high, 0) ** 2
    falls += _of_order(engine, scenario, before, after) ** 2
    for one in (_of_residual(before, after), deficit_share * abs(after.makespan_ps - before.makespan_ps)):
        rises += one**2
        falls += one**2
    return (
        max(0, math.floor(after.makespan_ps - math.sqrt(falls))),
        math.ceil(after.makespan_ps + math.sqrt(rises)),
    )


def _moved(scenario: Scenario, column: str, sign: float) -> Scenario:
    values = getattr(scenario.machine, column)
    moved = np.maximum(values + sign * scenario.errors[column], 0.0)
    columns: dict[str, Any] = {
        column: np.rint(moved).astype(values.dtype) if values.dtype.kind == "i" else moved.astype(values.dtype)
    }
    return replace(scenario, machine=replace(scenario.machine, **columns))


def _of_order(engine: Engine, scenario: Scenario, before: Outcome, after: Outcome) -> float:
    loosened = [
        outcome.makespan_ps - engine.makespans([one], released=True)[0]
        for one, outcome in ((engine.recorded, before), (scenario, after))
    ]
    return float(max(loosened[1] - loosened[0], 0))


def _of_residual(before: Outcome, after: Outcome) -> float:
    modelled = [sum(outcome.path_ps[part] for part in MODELLED) for outcome in (before, after)]
    if modelled[0] == modelled[1]:
        return 0.0
    residual = abs(after.path_ps["residual"])
    return residual * min(1.0, abs(modelled[1] - modelled[0]) / max(modelled[0], 1))
