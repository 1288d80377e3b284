"""User regions that stand directly before calls: who moves code in the source moves whole ones.

A run keeps no single visit of a user region, but its own time, its visits, its first enter and its last leave on each
location. A region stands before each of a location's calls at a place if it is visited as often as these are, is
entered first before the first of them, and left last before the last of them, in both cases behind the call before.
Times in ps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.moved_code import MOSTLY, moved_behind
from logpost.analyzer.findings.evidence.replayed import saving_replayed
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving
from logpost.analyzer.run.wide import wide_sum
from logpost.replay.columns import Int32, Int64

Rows = npt.NDArray[np.integer]
Way = tuple[Int32, Int64]
"""Calls, and what moves at each of them at most; ps."""

MAINLY = 0.5
"""Of what calls are late by: regions that take less than this part of it are not what delays them."""


def what_moving_saves(
    evidence: Evidence, graph: Graph, calls: Int32, late_ps: Int64, *, bounds: bool = False
) -> Saving:
    """The program with the code that makes calls late behind them, replayed on its machine.

    Whoever moves code in the source does so at every call of a place, and moves whole regions. Where these are not
    known, each of these calls comes as much earlier as it is late, or all calls of their places as the latest:
    whichever saves more.

    Arguments:
        evidence: of the run.
        graph: of its program.
        calls: each of them once, ascending.
        late_ps: by how much each of them is late.
        bounds: whether that is only the most that it can be. If all of it has to move, more than the regions does: that
            is replayed as well, and the smaller of both savings told.
    """

    def saved(calls: Int32, most_ps: Int64) -> Saving:
        return saving_replayed(evidence, graph, Hypothesis(gap_ps=moved_behind(graph, calls, most_ps)))

    whole = whole_regions(evidence, graph, calls, late_ps)
    if whole is None:
        return max(saved(calls, late_ps), saved(*_as_the_latest(graph, calls, late_ps)), key=_gain)
    return min(saved(*whole), saved(calls, late_ps), key=_gain) if bounds else saved(*whole)


def _gain(saving: Saving) -> float:
    return saving.gain


def _as_the_latest(graph: Graph, calls: Int32, late_ps: Int64) -> Way:
    """All calls at these calls' places, as late as the latest there."""
    place = graph.places[1]
    longest = np.zeros(len(graph.places[0]), dtype=np.int64)
    np.maximum.at(longest, place[calls], late_ps)
    every = np.flatnonzero(longest[place] > 0).astype(np.int32)
    return every, longest[place[every]]


def whole_regions(evidence: Evidence, graph: Graph, calls: Int32, late_ps: Int64) -> Way | None:
    """All calls at these calls' places, and what the regions directly before each of them take that make them late; all
    code before it, where that is most of it. None where nothing tells for some place."""
    every, _ = _as_the_latest(graph, calls, late_ps)
    if not graph.whole or not len(every):
        return None
    return regions_before(evidence, graph, graph.places[1], every, calls, late_ps)


def regions_before(
    evidence: Evidence, graph: Graph | Program, place: Rows, every: Rows, calls: Rows, late_ps: Int64
) -> Way | None:
    """The same of the whole program.

    Arguments:
        evidence: of the run.
        graph: its calls.
        place: a number of each call's location and call path.
        every: all calls at the places of `calls`, ascending.
        calls: those that are late.
        late_ps: by how much each of them is.
    """
    regions = _regions(evidence)
    late = np.bincount(place[calls], weights=late_ps) / np.maximum(1, np.bincount(place[calls]))
    order = np.argsort(place[every], kind="stable")
    found = np.zeros(len(every), dtype=np.int64)
    for here in np.split(order, np.flatnonzero(np.diff(place[every[order]])) + 1):
        first = every[here[0]]
        took = _nearest(regions.get(int(graph.location[first]), []), graph, every[here], float(late[place[first]]))
        if took is None:
            return None
        gaps = graph.gap_ps[every[here]]
        found[here] = gaps if took >= MOSTLY * gaps.mean() else np.minimum(gaps, round(took))
    return every.astype(np.int32), found


def _nearest(regions: list[Region], graph: Graph | Program, every: Rows, late_ps: float) -> float | None:
    """What the last regions before each of these calls take together at a visit: so many of them as come nearest to
    what the calls are late by. None where these are no more than a part of it."""
    first, last = int(every[0]), int(every[-1])
    took = nearest = 0.0
    for region in regions:
        before_first = graph.enter_ps[first] - graph.gap_ps[first] <= region.entered_ps <= graph.enter_ps[first]
        before_last = graph.enter_ps[last] - graph.gap_ps[last] <= region.left_ps <= graph.enter_ps[last]
        if before_first and before_last and region.visits == len(every):
            took += region.own_ps / region.visits
            nearest = min(nearest, took, key=lambda time: abs(time - late_ps))
    return nearest if nearest > MAINLY * late_ps else None


@dataclass(frozen=True)
class Region:
    """A user region on one location; ps."""

    entered_ps: int
    """first"""
    left_ps: int
    """last"""
    visits: int
    own_ps: float
    """without its callees, of all visits"""


def _regions(evidence: Evidence) -> dict[int, list[Region]]:
    """Those of each location, the one that was entered last first."""
    paths = evidence.callpaths.select("callpath", "region")
    rows = (
        evidence.user_profile.join(paths, on="callpath")
        .group_by("location", "region")
        .agg(pl.col("visits").sum(), wide_sum("exclusive_ps"))
        .join(evidence.tables["region_spans"].collect(), on=["location", "region"])
        .sort("location", "first_enter_ps", "region", descending=[False, True, False])
    )
    found: dict[int, list[Region]] = {}
    for location, *region in rows.select(
        "location", "first_enter_ps", "last_leave_ps", "visits", "exclusive_ps"
    ).iter_rows():
        found.setdefault(location, []).append(Region(*region))
    return found
