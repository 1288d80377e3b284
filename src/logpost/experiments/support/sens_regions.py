"""SENS's regions of a sweep's curve (Fig. 1 and 2), and where two curves cross."""

from __future__ import annotations

from itertools import pairwise

from logpost.experiments.support.sens_sweep import Swept
from logpost.replay.graph.regions import region


def slopes(one: Swept, base: float) -> list[float]:
    """Growth of the run time over the change of x between neighbouring settings, as fractions of those at `base`."""
    start = one.at(base)
    return [
        ((t1 - t0) / start) / (abs(x1 - x0) / base)
        for (x0, t0), (x1, t1) in pairwise(zip(one.x, one.seconds, strict=True))
    ]


def regions_text(one: Swept, base: float, unit: str, *, congests: bool) -> str:
    """`latency hiding 18 to 9, latency dominated 9 to 3 B/cycle`: neighbouring intervals of one region joined."""
    joined: list[tuple[str, float, float]] = []
    for (x0, x1), slope in zip(pairwise(one.x), slopes(one, base), strict=True):
        name = region(slope, congests=congests)
        if joined and joined[-1][0] == name:
            joined[-1] = (name, joined[-1][1], x1)
        else:
            joined.append((name, x0, x1))
    return ", ".join(f"{name} {start:g} to {end:g}" for name, start, end in joined) + f" {unit}"


def crossings(one: Swept, other: Swept) -> list[float]:
    """Settings at which two curves change order, by linear interpolation, in the order of the sweep."""
    ahead = [a - b for a, b in zip(one.seconds, other.seconds, strict=True)]
    return [
        x0 + (x1 - x0) * d0 / (d0 - d1)
        for (x0, d0), (x1, d1) in pairwise(zip(one.x, ahead, strict=True))
        if (d0 < 0) != (d1 < 0)
    ]
