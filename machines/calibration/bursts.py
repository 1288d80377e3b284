"""o(S, b) over burst lengths, and HD, the depth at which initiation begins to block.

    o(S, b) = time to initiate b operations of S bytes / b
    marginal cost between two burst lengths:  (b_2 o(S, b_2) - b_1 o(S, b_1)) / (b_2 - b_1)

For b <= HD the marginal cost is that of an initiation alone (and o falls with b, as what a burst costs once is
shared); beyond, initiating waits for one of the transfers before it, and the marginal cost jumps to the service
time. HD is the last burst length before the jump.

Symbols: S bytes, b operations in a burst, o in s. Source: Iancu & Strohmaier, OVL section 2.1 and Figures 1 and 2.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.refusal import MICROSECONDS, Refusal, refuse
from logpost.machines.calibration.statistics import rank

JUMP = 1.5
"""Factor by which the marginal cost has to rise, and to stay risen, to count as blocking."""


@dataclass(frozen=True)
class BurstPoint:
    """o(S, b) as measured."""

    size: int
    burst: int
    o: Estimate


@dataclass(frozen=True)
class Depth:
    """HD in operations, and the next longer burst that was measured: HD is at least `low` and less than `high`."""

    low: int
    high: int


def overheads(points: Sequence[BurstPoint], *, place: str) -> tuple[list[BurstPoint], list[Refusal]]:
    """The points in order; those that no initiation can cost are refused."""
    kept, refused = [], []
    for point in sorted(points, key=lambda p: (p.size, p.burst)):
        if point.o.value > 0.0:
            kept.append(point)
            continue
        where = f"{place}.o (S = {point.size} B, b = {point.burst})"
        refused.append(refuse(where, point.o, "us", "an initiation cannot cost nothing or less", factor=MICROSECONDS))
    return kept, refused


def blocking_depth(points: Sequence[BurstPoint]) -> Depth | None:
    """HD: the smallest depth over the sizes at which initiation begins to block; None where none does."""
    found = [depth for depth in map(_depth, _by_size(points).values()) if depth is not None]
    return min(found, key=lambda depth: depth.low, default=None)


def steady_depth(depths: Sequence[int]) -> int:
    """HD of one size from what its visits found, 0 where one found none: the median of those that found one.

    A queue blocks at every visit. Where more of them found none than an interval leaves out at one end (see
    ``statistics``), something else blocked in the others: 0.
    """
    found = [depth for depth in depths if depth > 0]
    if len(depths) - len(found) > max(rank(len(depths)) - 1, 0):
        return 0
    return statistics.median_low(found) if found else 0


def _by_size(points: Sequence[BurstPoint]) -> Mapping[int, list[BurstPoint]]:
    sizes: dict[int, list[BurstPoint]] = {}
    for point in sorted(points, key=lambda p: (p.size, p.burst)):
        sizes.setdefault(point.size, []).append(point)
    return sizes


def _depth(row: Sequence[BurstPoint]) -> Depth | None:
    """Where the marginal cost of one size jumps beyond its error, and stays."""
    steps: list[tuple[int, int, Estimate]] = []
    for a, b in pairwise(row):
        more = (b.o.scaled(b.burst) - a.o.scaled(a.burst)).scaled(1.0 / (b.burst - a.burst))
        steps.append((a.burst, b.burst, more))
    for i in range(1, len(steps)):
        # The cheapest way to initiate one more message so far: later points are compared with it.
        before = min((cost for _, _, cost in steps[:i]), key=lambda cost: cost.value)
        if before.value > 0.0 and all(
            cost.value > JUMP * before.value and (cost - before).low > 0.0 for _, _, cost in steps[i:]
        ):
            return Depth(steps[i][0], steps[i][1])
    return None
