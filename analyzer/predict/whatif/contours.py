"""Where on a grid of two parameters the makespan has grown by so much: lines between the values that were replayed.

A line crosses the grid's rows and columns, along which one parameter is fixed. Between two neighbours of which one lies
below the target and the other one at or above it, the makespan is a convex, piecewise linear function of the parameter
that moves (`replay.whatif.breakpoints`): the crossing is exact, by Newton's method on it. Where it is not convex (the
network changes, or messages wait for each other in it), the crossing is interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logpost.replay.graph.breakpoints import Tangents, reached

GROWN = (5, 10)
"""percent"""
Times = NDArray[np.int64]
Lines = Callable[[int, int], Tangents | None]
"""(parameter that moves, index of the other one's value) -> what replays it; None: not convex"""


@dataclass(frozen=True)
class Contour:
    """Where the makespan has grown by `percent`."""

    percent: int
    points: tuple[tuple[float, float], ...]
    """values of the first and the second parameter, in picoseconds (per byte) or factors; from one end of the line to
    the other"""
    exact: bool


def contours(
    values: tuple[Sequence[float], Sequence[float]], times: Times, base_ps: int, lines: Lines
) -> list[Contour]:
    """A line for each growth in `GROWN`, without points where the grid does not reach it.

    Args:
        values: of the first and the second parameter.
        times: makespans, shape (first, second).
        base_ps: the makespan that grows.
        lines: replays of one parameter.
    """
    found = []
    for percent in GROWN:
        target = base_ps * (1 + percent / 100)
        points: list[tuple[float, float]] = []
        exact = True
        for moves in (0, 1):
            along = times.T if moves == 0 else times
            for fixed, row in enumerate(along):
                for k in np.flatnonzero((row[:-1] < target) != (row[1:] < target)).tolist():
                    tangents = lines(moves, fixed)
                    ends = ((values[moves][k], float(row[k])), (values[moves][k + 1], float(row[k + 1])))
                    exact &= tangents is not None
                    at = _crossing(min(ends, key=_time), max(ends, key=_time), target, tangents)
                    other = values[1 - moves][fixed]
                    points.append((at, other) if moves == 0 else (other, at))
        found.append(Contour(percent, tuple(_along(list(dict.fromkeys(points)), values, times)), exact))
    return found


def _crossing(
    below: tuple[float, float], above: tuple[float, float], target: float, tangents: Tangents | None
) -> float:
    if tangents is not None:
        (at,) = reached(tangents, [target], start=below[0], end=above[0])
        if at is not None:
            return at
    return below[0] + (above[0] - below[0]) * (target - below[1]) / (above[1] - below[1])


def _time(end: tuple[float, float]) -> float:
    return end[1]


def _along(
    points: Sequence[tuple[float, float]], values: tuple[Sequence[float], Sequence[float]], times: Times
) -> list[tuple[float, float]]:
    """In the order in which the line runs: where one parameter makes the program longer, the other one makes it
    shorter."""
    places = []
    for axis, rising in enumerate((times[-1].sum() >= times[0].sum(), times[:, -1].sum() >= times[:, 0].sum())):
        order = np.argsort(values[axis])
        numbers = [point[axis] for point in points]
        place = np.interp(numbers, np.asarray(values[axis])[order], np.arange(len(order)))
        places.append(place if rising == (values[axis][-1] >= values[axis][0]) else -place)
    return [points[i] for i in np.lexsort((places[0], places[0] - places[1])).tolist()]
