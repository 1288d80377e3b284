"""Whether nothing becomes cheaper in a scenario than it was as recorded, or nothing dearer.

In the recorded order a replay is monotone: the time of every event is the latest of sums of weights, a weight never
falls where its cost grows, and no weight depends on a time. So a program to which nothing becomes cheaper is not
shorter. Where messages or requests take another order that is not certain, as of every list of tasks (Graham 1969).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from logpost.machines.parameters import COLUMNS
from logpost.replay.graph.changes import Scenario

ROUNDING = 1e-12
"""Of a value: far above what a few operations on floats lose, far below what anyone sets."""


def direction(recorded: Scenario, scenario: Scenario) -> int:
    """1: nothing gets cheaper, something dearer; -1: the other way round; 0: both, neither, or not decided by costs
    (another machine, place, protocol or layout), or the recorded value is not known well enough."""
    if not _same_otherwise(recorded, scenario):
        return 0
    signs = np.concatenate([_of_compute(scenario), *(_of_column(recorded, scenario, column) for column in COLUMNS)])
    if (signs >= 0).all():
        return int((signs > 0).any())
    return -1 if (signs <= 0).all() else 0


def _same_otherwise(recorded: Scenario, scenario: Scenario) -> bool:
    one, other = recorded.machine, scenario.machine
    return (
        scenario.follows is not None
        and scenario.elsewhere is None
        and recorded.asynchronous_progress == scenario.asynchronous_progress
        and not scenario.overlapped
        and one.same_ranges(other)
        and np.array_equal(one.eager_limit_bytes, other.eager_limit_bytes)
        and one.nics_per_node == other.nics_per_node
        and one.log3p is other.log3p
        and one.beyond_loggp is other.beyond_loggp
    )


def _of_compute(scenario: Scenario) -> NDArray[np.float64]:
    factors = [one for one in (scenario.by_location, scenario.by_callpath) if one is not None]
    return np.sign(np.concatenate([[scenario.compute], *factors]) - 1.0)


def _of_column(recorded: Scenario, scenario: Scenario, column: str) -> NDArray[np.float64]:
    """The change's signs in each range of sizes, where the recorded value is at either end of its uncertainty."""
    assert scenario.follows is not None
    old, new = (np.asarray(getattr(one.machine, column), dtype=np.float64) for one in (recorded, scenario))
    follows = scenario.follows.get(column, np.ones(old.shape))
    changed = (old != new) | (follows != 1.0)  # 16 times an L that was estimated at 0 is 0, and may be more
    error = np.nan_to_num(np.asarray(recorded.machine.errors[column], dtype=np.float64), nan=0.0)
    ends = (np.maximum(old - error, 0.0), old + error)
    return np.concatenate([_signs(new + follows * (end - old), end, old)[changed] for end in ends])


def _signs(after: NDArray[np.float64], before: NDArray[np.float64], old: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of after - before; 0 where the difference is no more than what floats leave of differences with `old`.

    A sweep's x2 is 2 or the next float: twice what may be 0 must not come out as less than 0.
    """
    noise = ROUNDING * np.maximum(np.abs(old), np.maximum(np.abs(after), np.abs(before)))
    return np.where(np.abs(after - before) <= noise, 0.0, np.sign(after - before))
