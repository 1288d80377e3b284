"""Exact breakpoints of a makespan over one parameter, and the values at which it reaches a target.

T(x) is convex and piecewise linear: the largest of the lines of all paths. A replay at x gives T(x) and the line of a
longest path, which touches T there. Where the lines of two points cross, T either is their common value, and x is a
breakpoint, or it lies above, and a new line is found (Eisner and Severance 1976, "Mathematical techniques for efficient
record segmentation"): each replay finds a breakpoint or a line, so that n lines take about 2 n replays. A target is
reached where Newton's method from the right ends: on a line that touches T at the target, after finitely many steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

MOST_REPLAYS = 256
BATCH = 8
"""replays in one call"""
LARGEST_FACTOR = 1e6
"""Where the search ends: a parameter that is a million times as large is another machine."""


@dataclass(frozen=True)
class Tangent:
    """A line that touches T at x, in picoseconds; `count`: how often its path takes the parameter (bytes, of G)."""

    x: float
    makespan_ps: float
    slope: float
    count: float

    def at(self, x: float) -> float:
        """The line's value."""
        return self.makespan_ps + self.slope * (x - self.x)


Tangents = Callable[[Sequence[float]], Sequence[Tangent]]


@dataclass(frozen=True)
class Segment:
    """T is a line from `start` to `end`: its value at `start`, its slope by x, and how often its path takes x."""

    start: float
    end: float
    start_ps: float
    slope: float
    count: float


@dataclass(frozen=True)
class Curve:
    """T over an interval. `above_ps`: how far T may lie above where replays ran out; 0: no breakpoint is missing."""

    segments: tuple[Segment, ...]
    above_ps: float


def curve(tangents: Tangents, low: float, high: float, most: int = MOST_REPLAYS) -> Curve:
    """T from `low` to `high`; `tangents` replays several values at once."""
    first, last = tangents([low, high])
    pieces: list[tuple[float, float, Tangent]] = []
    pending = [(first, last)]
    replays = 2
    while pending:
        open_ones = []
        for left, right in pending:
            line = _whole(left, right)
            if line is None:
                open_ones.append((left, right, _crossing(left, right)))
            else:
                pieces.append((left.x, right.x, line))
        # Where T may lie farthest above the lines first.
        open_ones.sort(key=lambda one: -_gap(*one))
        taken = open_ones[: min(BATCH, max(most - replays, 0))]
        if not taken:
            for left, right, x in open_ones:
                pieces += [(left.x, x, left), (x, right.x, right)]
            return _joined(pieces, max((_gap(*one) for one in open_ones), default=0.0))
        pending = [(left, right) for left, right, _ in open_ones[len(taken) :]]
        replays += len(taken)
        for (left, right, x), found in zip(taken, tangents([x for _, _, x in taken]), strict=True):
            if found.makespan_ps <= left.at(x) + _rounding(found.makespan_ps):
                pieces += [(left.x, x, left), (x, right.x, right)]
            else:
                pending += [(left, found), (found, right)]
    return _joined(pieces, 0.0)


def reached(
    tangents: Tangents, targets_ps: Sequence[float], *, start: float = 1.0, end: float = LARGEST_FACTOR
) -> list[float | None]:
    """The least x from `start` on at which T is each target, all above T(start); None: not up to `end`."""
    (far,) = tangents([end])
    at = {i: far for i, target in enumerate(targets_ps) if far.makespan_ps >= target}
    found: list[float | None] = [None] * len(targets_ps)
    while at:
        steps = {i: max(start, one.x - (one.makespan_ps - targets_ps[i]) / one.slope) for i, one in at.items()}
        following = dict(zip(steps, tangents(list(steps.values())), strict=True))
        for i, one in following.items():
            # On the line that ends here, or as near as numbers are to each other.
            if one.makespan_ps <= targets_ps[i] + _rounding(targets_ps[i]) or one.x >= at[i].x:
                found[i] = one.x - (one.makespan_ps - targets_ps[i]) / one.slope if one.slope > 0 else one.x
        at = {i: one for i, one in following.items() if found[i] is None}
    return found


def _rounding(makespan_ps: float) -> float:
    """What sums of rounded numbers differ by: 1 ps for programs of a second."""
    return 1e-3 + 1e-12 * abs(makespan_ps)


def _whole(left: Tangent, right: Tangent) -> Tangent | None:
    """The line that T is all the way between two points, if one of theirs is."""
    if right.makespan_ps <= left.at(right.x) + _rounding(right.makespan_ps):
        return left
    if left.makespan_ps <= right.at(left.x) + _rounding(left.makespan_ps):
        return right
    return None


def _crossing(left: Tangent, right: Tangent) -> float:
    x = left.x + (right.at(left.x) - left.makespan_ps) / (left.slope - right.slope)
    return min(max(x, left.x), right.x)


def _gap(left: Tangent, right: Tangent, x: float) -> float:
    """The most that T lies above the lines: at their crossing it is below the chord."""
    share = (x - left.x) / (right.x - left.x)
    return left.makespan_ps + share * (right.makespan_ps - left.makespan_ps) - left.at(x)


def _joined(pieces: list[tuple[float, float, Tangent]], above_ps: float) -> Curve:
    segments: list[Segment] = []
    for start, end, line in sorted(pieces, key=lambda piece: piece[:2]):
        if end <= start:
            continue
        before = segments[-1] if segments else None
        if before is not None and abs(before.slope - line.slope) * (end - before.start) <= _rounding(line.makespan_ps):
            segments[-1] = Segment(before.start, end, before.start_ps, before.slope, before.count)
        else:
            segments.append(Segment(start, end, line.at(start), line.slope, line.count))
    assert all(a.end == b.start for a, b in pairwise(segments))
    return Curve(tuple(segments), max(above_ps, 0.0))
