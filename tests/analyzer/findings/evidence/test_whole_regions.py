"""Code moves in whole regions where a run shows which are directly before the calls."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import polars as pl
import pytest

from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.whole_regions import regions_before

STEPS = 3
UPDATE, POSTPONE, CONSUME = range(3)


def calls() -> Program:
    """One rank: in each step of 100 ps an operation at 0 for 10, then code, and at 60 a post, which lasts none."""
    at = np.arange(STEPS) * 100
    return cast(
        Program,
        SimpleNamespace(
            location=np.zeros(2 * STEPS, dtype=np.int32),
            enter_ps=np.sort(np.concatenate([at, at + 60])),
            gap_ps=np.tile(np.array([40, 50]), STEPS),
        ),
    )


def regions(update: int, postpone: int, *, visits: int = STEPS) -> Evidence:
    """Behind each operation the rank updates and then postpones, so long, and behind each post it consumes for 40."""
    last = (STEPS - 1) * 100
    spans = [
        (UPDATE, 10, last + 10 + update),
        (POSTPONE, 10 + update, last + 60),
        (CONSUME, 60, last + 100),
    ]
    profile = {
        "callpath": [UPDATE, POSTPONE, CONSUME],
        "location": [0, 0, 0],
        "visits": [STEPS, visits, STEPS],
        "exclusive_ps": [STEPS * update, STEPS * postpone, STEPS * 40],
    }
    columns = ["region", "location", "first_enter_ps", "last_leave_ps"]
    table = pl.DataFrame([(region, 0, first, last) for region, first, last in spans], schema=columns, orient="row")
    every = pl.DataFrame({"callpath": [UPDATE, POSTPONE, CONSUME], "region": [UPDATE, POSTPONE, CONSUME]})
    return cast(
        Evidence,
        SimpleNamespace(user_profile=pl.DataFrame(profile), callpaths=every, tables={"region_spans": table.lazy()}),
    )


def moved(evidence: Evidence, late: list[int]) -> tuple[list[int], list[int]] | None:
    """What moves at which calls if the posts of the first steps are so late."""
    every = 2 * np.arange(STEPS) + 1
    place = np.tile(np.array([0, 1]), STEPS)  # of the operations and of the posts
    found = regions_before(evidence, calls(), place, every, every[: len(late)], np.array(late))
    return None if found is None else (found[0].tolist(), found[1].tolist())


@pytest.mark.parametrize(
    ("late", "most"),
    [
        (35, 30),  # the region nearest to the post takes 30, with the one before 50: 30 is nearer to 35
        (20, 30),  # no part of a region moves
        (45, 50),  # 50 is nearer
    ],
)
def test_whole_regions_move_at_each_call_of_the_place(late: int, most: int) -> None:
    # One post of three is delayed; in the source, all three have the code before them.
    assert moved(regions(20, 30), [late]) == ([1, 3, 5], [most] * STEPS)


def test_of_the_code_the_part_moves_that_is_in_the_regions() -> None:
    # 46 of 50 ps: the rest is the wrapper's own.
    assert moved(regions(4, 46), [40]) == ([1, 3, 5], [46] * STEPS)


@pytest.mark.parametrize(
    "evidence",
    [
        regions(
            20, 30, visits=STEPS + 1
        ),  # entered elsewhere as well: how long a visit before a post lasts is not known
        regions(1, 2),  # most of the code is in no region there
    ],
)
def test_nothing_shows_which_regions_these_are(evidence: Evidence) -> None:
    # Nothing but `update`, of 20 or 1 + 2 ps, is there alone: less than half of how late the posts are.
    assert moved(evidence, [44, 48]) is None
