"""Ids that differ from rank to rank, where every process writes its own definitions: equal content is one region."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer import imbalance
from tests.analyzer.in_process import analyze
from tests.rewritten import rewritten

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES


def assert_same(anchor: Path, folder: Path) -> Run:
    """The archive and the same one with an id for each location have the same tables; returns the latter's run."""
    apart = rewritten(anchor, folder / "apart", "apart")
    common, run = (
        Run.open(analyze(Request(str(of), str(folder / name)))) for of, name in ((anchor, "a.run"), (apart, "b.run"))
    )
    for name in TABLES:
        assert run.table(name).collect().equals(common.table(name).collect()), name
    assert run.manifest.quality == common.manifest.quality
    return run


def test_an_imbalance_is_found_with_any_ids(tmp_path: Path) -> None:
    """Rank 0 computes 71 % longer than the others: 24 ms for 14."""
    run = assert_same(imbalance.write(tmp_path), tmp_path)
    (found,) = run.table("findings").select("kind", "ranks", "cause_region").collect().rows()
    assert found == ("load_imbalance", [0], "app, between MPI_Barrier and MPI_Allreduce")
    # app, MPI_Init, MPI_Allreduce, MPI_Comm_rank, MPI_Barrier, MPI_Finalize: of four ranks each
    assert run.table("regions").collect().height == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["scorep-npb-lu-S-comp-4", "scorep-prk-rma-transpose-flush-4", "casita-10_scorep_mpi_tags", "tau-requests-2"],
)
def test_real_archives_do_not_depend_on_ids(name: str, traces: Path, tmp_path: Path) -> None:
    (anchor,) = (traces / name).glob("*.otf2")
    assert_same(anchor, tmp_path)
