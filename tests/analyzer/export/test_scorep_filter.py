"""Filters for Score-P, from a profile whose figures are derived in the comments."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest
from tests.said import facts

from logpost.analyzer.export.scorep_filter import escaped, filter_text, propose
from logpost.analyzer.run.directory import Run

REGIONS = ("main", "solve", "tiny", "pack", "MPI_Send", "slow", "rare", "loop", "!$omp for @a.c:2")
KINDS = ("user", "user", "user", "user", "send", "user", "user", "user", "user")
PATHS = ((0, -1, 0), (1, 0, 1), (2, 1, 2), (3, 1, 3), (4, 3, 4), (5, 1, 5), (6, 0, 6), (7, 0, 3), (8, 0, 7), (9, 8, 8))
"""(callpath, parent, region): pack sends beneath solve, and not beneath main; loop has OpenMP beneath."""
PROFILE = [
    # (callpath, location, visits, exclusive ps): tiny 100 ns a visit, slow 2 us, rare 100 ns
    *[(0, 0, 1, 10**9), (1, 0, 10, 10**9), (2, 0, 1000, 10**8), (3, 0, 900, 9), (4, 0, 900, 9)],
    *[(5, 0, 1000, 2 * 10**9), (6, 0, 5, 5 * 10**5), (7, 0, 100, 1), (8, 0, 500, 5), (9, 0, 500, 5)],
    # the other process visits tiny three times as often
    *[(0, 1, 1, 10**9), (2, 1, 3000, 3 * 10**8)],
]


def _run(bytes_in_all: int) -> Run:
    tables: dict[str, pl.DataFrame] = {
        "regions": pl.DataFrame({"region": range(len(REGIONS)), "name": REGIONS, "kind": KINDS}).with_columns(
            file=pl.lit("a.c")
        ),
        "callpaths": pl.DataFrame(PATHS, schema=["callpath", "parent", "region"], orient="row"),
        "profile": pl.DataFrame(
            PROFILE,
            schema={"callpath": pl.Int32, "location": pl.Int32, "visits": pl.UInt64, "exclusive_ps": pl.Int64},
            orient="row",
        ).with_columns(pl.col("callpath").cast(pl.Int64)),
        "locations": pl.DataFrame(
            {"location": [0, 1], "process": [0, 1], "events": [10_000, 6_000]},
            schema={"location": pl.Int32, "process": pl.Int32, "events": pl.UInt64},
        ),
    }
    stub: Any = SimpleNamespace(
        facts=lambda name: tables[name].lazy(), manifest=SimpleNamespace(source=SimpleNamespace(bytes=bytes_in_all))
    )
    return cast("Run", stub)


def test_functions_that_cost_more_than_they_are_worth_are_proposed() -> None:
    found = propose(_run(200_000))
    # slow is over 1 us, pack and loop have MPI and OpenMP beneath, rare's 120 bytes are below 1 %
    assert [(f.name, f.visits, f.bytes, f.time_per_visit_ns) for f in found.functions] == [
        ("tiny", 4000, 96_000, 100.0)
    ]
    assert found.saved == 96_000
    assert found.user_functions == 3, "tiny, slow and rare call no recorded interface"


def test_the_memory_is_that_of_the_largest_process() -> None:
    found = propose(_run(200_000))
    # 10,000 of 16,000 events: 125,000 bytes; without 1,000 visits of 24 bytes 101,000. The other: 75,000 - 72,000.
    assert (found.largest_before, found.largest_after, found.locations) == (125_000, 101_000, 1)


def test_limits_can_be_set() -> None:
    assert [f.name for f in propose(_run(200_000), time_per_visit_ps=2_000_000).functions] == ["tiny", "slow"]
    assert [f.name for f in propose(_run(200_000), share=0).functions] == ["tiny", "rare"]
    assert propose(_run(200_000), visits=4001).functions == []


def test_the_file_is_score_ps_and_says_how_it_was_made() -> None:
    text = filter_text(propose(_run(200_000), visits=7), "app.run")
    lines = text.splitlines()
    said = [line for line in lines if line.startswith("#")]
    assert said == lines[: len(said)]
    assert facts(" ".join(said)) == ["app.run", "1 %", "1 us", "7", "SCOREP_FILTERING_FILE", "--instrument-filter"]
    assert lines[len(said) :] == [
        "SCOREP_REGION_NAMES_BEGIN",
        "  EXCLUDE",
        "    # 4000 visits, 100 ns each, 96000 bytes, a.c",
        "    tiny",
        "SCOREP_REGION_NAMES_END",
    ]
    assert "EXCLUDE" not in filter_text(propose(_run(200_000), visits=4001), "app.run")


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("T twice(const T*) [with T = double]", r"T\ twice(const\ T\*)\ \[with\ T\ =\ double\]"),
        ("bool operator!(V)", r"bool\ operator\!(V)"),
        ("what? #1\\", r"what\?\ \#1\\"),
    ],
)
def test_names_are_taken_literally(name: str, rule: str) -> None:
    assert escaped(name) == rule
