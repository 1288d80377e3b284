"""Inter-communicators in which one group gives and the other gets: no rank waits for one that gives nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.mpi

OPERATIONS = ("Allgather", "Alltoall")


@pytest.fixture
def run(mpi: str, tmp_path: Path) -> Run:
    result = recording.run(mpi, tmp_path, 4, recording.build("one_group_gives.c", mpi, tmp_path))
    assert result.status == 0, result.err
    return Run.open(analyze(Request(str(result.archive), str(tmp_path / "app.run"))))


def test_no_clock_is_blamed_and_givers_wait_for_no_rank(run: Run) -> None:
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []
    groups = run.table("communicators").filter(pl.col("first_group") > 0).collect()
    assert groups.select("size", "first_group").rows() == [(4, 2)]
    rows = (
        run.table("collectives")
        .filter(pl.col("comm").is_in(groups["comm"].implode()), pl.col("operation").cast(pl.String).is_in(OPERATIONS))
        .select("location", "bytes_received", "wait_ps")
        .collect()
    )
    givers = rows.filter(pl.col("bytes_received") == 0)
    assert givers.height == 3 * 3 * 2
    assert givers["wait_ps"].max() == 0


def test_operations_with_a_root_are_divided_and_its_own_group_looks_on(run: Run) -> None:
    inter = run.table("communicators").filter(pl.col("first_group") > 0).collect()["comm"].implode()
    kinds = run.table("collective_kinds").filter(pl.col("comm").is_in(inter)).collect()
    rooted = kinds.filter(pl.col("operation").cast(pl.String).is_in(["Bcast", "Gatherv"]))
    assert set(rooted["algorithm"].cast(pl.String)) <= {"leaders", "linear"}
    assert rooted.select("members", "least_bytes", "most_bytes").rows() == [(4, 16, 16)] * 2
    rows = (
        run.table("collectives")
        .filter(pl.col("comm").is_in(inter), pl.col("operation").cast(pl.String).is_in(["Bcast", "Gatherv"]))
        .sort("operation", "location")
        .select("bytes_sent", "bytes_received", pl.col("wait_ps").filter(pl.col("location") == 2).max().alias("idle"))
        .collect()
    )
    assert rows.rows() == [
        *((0, 16, 0), (0, 16, 0), (0, 0, 0), (32, 0, 0)),
        *((16, 0, 0), (16, 0, 0), (0, 0, 0), (0, 32, 0)),
    ]
