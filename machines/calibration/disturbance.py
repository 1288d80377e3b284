"""Whether the machine was alone while it was measured.

A calibration on a machine that also does other work measures the scheduler: single rounds then take many times as long
as others, without any pattern that an interval over a few rounds could hold. What a quiet machine does from round to
round (clock, placement) stays within a small factor.
"""

from __future__ import annotations

from logpost.machines.calibration.samples import DELAYED, Samples

FACTOR = 10.0
"""Longest over shortest round of a point that only other load explains."""
SHARE = 0.05
"""Share of such points from which the calibration is not to be trusted. Quiet runs had at most 2 %, busy ones 9 %."""


def disturbed(samples: Samples) -> str:
    """A sentence when other load disturbed the measurement, else nothing."""
    # The protocol's points wait on purpose, and are divided by more than their time.
    timed = [p.time.rounds_s for p in samples.points if p.family not in DELAYED]
    points = [rounds for rounds in timed if len(rounds) > 2 and min(rounds) > 0.0]
    wild = sum(max(rounds) > FACTOR * min(rounds) for rounds in points)
    if not points or wild <= SHARE * len(points):
        return ""
    return (
        f"other load disturbed the measurement: {wild} of {len(points)} points took more than {FACTOR:.0f} times as "
        "long in one round as in another; measure again on a quiet machine"
    )
