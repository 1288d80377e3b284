"""Whether a scenario can only cost more than what was recorded, or only less.

The replay is monotone in every value of the machine and in the time between calls: nothing ends earlier because
something takes longer. Programs nearly are: of 1,680 predictions of the coverage benchmark for slower machines, 26 true
lengths lay below the recorded one, the lowest by 0.5 %; of 560 for faster ones 10 above it, by 0.002 %.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from logpost.machines.parameters import COLUMNS
from logpost.replay.whatif import Scenario

SLACK = 0.01
"""How far a program that gets dearer may be shorter all the same, as a share of its length: messages take another order
at a processor, a poll falls elsewhere."""
ROUNDING = 1e-12
"""Of a value: far above what a few operations on floats lose, far below what anyone sets."""


def direction(recorded: Scenario, scenario: Scenario) -> int:
    """1: nothing gets cheaper, something dearer; -1: the other way round; 0: both, neither, or what costs cannot tell
    (another machine, place, protocol or layout), or the recorded value is not known well enough."""
    if not _same_otherwise(recorded, scenario):
        return 0
    signs = np.concatenate([_of_compute(scenario), *(_of_column(recorded, scenario, column) for column in COLUMNS)])
    if (signs >= 0).all():
        return int((signs > 0).any())
    return -1 if (signs <= 0).all() else 0


def bounded(interval: tuple[int, int], measured_ps: int, predicted_ps: int, towards: int) -> tuple[int, int]:
    """The interval without lengths that the direction excludes; the prediction stays in it."""
    low, high = interval
    if towards > 0:
        return max(low, min(predicted_ps, math.floor((1 - SLACK) * measured_ps))), high
    if towards < 0:
        return low, min(high, max(predicted_ps, math.ceil((1 + SLACK) * measured_ps)))
    return interval


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
