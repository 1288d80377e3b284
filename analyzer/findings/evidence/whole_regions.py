"""User regions directly before calls: code moves in the source as whole ones.

A run keeps no single visit of a user region, but its own time, its visits, its first enter and its last leave on each
location. A region is before each of a location's calls at a place if it is visited as often as these are, is
entered first before the first of them, and left last before the last of them, in both cases behind the call before.
Times in ps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.analyzer.run.wide import wide_sum
from logpost.replay.columns import Int32, Int64

Rows = npt.NDArray[np.integer]
Way = tuple[Int32, Int64]
"""Calls, and what moves at each of them at most; ps."""


def regions_before(
    evidence: Evidence, program: Program, place: Rows, every: Rows, calls: Rows, late_ps: Int64
) -> Way | None:
    """All calls at these calls' places, and how long the regions directly before each of them last that delay them: of
    the code before it, the part that they have of all code there. None where nothing shows that for some place.

    Arguments:
        evidence: of the run.
        program: its calls.
        place: a number of each call's location and call path.
        every: all calls at the places of `calls`, ascending.
        calls: the late ones.
        late_ps: by how much each of them is.
    """
    regions = _regions(evidence)
    late = np.bincount(place[calls], weights=late_ps) / np.maximum(1, np.bincount(place[calls]))
    order = np.argsort(place[every], kind="stable")
    found = np.zeros(len(every), dtype=np.int64)
    for here in np.split(order, np.flatnonzero(np.diff(place[every[order]])) + 1):
        first = every[here[0]]
        took = _nearest(regions.get(int(program.location[first]), []), program, every[here], float(late[place[first]]))
        if took is None:
            return None
        gaps = program.gap_ps[every[here]]
        found[here] = np.rint(gaps * min(1.0, took / max(1.0, gaps.mean())))
    return every.astype(np.int32), found


def _nearest(regions: list[Region], program: Program, every: Rows, late_ps: float) -> float | None:
    """What the last regions before each of these calls take together at a visit: so many of them as differ least from
    the calls' delay. None where these are no more than a part of it."""
    first, last = int(every[0]), int(every[-1])
    took = nearest = 0.0
    for region in regions:
        before_first = program.enter_ps[first] - program.gap_ps[first] <= region.entered_ps <= program.enter_ps[first]
        before_last = program.enter_ps[last] - program.gap_ps[last] <= region.left_ps <= program.enter_ps[last]
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
