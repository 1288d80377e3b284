"""Whether a scenario can only cost more than what was recorded, or only less.

The replay is monotone in every value of the machine and in the time between calls: nothing ends earlier because
something takes longer. Programs nearly are: of 1,680 predictions of the coverage benchmark for slower machines, 26 true
lengths lay below the recorded one, the lowest by 0.5 %; of 560 for faster ones 10 above it, by 0.002 %.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from logpost.machines.parameters import COLUMNS
from logpost.replay.whatif import Scenario

SLACK = 0.01
"""How far a program that gets dearer may be shorter all the same, as a share of its length: messages take another order
at a processor, a poll falls elsewhere."""


def direction(recorded: Scenario, scenario: Scenario) -> int:
    """1: nothing gets cheaper, something dearer; -1: the other way round; 0: both, neither, or what costs cannot tell
    (another machine, place, protocol or layout), or the recorded value is not known well enough."""
    if not _same_otherwise(recorded, scenario):
        return 0
    signs = [_sign_of_compute(scenario)]
    for column in COLUMNS:
        signs += _signs(recorded, scenario, column)
    found = {sign for sign in signs if sign != 0}
    return int(found.pop()) if len(found) == 1 and not math.isnan(next(iter(found))) else 0


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
        and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in _FIXED)
        and one.nics_per_node == other.nics_per_node
        and one.log3p is other.log3p
        and one.beyond_loggp is other.beyond_loggp
    )


_FIXED = ("max_bytes", "class_start", "eager_limit_bytes")


def _signs(recorded: Scenario, scenario: Scenario, column: str) -> list[float]:
    """Of each range of sizes: the sign of the change, the same for every recorded value within its uncertainty; NaN
    where it is not."""
    assert scenario.follows is not None
    old, new = (np.asarray(getattr(one.machine, column), dtype=np.float64) for one in (recorded, scenario))
    follows = scenario.follows.get(column, np.ones(old.shape))
    changed = (old != new) | (follows != 1.0)  # 16 times an L that was estimated at 0 is 0, and may be more
    error = np.nan_to_num(np.asarray(recorded.machine.errors[column], dtype=np.float64), nan=0.0)
    ends = [np.maximum(old - error, 0.0), old + error]
    # The planned value where the recorded one is at this end.
    by = [np.sign(new + follows * (end - old) - end) for end in ends]
    signs = np.where(by[0] == 0, by[1], np.where((by[1] == 0) | (by[0] == by[1]), by[0], np.nan))
    return list(signs[changed].tolist())


def _sign_of_compute(scenario: Scenario) -> float:
    factors: list[Any] = [np.asarray(scenario.compute)]
    factors += [one for one in (scenario.by_location, scenario.by_callpath) if one is not None]
    signs = {float(sign) for factor in factors for sign in np.sign(np.asarray(factor, dtype=np.float64) - 1.0).flat}
    signs.discard(0.0)
    return math.nan if len(signs) > 1 else next(iter(signs), 0.0)
