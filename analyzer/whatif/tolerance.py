"""How much of a parameter the program bears: the factors at which its makespan grows by 1, 2, 5 and 10 %."""

from __future__ import annotations

from dataclasses import dataclass

from logpost.replay.whatif.breakpoints import Tangents, reached

TOLERATED = (1, 2, 5, 10)
"""growth of the makespan in percent"""


@dataclass(frozen=True)
class Tolerance:
    """The factor of a parameter at which the makespan has grown by `percent`; None: not up to LARGEST_FACTOR."""

    percent: int
    factor: float | None


def tolerances(tangents: Tangents) -> list[Tolerance]:
    """`tangents` replays factors of the parameter."""
    (unchanged,) = tangents([1.0])
    if unchanged.makespan_ps <= 0:
        return [Tolerance(percent, None) for percent in TOLERATED]
    factors = reached(tangents, [unchanged.makespan_ps * (1 + percent / 100) for percent in TOLERATED])
    return [Tolerance(*found) for found in zip(TOLERATED, factors, strict=True)]
