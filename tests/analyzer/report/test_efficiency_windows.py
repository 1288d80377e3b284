"""Efficiencies over time, from a handful of accounts."""

from __future__ import annotations

import polars as pl
import pytest
from tests.said import facts

from logpost.analyzer.render.report.efficiencies import lowest_text
from logpost.analyzer.report.efficiency_windows import by_stretch, ideal_runtime, lowest
from logpost.analyzer.run.manifest import Windows

WIDTH = 100


def _accounting(rows: list[tuple[int, int, str, int]]) -> pl.LazyFrame:
    """(location, window, category, time), all of the program."""
    return pl.LazyFrame(
        {
            "location": [row[0] for row in rows],
            "window": [row[1] for row in rows],
            "phase": ["program"] * len(rows),
            "category": [row[2] for row in rows],
            "exposed_ps": [row[3] for row in rows],
        }
    )


NO_REPLAY = pl.LazyFrame(schema={"location": pl.Int32, "window": pl.Int32, "ideal_ps": pl.Int64})

# Two ranks, three windows of 100: both compute 80; one computes 60 and the other 20; the second is over after 10.
ROWS = [
    *[(rank, 0, category, time) for rank in (0, 1) for category, time in (("compute", 80), ("late_sender", 20))],
    (0, 1, "compute", 60),
    (0, 1, "latency", 40),
    (1, 1, "compute", 20),
    (1, 1, "late_sender", 80),
    (0, 2, "collective", 100),
    (1, 2, "collective", 10),
]


def test_each_stretch_has_its_efficiencies() -> None:
    first, second, third = by_stretch(_accounting(ROWS), NO_REPLAY, Windows(count=3, width_ps=WIDTH), 2)
    assert (first.parallel_efficiency, first.load_balance, first.communication_efficiency) == pytest.approx(
        (0.8, 1, 0.8)
    )
    # mean 40, most 60, of 100
    assert (second.parallel_efficiency, second.load_balance, second.communication_efficiency) == pytest.approx(
        (0.4, 2 / 3, 0.6)
    )
    assert (third.parallel_efficiency, third.load_balance, third.communication_efficiency) == (0.0, None, 0.0)
    assert (second.begin_ps, second.end_ps) == (100, 200)
    for one in (first, second):
        assert one.load_balance is not None
        assert one.parallel_efficiency == pytest.approx(one.load_balance * one.communication_efficiency)


def test_windows_are_joined_until_there_are_few() -> None:
    joined, rest = by_stretch(_accounting(ROWS), NO_REPLAY, Windows(count=3, width_ps=WIDTH), 2, most=2)
    # 140 and 100 of 200: mean 120, most 140
    assert (joined.parallel_efficiency, joined.communication_efficiency) == pytest.approx((0.6, 0.7))
    assert (joined.begin_ps, joined.end_ps, rest.begin_ps) == (0, 200, 200)


def test_the_lowest_is_one_that_most_ranks_are_in() -> None:
    stretches = by_stretch(_accounting(ROWS), NO_REPLAY, Windows(count=3, width_ps=WIDTH), 2)
    assert [one.whole for one in stretches] == [True, True, True]  # 110 of 200 in the last
    assert lowest(stretches) is stretches[2]
    cut = [*ROWS[:-2], (0, 2, "collective", 60)]
    rare = by_stretch(_accounting(cut), NO_REPLAY, Windows(count=3, width_ps=WIDTH), 2)
    assert [one.whole for one in rare] == [True, True, False]
    worst = lowest(rare)
    assert worst is rare[1]
    assert facts(lowest_text(rare)) == ["100 ps", "200 ps", "40.0 %", "load balance", "66.7 %", "60.0 %"]
    assert lowest(rare[:1]) is None
    assert lowest_text(()) == ""


def test_no_program_no_stretches() -> None:
    assert (
        by_stretch(_accounting([]).cast({"exposed_ps": pl.Int64}), NO_REPLAY, Windows(count=3, width_ps=WIDTH), 2) == ()
    )


def test_an_ideal_network_divides_communication_efficiency() -> None:
    # On it the ranks take 80 and 80, then 64 and 48 of the second window's 100; of the third nothing is known.
    ideal = pl.LazyFrame({"location": [0, 1, 0, 1], "window": [0, 0, 1, 1], "ideal_ps": [80, 80, 64, 48]})
    first, second, third = by_stretch(_accounting(ROWS), ideal, Windows(count=3, width_ps=WIDTH), 2)
    assert (first.serialization, first.transfer) == pytest.approx((1, 0.8))  # all lost to the network
    assert (second.serialization, second.transfer) == pytest.approx((60 / 64, 0.64))
    assert (third.serialization, third.transfer) == (None, None)
    assert ideal_runtime(ideal) == 144  # the first rank's 80 + 64
    assert ideal_runtime(NO_REPLAY) is None
