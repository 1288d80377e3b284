"""SENS's regions of a curve (Fig. 1 and 2): how the run time grows where a network becomes worse.

Between two neighbouring points of a sweep the region is that of the elasticity d ln T / d ln s, s being the setting
turned so that a larger one is worse. Neighbours of one region are one band.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

HIDING, LATENCY, CONGESTION = "latency hiding", "latency dominated", "congestion dominated"
HIDDEN_BELOW = 0.05
"""Growth of the run time over the change of the setting, both as fractions: below it the change is hidden."""


@dataclass(frozen=True)
class Band:
    """A stretch of a setting's axis that is one region."""

    begin: float
    end: float
    name: str


def region(slope: float, *, congests: bool) -> str:
    """Which of SENS's regions a slope belongs to: hidden; up to linear; more than linear (where links can congest)."""
    if slope < HIDDEN_BELOW:
        return HIDING
    return CONGESTION if congests and slope > 1.0 else LATENCY


def bands(
    settings: Sequence[float], times: Sequence[float], *, worse_upwards: bool, congests: bool = True
) -> list[Band]:
    """The bands in the order of the settings; none where a setting or a time is not positive.

    Args:
        settings: ascending or descending.
        times: of the run, by setting.
        worse_upwards: False: of a bandwidth.
        congests: whether messages wait for each other in the network.
    """
    if any(value <= 0 for value in (*settings, *times)):
        return []
    found: list[Band] = []
    for (begin, before), (end, after) in pairwise(zip(settings, times, strict=True)):
        if end == begin:
            continue
        elasticity = math.log(after / before) / math.log(end / begin)
        name = region(elasticity if worse_upwards else -elasticity, congests=congests)
        joined = bool(found) and found[-1].name == name
        found[-1 if joined else len(found) :] = [Band(found[-1].begin if joined else begin, end, name)]
    return found
