"""The page of a replay without a finding's cause says what the replay keeps."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.dashboards.synthetic import make_run
from tests.said import facts

from logpost.dashboards.app.pages import without
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State
from logpost.dashboards.app.view import View


@pytest.mark.parametrize("waits", [False, True])
def test_calls_that_complete_the_first_arrival_are_said_to_keep_their_order(tmp_path: Path, waits: bool) -> None:
    make_run(tmp_path / "a.run")
    if waits:
        file = tmp_path / "a.run" / "regions.parquet"
        name = pl.when(pl.col("name") == "MPI_Recv").then(pl.lit("MPI_Waitany")).otherwise(pl.col("name"))
        regions = pl.read_parquet(file).with_columns(name.alias("name"))
        assert "MPI_Waitany" in regions["name"].to_list()
        regions.write_parquet(file)
    said = without._order_kept(View(Runs([tmp_path / "a.run"]), State()))
    assert facts(said) == ["MPI_Waitany"] * waits
    assert bool(said) is waits
