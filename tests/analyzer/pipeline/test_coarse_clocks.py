"""A coarse clock has many calls at one instant, and calls without length: their order is that of the records."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer import imbalance
from tests.analyzer.in_process import analyze
from tests.rewritten import rewritten

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES

RECORDS = ("callpaths", "regions", "calls", "messages", "unmatched", "collectives", "transfers", "epochs", "profile")
OF_TIME = {"window", "protocol", "clock_violation", "waits_for"}
"""Columns that state times or follow from them."""


def analyzed(anchor: Path, run: Path) -> Run:
    return Run.open(analyze(Request(str(anchor), str(run))))


def records(run: Run, name: str) -> pl.DataFrame:
    """A table without its times."""
    kept = [column for column in TABLES[name].schema.names() if column not in OF_TIME and not column.endswith("_ps")]
    table = run.table(name).select(kept).collect()
    return table.sort(kept) if name == "messages" else table


def calls_by_place(run: Run) -> pl.DataFrame:
    """How often each location calls from each place, as the accounting has it."""
    phases = run.table("exposure").group_by("location", "callpath", "phase").agg(pl.col("calls").max())
    return phases.group_by("location", "callpath").agg(pl.col("calls").sum()).sort("location", "callpath").collect()


def findings(run: Run) -> list[tuple[str, str, str, list[int]]]:
    """Kind, places and ranks of each."""
    rows = run.table("findings").select("kind", "region", "cause_region", "ranks").collect()
    return [(kind, region, cause, list(ranks)) for kind, region, cause, ranks in rows.iter_rows()]


@pytest.fixture(scope="module")
def fine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    folder = tmp_path_factory.mktemp("fine")
    anchor = imbalance.write(folder)
    return anchor, analyzed(anchor, folder / "run")


def test_the_imbalance_is_found_where_it_is(fine: tuple[Path, Run]) -> None:
    _, run = fine
    assert findings(run) == [
        ("load_imbalance", "MPI_Allreduce", "app, between MPI_Barrier and MPI_Allreduce", [0]),
    ]


@pytest.mark.parametrize("tick_ms", [1, 10])
def test_so_it_is_with_ticks_of(tick_ms: int, fine: tuple[Path, Run], tmp_path: Path) -> None:
    anchor, run = fine
    coarse = analyzed(rewritten(anchor, tmp_path / "coarse", "ticks", tick_ms * imbalance.MS), tmp_path / "run")
    assert coarse.manifest.clock.ticks_per_second == 1000 // tick_ms
    for name in RECORDS:
        assert records(coarse, name).equals(records(run, name)), name
    assert calls_by_place(coarse).equals(calls_by_place(run))
    assert findings(coarse) == findings(run)


def test_so_it_is_where_the_last_rank_s_calls_have_no_length(fine: tuple[Path, Run], tmp_path: Path) -> None:
    """A simulator without overheads: all leave at the instant at which the last one enters."""
    run = analyzed(imbalance.write(tmp_path, exchange=0), tmp_path / "run")
    instant = (pl.col("enter_ps") == pl.col("leave_ps")) & (pl.col("location") == 0)
    # 50 times MPI_Allreduce, MPI_Comm_rank and MPI_Barrier; MPI_Init and MPI_Finalize last 1 ms.
    assert run.table("calls").filter(instant).collect().height == 3 * imbalance.STEPS
    for name in RECORDS:
        assert records(run, name).equals(records(fine[1], name)), name
    assert calls_by_place(run).equals(calls_by_place(fine[1]))
    assert findings(run) == findings(fine[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "pipit-ping-pong",
        "scorep-lulesh-nocomp-8",
        "scorep-npb-cg-W-nocomp-8",
        "scorep-prk-rma-transpose-flush-4",
        "scorep-shmem-stencil-4",
        "tracer-stencil4d-32",
        "casita-10_scorep_mpi_tags",
    ],
)
def test_records_of_real_archives_stay_what_they_are(name: str, traces: Path, tmp_path: Path) -> None:
    """At ticks of 1 ms, in which a thousand calls may lie."""
    (anchor,) = (traces / name).glob("*.otf2")
    run = analyzed(anchor, tmp_path / "fine.run")
    ticks = run.manifest.clock.ticks_per_second // 1000
    coarse = analyzed(rewritten(anchor, tmp_path / "coarse", "ticks", ticks), tmp_path / "coarse.run")
    for table in RECORDS:
        assert records(coarse, table).equals(records(run, table)), table
    assert calls_by_place(coarse).equals(calls_by_place(run))
