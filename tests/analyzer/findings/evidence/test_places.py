"""Places of call paths: calls of one line that come from several places are distinguished by their callers."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.findings.evidence.places import places_of


def named(*rows: tuple[int, int, str, int]) -> list[str]:
    """What calls are called, of (parent, region, file, line) by call path; the regions are `f0`, `f1`, …"""
    paths = pl.LazyFrame(
        {
            "callpath": list(range(len(rows))),
            "parent": [row[0] for row in rows],
            "region": [row[1] for row in rows],
            "path": [""] * len(rows),
            "file": [row[2] for row in rows],
            "line": [row[3] for row in rows],
        }
    )
    count = 1 + max(row[1] for row in rows)
    regions = pl.LazyFrame(
        {
            "region": list(range(count)),
            "name": [f"f{region}" for region in range(count)],
            "file": [""] * count,
            "line": [0] * count,
        }
    )
    found = places_of({"callpaths": paths, "regions": regions})
    return [found[callpath].named for callpath in range(len(rows))]


def test_a_line_that_is_reached_in_one_way_needs_no_caller() -> None:
    assert named((-1, 0, "", 0), (0, 1, "/a/m.c", 5), (0, 1, "/a/m.c", 6)) == ["f0", "f1 at m.c:5", "f1 at m.c:6"]


def test_the_nearest_call_that_differs_is_named() -> None:
    # f0 calls f1 in lines 5, 6 and 7; f1 calls f2 in line 20, but f3 in line 21 on the way from line 7; both call f4 in
    # their line 30.
    found = named(
        (-1, 0, "", 0),
        (0, 1, "m.c", 5),
        (0, 1, "m.c", 6),
        (0, 1, "m.c", 7),
        (1, 2, "n.c", 20),
        (2, 2, "n.c", 20),
        (3, 2, "n.c", 21),
        (4, 4, "o.c", 30),
        (5, 4, "o.c", 30),
        (6, 4, "o.c", 30),
    )
    assert found[4:] == [
        "f2 at n.c:20 (called from m.c:5)",
        "f2 at n.c:20 (called from m.c:6)",
        "f2 at n.c:21",
        "f4 at o.c:30 (called from m.c:5)",
        "f4 at o.c:30 (called from m.c:6)",
        "f4 at o.c:30 (called from n.c:21)",
    ]


def test_callers_of_unknown_lines_are_not_named() -> None:
    found = named((-1, 0, "", 0), (0, 1, "", 0), (0, 2, "", 0), (1, 3, "m.c", 5), (2, 3, "m.c", 5))
    assert found[3:] == ["f3 at m.c:5"] * 2
