"""Threads and streams of a run, as sums of its tables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import polars as pl

from logpost.analyzer.report.threads import Accelerators, Threads, accelerators, threads
from logpost.analyzer.run import schema
from logpost.analyzer.run.directory import Run

LOCATIONS = [(0, 0), (1, 0), (2, 1), (3, 0)]


def _run(spent: list[tuple[int, str, str, int]], streams: list[tuple[int, ...]] | None = None) -> Run:
    """Spent: (location, phase, category, ps); streams: rows of the table."""
    rows = [{"location": of, "callpath": -1, "place": -1, "phase": p, "category": c, "spent_ps": t}
            for of, p, c, t in spent]  # fmt: skip
    tables = {
        "threads": pl.DataFrame(rows, schema=schema.THREADS.schema),
        "streams": pl.DataFrame(streams or [], schema=schema.STREAMS.schema, orient="row"),
        "locations": pl.DataFrame(LOCATIONS, schema={"location": pl.Int32, "process": pl.Int32}, orient="row"),
    }
    stub: Any = SimpleNamespace(table=lambda name: tables[name].lazy())
    return cast("Run", stub)


def test_times_of_the_program_are_summed_over_threads() -> None:
    found = threads(
        _run(
            [
                (0, "program", "parallel", 60),
                (0, "program", "imbalance", 10),
                (0, "program", "serial", 30),
                (0, "start_up", "communication", 7),
                (1, "program", "parallel", 70),
                (1, "program", "idle_serial", 30),
            ]
        )
    )
    assert found == Threads(1, 2, 130, 10, 0, 0, 0, 30, 30, 0, 0)
    assert found.total_ps == 2 * 100
    assert list(found.spent_ps) == list(schema.THREAD_CATEGORIES)


def test_nothing_is_shown_without_threads() -> None:
    assert threads(_run([])) is None


def test_streams_count_where_something_ran_on_them() -> None:
    used, unused = (3, 2, 1, 64, 0, 40, 10, 150), (4, 0, 0, 0, 0, 0, 0, 200)
    found = accelerators(_run([], [used, unused]))
    assert found == Accelerators(1, 2, 1, 64, 0, kernel_ps=40, copy_ps=10, idle_ps=150)
    assert found.total_ps == 200
    assert accelerators(_run([], [unused])) is None
