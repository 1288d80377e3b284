"""G(P, S, pattern): the inverse bandwidth of the slowest and the fastest pair when P processes communicate in pairs.

    G = time per message / S        level "lowest": lowest bandwidth, the largest G;  "highest": the smallest G

Patterns: nearest neighbours, and pairs across the bisection. Source: Iancu & Strohmaier, OVL section 2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.refusal import NANOSECONDS, Refusal, refuse

Pattern = Literal["nearest-neighbour", "cross-section"]
Level = Literal["lowest", "highest"]


@dataclass(frozen=True)
class PairTimes:
    """Time per message of S bytes of the slowest and of the fastest of `pairs` pairs."""

    pattern: Pattern
    pairs: int
    size: int
    slowest: Estimate
    fastest: Estimate


@dataclass(frozen=True)
class Gap:
    """G of one pattern, number of processes, size and level, in s/B."""

    pattern: Pattern
    processors: int
    size: int
    level: Level
    G: Estimate


def gaps(points: Sequence[PairTimes], *, place: str) -> tuple[list[Gap], list[Refusal]]:
    """Two gaps for each point. A gap that is not positive, or a slowest pair faster than the fastest, is refused."""
    found: list[Gap] = []
    refused: list[Refusal] = []
    for point in sorted(points, key=lambda p: (p.pattern, p.pairs, p.size)):
        if point.size < 1:
            continue
        levels: tuple[tuple[Level, Estimate], ...] = (("lowest", point.slowest), ("highest", point.fastest))
        crossed = (point.slowest - point.fastest).high < 0.0
        for level, time in levels:
            G = time.scaled(1.0 / point.size)
            if G.value > 0.0 and not crossed:
                found.append(Gap(point.pattern, 2 * point.pairs, point.size, level, G))
                continue
            where = f"{place}.G ({point.pattern}, P = {2 * point.pairs}, S = {point.size} B, {level})"
            reason = (
                "the slowest pair is faster than the fastest"
                if crossed
                else "bytes cannot be transferred in no time or less"
            )
            refused.append(refuse(where, G, "ns/B", reason, factor=NANOSECONDS))
    return found, refused
