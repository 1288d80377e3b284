"""How much of a parameter the program bears: the factors at which its makespan grows by 1, 2, 5 and 10 %."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from logpost.replay.graph.breakpoints import LARGEST_FACTOR, Tangents, reached

TOLERATED = (1, 2, 5, 10)
"""growth of the makespan in percent"""
FIRST = 1.0 + np.geomspace(1e-3, LARGEST_FACTOR - 1.0, 8)
"""factors that are replayed at first where the makespan is not convex"""
PRECISION = 1e-3
"""how far apart two replayed factors may be, between which a target lies, as a share of the factor"""


@dataclass(frozen=True)
class Tolerance:
    """The factor of a parameter at which the makespan has grown by `percent`; None: not up to LARGEST_FACTOR."""

    percent: int
    factor: float | None
    value: float | None = None
    """the parameter's value there, in ps (per byte), where a sweep is one over values; None: not up to LARGEST_FACTOR
    times the largest one"""


def tolerances(factors: Tangents, values: Tangents | None = None, largest: float = 0.0) -> list[Tolerance]:
    """Exact, where the makespan is convex.

    Args:
        factors: replays factors of the parameter.
        values: replays values of it, if they are requested.
        largest: of the requested values.
    """
    (unchanged,) = factors([1.0])
    if unchanged.makespan_ps <= 0:
        return [Tolerance(percent, None) for percent in TOLERATED]
    targets = [unchanged.makespan_ps * (1 + percent / 100) for percent in TOLERATED]
    at: list[float | None] = [None] * len(targets)
    if values is not None:
        at = reached(values, targets, start=0.0, end=largest * LARGEST_FACTOR)
    return [Tolerance(*found) for found in zip(TOLERATED, reached(factors, targets), at, strict=True)]


def sampled_tolerances(
    makespans: Callable[[Sequence[float]], Sequence[int]],
    factors_as_at: Callable[[float], Tangents] | None = None,
    replayed: Mapping[float, int] = MappingProxyType({}),
) -> list[Tolerance]:
    """Where the makespan is not convex: between two factors that were replayed, `PRECISION` apart.

    It may have grown as much, and fallen again, between factors that were not replayed. What one target's search finds
    serves the others.

    Args:
        makespans: replays factors of the parameter.
        factors_as_at: what replays factors in the order in which messages arrive at one of them. The makespan is convex
            there, and where it reaches a target between the two factors is exact in that order. None: it is never
            convex.
        replayed: makespans by factors that are known; below 1 they are not looked at.
    """
    known = {factor: makespan for factor, makespan in replayed.items() if factor >= 1.0}
    if 1.0 not in known:
        known[1.0] = makespans([1.0])[0]
    if known[1.0] <= 0:
        return [Tolerance(percent, None) for percent in TOLERATED]
    targets = {percent: known[1.0] * (1 + percent / 100) for percent in TOLERATED}
    open_ended = any(_ends(known, target) is None for target in targets.values())
    trials = sorted(set(FIRST.tolist()) - known.keys()) if open_ended else []
    while True:
        if trials:
            known |= dict(zip(trials, makespans(trials), strict=True))
        ends = {percent: _ends(known, target) for percent, target in targets.items()}
        between = [
            _between(known, *found, targets[percent])
            for percent, found in ends.items()
            if found is not None and found[1] - found[0] > PRECISION * found[1]
        ]
        trials = sorted({factor for factors in between for factor in factors} - known.keys())
        if not trials:
            break
    return [
        Tolerance(percent, found and _reached(*found, targets[percent], factors_as_at))
        for percent, found in ends.items()
    ]


def _reached(low: float, high: float, target: float, factors_as_at: Callable[[float], Tangents] | None) -> float:
    if factors_as_at is None:
        return high
    (at,) = reached(factors_as_at(high), [target], start=low, end=high)
    return high if at is None else max(low, at)


def _ends(known: dict[float, int], target: float) -> tuple[float, float] | None:
    """The first replayed factor that reaches the target, and the one before it."""
    factors = sorted(known)
    return next(((low, high) for low, high in pairwise(factors) if known[high] >= target), None)


def _between(known: dict[float, int], low: float, high: float, target: float) -> list[float]:
    """Factors around the one at which the line between two reaches the target, near enough if it is one, and the middle
    of the larger rest."""
    at = low + (high - low) * (target - known[low]) / (known[high] - known[low])
    around = [one for one in (at * (1 - PRECISION / 2), at * (1 + PRECISION / 2)) if low < one < high]
    rests = [(low, around[0]), (around[-1], high)]
    start, end = max(rests, key=lambda rest: rest[1] - rest[0])
    return [*around, (start + end) / 2]
