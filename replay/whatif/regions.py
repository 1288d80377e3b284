"""SENS's regions of a curve (Fig. 1 and 2): how the run time grows where a network becomes worse."""

from __future__ import annotations

HIDING, LATENCY, CONGESTION = "latency hiding", "latency dominated", "congestion dominated"
HIDDEN_BELOW = 0.05
"""Growth of the run time over the change of the setting, both as fractions: below it the change is hidden."""


def region(slope: float, *, congests: bool) -> str:
    """Which of SENS's regions a slope belongs to: hidden; up to linear; more than linear (where links can congest)."""
    if slope < HIDDEN_BELOW:
        return HIDING
    return CONGESTION if congests and slope > 1.0 else LATENCY
