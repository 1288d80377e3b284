"""The makespan over two parameters at once: all cells in one pass, SENS's region of each, and lines of equal growth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from logpost.analyzer.predict.whatif.axis import Axis, parse_axis
from logpost.analyzer.predict.whatif.contours import Contour, Times, contours
from logpost.analyzer.predict.whatif.plan import Plan
from logpost.analyzer.predict.whatif.replayed import Intervals, replayed
from logpost.errors import InputError
from logpost.machines import LOCALITIES
from logpost.replay.graph import direction
from logpost.replay.graph.breakpoints import Tangent, Tangents
from logpost.replay.graph.changes import PARAMETERS
from logpost.replay.graph.network_changes import SWEPT
from logpost.replay.graph.regions import region

MOST_CELLS = 4096
"""More are a slip of the keyboard: no reader uses them, and their outcomes would not fit into memory."""
CELLS_PER_PASS = 64
"""Outcomes hold times by call path; cells in a pass."""


@dataclass(frozen=True)
class Grid:
    """The makespan over two parameters; in tables the first one runs down, the second one across."""

    axes: tuple[Axis, Axis]
    base_ps: int
    """with both as they are planned otherwise"""
    makespans_ps: Times = field(compare=False)
    """shape (first, second)"""
    intervals_ps: Times = field(compare=False)
    """shape (first, second, 2)"""
    regions: list[list[str]]
    """SENS's name of how the makespan grows around a cell where both parameters become worse; empty: no logarithm"""
    contours: list[Contour]

    @property
    def names(self) -> tuple[str, str]:
        """The parameters, with their localities."""
        return self.axes[0].name, self.axes[1].name

    def grown(self, i: int, j: int) -> float:
        """By how much a cell is longer, as a fraction."""
        return float(self.makespans_ps[i, j]) / max(self.base_ps, 1) - 1.0


def parse_grid(text: str) -> tuple[Axis, Axis]:
    """The two axes of `--grid`.

    Raises:
        InputError: it is not understood, or both change the same values.
    """
    parts = _parted(text)
    if len(parts) != 2:
        raise InputError(f"--grid {text}: write two parameters, NAME=FROM:TO:COUNT,NAME=FROM:TO:COUNT")
    first, second = (parse_axis(part, "--grid") for part in parts)
    common = _values(first) & _values(second)
    if common:
        raise InputError(f"--grid {text}: {first.name} and {second.name} change the same values; take two that do not")
    for axis in (first, second):
        if list(axis.values) != sorted(set(axis.values)) and list(axis.values) != sorted(
            set(axis.values), reverse=True
        ):
            raise InputError(f"--grid {text}: give the values of {axis.name} in order, each once")
    cells = len(first.values) * len(second.values)
    if cells > MOST_CELLS:
        raise InputError(f"--grid {text}: {cells:,} cells; a grid has at most {MOST_CELLS:,}")
    return first, second


def grid(plan: Plan, text: str, intervals: Intervals) -> Grid:
    """What `--grid` requests.

    Raises:
        InputError: the grid is not understood.
    """
    axes = parse_grid(text)
    shape = tuple(len(axis.values) for axis in axes)
    scenarios = [plan.scenario([one, other]) for one in axes[0].settings for other in axes[1].settings]
    engine = plan.engine()
    same_messages = all(axis.same_messages for axis in axes)
    makespans, within, reordered = [], [], False
    for start in range(0, len(scenarios), CELLS_PER_PASS):
        some = scenarios[start : start + CELLS_PER_PASS]
        used, outcomes, intervals_of_some = replayed(engine, some, intervals, same_messages=same_messages)
        makespans += [outcome.makespan_ps for outcome in outcomes]
        within += intervals_of_some
        reordered |= any(one.reordered for one in used)
    times = np.asarray(makespans, dtype=np.int64).reshape(shape)
    congests = any(engine.contends(one) for one in (scenarios[0], scenarios[-1]))
    (planned,) = engine.in_arrival_order([plan.planned]) if same_messages else [engine]
    (base_ps,) = planned.makespans([plan.planned])
    # Beyond LogGP's values a setting rounds, switches protocols, or moves links, or messages arrive at NICs in another
    # order: nothing is known between points.
    convex = not congests and not reordered and same_messages

    def lines(moves: int, fixed: int) -> Tangents | None:
        if not convex:
            return None
        scenario = plan.scenario([axes[1 - moves].settings[fixed]])
        along = direction(scenario, axes[moves].name, factor=axes[moves].factor)

        def tangents(x: Sequence[float]) -> list[Tangent]:
            return engine.tangents(along, x)

        return tangents

    return Grid(
        axes,
        base_ps,
        times,
        np.asarray(within, dtype=np.int64).reshape((*shape, 2)),
        _regions(axes, times, congests),
        contours((axes[0].values, axes[1].values), times, base_ps, lines),
    )


def _regions(axes: tuple[Axis, Axis], times: Times, congests: bool) -> list[list[str]]:
    """The region of a cell is that of the elasticity d ln T / d ln s between its neighbours on the diagonal on which
    both parameters become worse; s is the factor of the one that moves farther, so that what is at most linear in
    both has at most 1."""
    worse = [np.argsort(axis.numbers if axis.worse_upwards else [-number for number in axis.numbers]) for axis in axes]
    numbers = [np.asarray(axis.numbers)[order] for axis, order in zip(axes, worse, strict=True)]
    if any((one <= 0).any() for one in numbers) or (times <= 0).any():
        return []
    sorted_times = times[np.ix_(*worse)]
    named = np.full(times.shape, "", dtype=object)
    for i in range(times.shape[0]):
        for j in range(times.shape[1]):
            low = max(i - 1, 0), max(j - 1, 0)
            high = min(i + 1, times.shape[0] - 1), min(j + 1, times.shape[1] - 1)
            moved = max(abs(math.log(one[b] / one[a])) for one, a, b in zip(numbers, low, high, strict=True))
            if moved > 0:
                elasticity = math.log(sorted_times[high] / sorted_times[low]) / moved
                named[worse[0][i], worse[1][j]] = region(elasticity, congests=congests)
    found: list[list[str]] = named.tolist()
    return found


def _parted(text: str) -> list[str]:
    """At commas in front of another NAME=; a parameter's values may be a list with commas."""
    parts: list[str] = []
    for piece in text.split(","):
        if "=" in piece or not parts:
            parts.append(piece)
        else:
            parts[-1] += "," + piece
    return parts


def _values(axis: Axis) -> set[tuple[str, str]]:
    """What it changes: values of the machine by locality."""
    where, _, symbol = axis.name.rpartition(".")
    if symbol in SWEPT:
        # Links carry a byte in what both of them say.
        return {("network", "per_hop" if symbol == "per_hop" else "link")}
    return {(one, value) for one in ([where] if where else LOCALITIES) for value in PARAMETERS[symbol][1] or (symbol,)}
