"""What a change that makes everything dearer, or everything cheaper, excludes.

The replay in recorded order is monotone (`logpost.replay.graph.cost_direction`). Programs nearly are: of 1,680
predictions of the coverage benchmark for slower machines, 26 true lengths lay below the recorded one, the lowest by
0.5 %; of 560 for faster ones 10 above it, by 0.002 %.
"""

from __future__ import annotations

import math

SLACK = 0.01
"""How far a program that gets dearer may be shorter all the same, as a share of its length: messages take another order
at a processor, a poll falls elsewhere."""


def bounded(interval: tuple[int, int], measured_ps: int, predicted_ps: int, towards: int) -> tuple[int, int]:
    """The interval without lengths that the direction excludes; the prediction stays in it."""
    low, high = interval
    if towards > 0:
        return max(low, min(predicted_ps, math.floor((1 - SLACK) * measured_ps))), high
    if towards < 0:
        return low, min(high, max(predicted_ps, math.ceil((1 + SLACK) * measured_ps)))
    return interval
