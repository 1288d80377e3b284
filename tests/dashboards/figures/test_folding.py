"""Ranks folded into rows and windows into bins: every time lands in exactly one cell."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.dashboards.synthetic import make_run
from tests.said import facts

from logpost.analyzer.run.manifest import Windows
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.schema import CATEGORIES, LOCATIONS
from logpost.dashboards.figures.folding import columns, program_span, rows, time_cube


def locations(ranks: list[int], processes: list[int] | None = None) -> pl.DataFrame:
    n = len(ranks)
    known = {
        "location": list(range(n)),
        "rank": ranks,
        "process": processes or list(range(n)),
        "name": ["t"] * n,
        "host": ["<h>"] * n,
        "accounted": [True] * n,
    }
    empty = LOCATIONS.empty()
    return pl.concat(
        [empty, pl.DataFrame(known).cast(dict.fromkeys(["location", "rank", "process"], pl.Int32))], how="diagonal"
    )


def test_rows_follow_ranks_not_locations() -> None:
    made = rows(locations([2, 0, 1]), 10)
    assert made.labels == ("0", "1", "2")
    assert made.of.sort("location")["row"].to_list() == [2, 0, 1]
    assert made.titles[0] == "rank 0 on &lt;h&gt;"
    assert made.names[0] == "rank 0 on <h>"
    assert made.note == ""


def test_4096_ranks_become_blocks_that_say_so() -> None:
    made = rows(locations(list(range(4096))), 200)
    # ceil(4096 / 200) = 21 ranks a block; ceil(4096 / 21) = 196 blocks, the last of 4096 - 195 * 21 = 1 rank.
    assert (made.count, made.sizes.tolist()) == (196, [21] * 195 + [1])
    assert made.labels[:2] == ("0", "21")
    assert made.titles[1] == "ranks 21–41"
    assert facts(made.note) == ["4,096", "196", "21"]


def test_threads_follow_their_rank_and_are_called_by_it() -> None:
    # Ranks 1 and 0 with a thread each behind them, and a process without a rank.
    made = rows(locations([1, 0, -1, -1, -1], [7, 3, 3, 7, 5]), 10)
    assert made.what == "thread"
    assert made.of.sort("location")["row"].to_list() == [2, 0, 1, 3, 4]
    assert made.names[:4] == tuple(f"thread {k} of rank {r} on <h>" for r in (0, 1) for k in (0, 1))
    assert made.names[4] == "process 5 on <h>"
    ranked = rows(locations([1, 0, -1, -1], [7, 3, 3, 7]), 10)
    assert (ranked.labels, ranked.axis) == (("0.0", "0.1", "1.0", "1.1"), "rank.thread")


def test_locations_that_are_not_accounted_have_no_row() -> None:
    frame = locations([0, 1]).with_columns(pl.Series("accounted", [True, False]))
    assert rows(frame, 10).count == 1


@pytest.mark.parametrize(("windows", "cap", "count", "width"), [(64, 160, 64, 10), (64, 30, 22, 30), (1, 5, 1, 10)])
def test_bins_are_whole_windows(windows: int, cap: int, count: int, width: int) -> None:
    # 64 windows in at most 30 bins: ceil(64 / 30) = 3 windows a bin, ceil(64 / 3) = 22 bins of 30 ps.
    made = columns(Windows(count=windows, width_ps=10), cap)
    assert (made.count, made.width_ps) == (count, width)


def test_bins_begin_with_the_program() -> None:
    # Windows of 10 ps; a program from 35 to 95 ps covers windows 3 to 9: seven, in bins of two the last half empty.
    made = columns(Windows(count=20, width_ps=10), 4, (35, 95))
    assert (made.first_window, made.count, made.width_ps, made.begin_ps, made.length_ps) == (3, 4, 20, 30, 80)
    table = pl.LazyFrame({"window": [2, 3, 4, 5, 9, 10, 11, 12]})
    assert made.binned(table).collect().rows() == [(3, 0), (4, 0), (5, 1), (9, 3), (10, 3)]


def test_start_up_is_on_no_chart(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    frame = run.table("locations").collect()
    span = program_span(frame)
    assert span is not None
    over = columns(run.manifest.windows, 100, span)
    start_up = run.table("accounting").filter(pl.col("phase") != "program").collect()
    assert start_up["exposed_ps"].sum() > 0
    assert time_cube(run.table("accounting"), rows(frame, 10), over).sum() == sum(
        end - begin for begin, end in frame.select("begin_ps", "end_ps").iter_rows()
    )


def test_span_states_edges_with_the_digits_that_distinguish_bins() -> None:
    # 64 bins of 0.25 ms end at 16 ms, so the axis is in ms; 0.25 needs two decimals.
    assert columns(Windows(count=64, width_ps=250_000_000), 100).spans[3] == "0.75–1.00 ms"


@pytest.mark.parametrize(("row_cap", "column_cap"), [(100, 100), (3, 7), (1, 1)])
def test_cube_holds_every_picosecond_of_the_accounting(tmp_path: Path, row_cap: int, column_cap: int) -> None:
    run = make_run(tmp_path / "a.run", ranks=5, iterations=3)
    frame = run.table("locations").collect()
    cube = time_cube(run.table("accounting"), rows(frame, row_cap), columns(run.manifest.windows, column_cap))
    # Identity 1: a rank's categories add up to its program time exactly (all numbers stay below 2**53).
    assert cube.sum() == (frame["end_ps"] - frame["begin_ps"]).sum()
    compute = program(run.table("accounting")).filter(pl.col("category") == "compute").collect()["exposed_ps"].sum()
    assert cube[:, :, CATEGORIES.index("compute")].sum() == compute
