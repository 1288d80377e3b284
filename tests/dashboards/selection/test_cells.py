"""Cells finer than windows: what they give is what windows of their width would give, group by group."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from tests.dashboards.synthetic import make_run

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.schema import TIME_CELLS
from logpost.dashboards.figures.folding import Rows
from logpost.dashboards.selection.cells import Cells
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.dashboards.selection.selection import Selection


@pytest.fixture(scope="module")
def fine(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """64 windows, one cell each."""
    return make_run(tmp_path_factory.mktemp("cells") / "fine.run")


@pytest.fixture(scope="module")
def coarse(fine: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same with 16 windows of four cells each, as `analyze` writes them."""
    return _coarse(fine, tmp_path_factory.mktemp("cells") / "coarse.run", members=1)


def _coarse(fine: Run, path: Path, members: int) -> Run:
    shutil.copytree(fine.path, path)
    accounting = fine.table("accounting")
    accounting.with_columns(pl.col("window") // 4).group_by("location", "window", "phase", "category").agg(
        pl.col("exposed_ps").sum()
    ).collect().write_parquet(path / "accounting.parquet")
    first = pl.col("location") // members * members
    levels = [
        program(accounting)
        .group_by(
            location=first.cast(pl.Int32), cell=(pl.col("window") // 2**level).cast(pl.Int32), category="category"
        )
        .agg(pl.col("exposed_ps").sum())
        .with_columns(level=pl.lit(level, dtype=pl.Int32), members=pl.lit(members, dtype=pl.Int32))
        for level in (0, 1)
    ]
    table = pl.concat(levels).sort("level", "cell", "location").select(TIME_CELLS.schema.names()).collect()
    table.write_parquet(path / "time_cells.parquet")
    windows = fine.manifest.windows
    made = windows.model_copy(
        update={"count": windows.count // 4, "width_ps": windows.width_ps * 4, "cells": 4}
    )  # fmt: skip
    manifest = fine.manifest.model_copy(update={"windows": made})
    (path / "manifest.json").write_text(manifest.model_dump_json())
    return Run.open(path)


def test_a_stretch_of_whole_cells_is_a_stretch_of_whole_windows(fine: Run, coarse: Run) -> None:
    width = fine.manifest.windows.width_ps
    for begin, end in ((3, 58), (2, 60), (5, 6)):
        chosen = Selection(begin * width, end * width)
        np.testing.assert_allclose(SelectedRun(coarse, chosen).by_rank, SelectedRun(fine, chosen).by_rank, rtol=1e-12)


@pytest.mark.parametrize("members", [1, 2])
def test_calls_are_read_at_the_ends_of_a_stretch_alone(
    fine: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, members: int
) -> None:
    grouped = _coarse(fine, tmp_path / "grouped.run", members)
    width = fine.manifest.windows.width_ps
    read: list[tuple[int, int]] = []
    of_calls = SelectedRun._of_calls

    def watched(self: SelectedRun, on: Rows, edges: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        read.append((int(edges[0]), int(edges[-1])))
        return of_calls(self, on, edges)

    monkeypatch.setattr(SelectedRun, "_of_calls", watched)
    for begin, end in (
        (3 * width + 17, 58 * width - 5),
        (5 * width + 1, 6 * width + 3),
        (7 * width + 1, 7 * width + 9),
    ):
        chosen = Selection(begin, end)
        read.clear()
        found = SelectedRun(grouped, chosen).by_rank
        whole = [(b // width, e // width) for b, e in read if e - b >= 2 * width]
        assert whole == [] if members == 1 else all(b // 4 == e // 4 for b, e in whole)  # within one window
        np.testing.assert_allclose(found, SelectedRun(fine, chosen).by_rank, rtol=1e-12)
        np.testing.assert_allclose(found.sum(axis=1), end - begin, atol=2)


def test_a_picture_takes_the_finest_level_that_it_holds(fine: Run, coarse: Run) -> None:
    cells = SelectedRun(coarse, Selection()).cells
    width = fine.manifest.windows.width_ps
    assert [cells.width_ps(level) for level in range(cells.levels)] == [width, 2 * width]
    assert cells.finest(0, 64 * width, 64) == (0, 0, 64)
    assert cells.finest(width, 63 * width, 40) == (1, 0, 32)
    assert cells.finest(0, 64 * width, 31) is None
    assert cells.whole(2 * width, 8 * width) == (1, 1, 3)
    assert cells.whole(width, 8 * width) == (0, 1, 7)
    assert cells.whole(1, 8 * width) is None
    whole, finer = (SelectedRun(run, Selection(0, 60 * width)) for run in (fine, coarse))
    on = whole.rows(4)
    wanted, over = whole.cube(on, 64)
    found, same = finer.cube(on, 64)
    assert (same.count, same.width_ps, same.begin_ps) == (over.count, over.width_ps, over.begin_ps)
    np.testing.assert_allclose(found, wanted)


def test_a_group_of_ranks_is_drawn_as_a_whole_or_not_at_all(fine: Run, tmp_path: Path) -> None:
    run = _coarse(fine, tmp_path / "grouped.run", members=2)
    scoped, single = SelectedRun(run, Selection()), SelectedRun(fine, Selection())
    pairs, each = scoped.rows(2), scoped.rows(4)
    cells = scoped.cells
    assert cells.members == 2
    assert cells.cube(each, 0, 0, 64) is None
    found = cells.cube(pairs, 0, 0, 64)
    assert found is not None
    ranks = Cells.of(run, fine.table("locations").collect()).group_of
    assert ranks["first"].to_list() == [0, 0, 2, 2]
    np.testing.assert_allclose(found.sum(axis=(1, 2)), single.by_rank.reshape(2, 2, -1).sum(axis=(1, 2)))
    # Half of a group is no separate row.
    some = SelectedRun(run, Selection(ranks=((1, 3),)))
    assert cells.cube(some.rows(1), 0, 0, 64) is None
    rest = SelectedRun(run, Selection(ranks=((2, 3),)))
    left = cells.cube(rest.rows(1), 0, 0, 64)
    assert left is not None
    np.testing.assert_allclose(left.sum(), found[1].sum())


def test_a_run_without_cells_has_none(fine: Run) -> None:
    scoped = SelectedRun(fine, Selection())
    assert scoped.cells.levels == 0
    assert scoped.steps_ps == [fine.manifest.windows.width_ps]
