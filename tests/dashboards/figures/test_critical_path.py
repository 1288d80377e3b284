"""The picture of the critical path: its time by rank and bin."""

from __future__ import annotations

import numpy as np
import polars as pl
from tests.said import facts

from logpost.analyzer.run import schema
from logpost.dashboards.figures.critical_path import critical_path, on_path
from logpost.dashboards.figures.folding import Columns, Rows


def two_ranks() -> Rows:
    return Rows(
        of=pl.DataFrame({"location": [0, 1], "row": [0, 1]}, schema={"location": pl.Int32, "row": pl.Int32}),
        labels=("0", "1"),
        titles=("rank 0", "rank 1"),
        names=("rank 0", "rank 1"),
        sizes=np.array([1, 1]),
        what="rank",
    )


def path(*stretches: tuple[int, int, int]) -> pl.DataFrame:
    rows = [(location, begin, end, -1, "begin") for location, begin, end in stretches]
    return pl.DataFrame(rows, schema=schema.CRITICAL_PATH.schema, orient="row")


def test_every_bin_holds_the_path_where_it_is() -> None:
    # Bins of 100 from 0. Rank 0 until 150, rank 1 until 320, rank 0 until 400.
    times = on_path(path((0, 0, 150), (1, 150, 320), (0, 320, 400)), two_ranks(), Columns(4, 1, 100))
    assert times.tolist() == [[100, 50, 0, 80], [0, 50, 100, 20]]


def test_what_lies_outside_of_the_bins_is_left_out() -> None:
    times = on_path(path((1, 0, 250), (0, 250, 900)), two_ranks(), Columns(2, 1, 100, first_window=2))
    assert times.tolist() == [[50, 100], [50, 0]]


def test_the_summary_names_the_rank_that_bears_most_of_it() -> None:
    chart = critical_path(path((0, 0, 100), (1, 100, 400)), two_ranks(), Columns(4, 1, 100))
    assert facts(chart.summary) == ["4", "75.0 %", "1"]
    assert chart.figure.data[0].z[1] == [None, 100, 100, 100]
