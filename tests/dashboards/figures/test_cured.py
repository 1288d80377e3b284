"""Bars of the program with and without a finding's cause are the times of its replay."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.said import facts, says

from logpost.analyzer.findings.cured import Cured, Execution
from logpost.dashboards.figures.cured import both_paths, ranks_before_and_after
from logpost.dashboards.figures.folding import Rows

MS = 10**9


def execution(wait: int) -> Execution:
    """Rank 0 computes 8 and works 2; rank 1 computes 4 and waits; ms. The path is on rank 0, and ends with the wait."""
    times = {"location": [0, 1], "code_ps": [8 * MS, 4 * MS], "work_ps": [2 * MS, 0], "wait_ps": [0, wait * MS]}
    path = {
        "location": [0, 0, 1],
        "what": ["code", "work", "wait"],
        "begin_ps": [0, 8 * MS, 10 * MS],
        "end_ps": [8 * MS, 10 * MS, (10 + wait) * MS],
    }
    return Execution((10 + wait) * MS, pl.DataFrame(times, schema_overrides={"location": pl.Int32}), pl.DataFrame(path))


def found(part: str = "") -> Cured:
    return Cured("late", 0.25, execution(10), execution(6), part=part, calls=7, of_ps=20 * MS)


def rows(*of: int) -> Rows:
    names = tuple(str(i) for i in range(max(of) + 1))
    of_rows = pl.DataFrame({"location": range(len(of)), "row": of}, schema={"location": pl.Int32, "row": pl.Int32})
    return Rows(of_rows, names, names, names, np.bincount(of), "rank")


def test_the_paths_add_up_to_the_lengths() -> None:
    made = both_paths(found())
    bars = {bar.name: bar.x for bar in made.figure.data}
    assert bars == {"code between calls": (8, 8), "calls' own work": (2, 2), "on the way between ranks": (10, 6)}
    # 16 instead of 20; the finding says 25 %.
    assert facts(made.summary) == ["16.0 ms", "20.0 ms", "20.0 %", "25.0 %"]


def test_what_is_replayed_is_said() -> None:
    said = both_paths(found("7 calls in 3 windows of the program")).summary
    assert says(said, "16.0 ms", "20.0 ms", "7", "3")


def test_each_rank_has_two_bars_one_below_the_other() -> None:
    made = ranks_before_and_after(found(), rows(0, 1))
    waits = [bar for bar in made.figure.data if bar.name.startswith("waiting")]
    assert [bar.x for bar in waits] == [(0, 10), (0, 6)]
    assert [bar.base for bar in waits] == [(10, 4), (10, 4)]
    assert waits[0].y[0] < 0 < waits[1].y[0]
    assert "the ranks wait 40.0 % less" in made.summary


def test_a_row_of_two_ranks_is_their_mean() -> None:
    made = ranks_before_and_after(found(), rows(0, 0))
    assert [bar.x[0] for bar in made.figure.data[:3]] == pytest.approx([6, 1, 5])
