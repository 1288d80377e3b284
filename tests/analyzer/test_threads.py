"""Threads and streams, from a profile whose sums are derived in the comments."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import polars as pl

from logpost.analyzer.run import Run
from logpost.analyzer.threads import Accelerators, Threads, accelerators, threads

NAMES = ("main", "!$omp parallel @a.c:1", "!$omp for @a.c:2", "!$omp implicit barrier @a.c:3", "kernel")
PATHS = ((0, -1, 0), (1, 0, 1), (2, 1, 2), (3, 1, 3), (4, -1, 1), (5, 4, 2), (6, 4, 3), (7, 2, 1), (8, -1, 4))
"""(callpath, parent, region): a first thread's below main, another one's from the parallel region on; one nested; one
on a stream."""


def _run(profile: list[tuple[int, int, int, int]], locations: list[tuple[int, int, str, int, int]]) -> Run:
    """Profile: (callpath, location, inclusive, exclusive); locations: (location, process, kind, rank, wall)."""
    tables: dict[str, pl.DataFrame] = {
        "regions": pl.DataFrame({"region": range(len(NAMES)), "name": NAMES}),
        "callpaths": pl.DataFrame(PATHS, schema=["callpath", "parent", "region"], orient="row"),
        "profile": pl.DataFrame(profile, schema=["callpath", "location", "inclusive_ps", "exclusive_ps"], orient="row"),
        "locations": pl.DataFrame(locations, schema=["location", "process", "kind", "rank", "wall_ps"], orient="row"),
    }
    stub: Any = SimpleNamespace(
        table=lambda name: tables[name].lazy(), manifest=SimpleNamespace(clock=SimpleNamespace(length_ps=200))
    )
    return cast("Run", stub)


# A first thread of 100: main 30, parallel 70 of which 50 are in the loop, 10 at the barrier and 10 its own;
# another one in the region for 60: loop 20, barrier 35, own 5; a process of one thread; a stream.
PROFILE = [
    *[(0, 0, 100, 30), (1, 0, 70, 10), (2, 0, 50, 50), (3, 0, 10, 10)],
    *[(4, 1, 60, 5), (5, 1, 20, 20), (6, 1, 35, 35)],
    (0, 2, 100, 100),
    (8, 3, 40, 40),
]
LOCATIONS = [(0, 0, "cpu", 0, 100), (1, 0, "cpu", -1, 60), (2, 1, "cpu", 1, 100), (3, 0, "gpu", -1, 90)]


def test_the_time_of_all_threads_is_divided() -> None:
    found = threads(_run(PROFILE, LOCATIONS))
    # parallel: 70 - 10 and 60 - 35; serial: 100 - 70; idle: 100 - 60
    assert found == Threads(1, 2, parallel_ps=85, imbalance_ps=45, serial_ps=30, idle_ps=40)
    assert found.total_ps == 2 * 100


def test_a_nested_region_counts_once() -> None:
    nested = [row for row in PROFILE if row[0] != 2] + [(2, 0, 50, 30), (7, 0, 20, 20)]
    assert threads(_run(nested, LOCATIONS)) == Threads(1, 2, 85, 45, 30, 40)


def test_nothing_is_told_without_threads_or_without_openmp() -> None:
    assert threads(_run(PROFILE, [LOCATIONS[0], LOCATIONS[2]])) is None
    assert threads(_run([(0, 0, 100, 100), (0, 1, 60, 60)], LOCATIONS)) is None


def test_streams_are_busy_where_something_runs_on_them() -> None:
    assert accelerators(_run(PROFILE, LOCATIONS)) == Accelerators(streams=1, busy_ps=40, length_ps=200)
    assert accelerators(_run(PROFILE[:-1], LOCATIONS)) is None
