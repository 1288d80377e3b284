"""Real operations that make or release a handle: ranks wait in them for the one that enters last."""

from __future__ import annotations

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording
from tests.collectors.conftest import require

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program

RANKS = 4
LATE_PS = 10**11
"""By which rank 0 arrives late, each time: 0.1 s."""
PLACES = (
    "MPI_Comm_dup",
    "MPI_Comm_split",
    "MPI_Wait",  # that completes MPI_Comm_idup
    "MPI_Cart_create",
    "MPI_Intercomm_create",  # the ranks of the other group wait, too
    "MPI_Intercomm_merge",
    "MPI_Win_allocate",
    "MPI_Win_create",
    "MPI_Win_free",
    "MPI_File_open",
    "MPI_File_close",
    "MPI_Comm_create",
    "MPI_Comm_create_group",
    "MPI_Comm_dup_with_info",
    "MPI_Comm_split_type",
    "MPI_Cart_sub",
    "MPI_Dist_graph_create_adjacent",
    "MPI_Win_create_dynamic",
    "MPI_Win_allocate_shared",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    mpi = require("openmpi")
    folder = tmp_path_factory.mktemp("constructors")
    built = recording.build("constructors.c", mpi, folder)
    command = (recording.LAUNCHERS[mpi], "-n", str(RANKS), str(built), str(folder / "file"))
    # Open MPI's other components make no window of a program's own memory where ranks cannot attach to each other's.
    result = recording.record(folder, *command, env=recording.environment(OMPI_MCA_osc="pt2pt,sm"))
    assert result.status == 0, result.err
    return Run.open(analyze(Request(str(result.archive), str(folder / "a.run"))))


@pytest.mark.alone  # a rank that waits 0.1 s for a core is the late one
@pytest.mark.mpi
@pytest.mark.parametrize("place", PLACES)
def test_ranks_wait_for_the_late_one(run: Run, place: str) -> None:
    rows = (
        program(run.table("exposure"))
        .join(run.table("callpaths"), on="callpath")
        .join(run.table("regions").select("region", function="name"), on="region")
        .filter(pl.col("function") == place, pl.col("category") == "collective_wait")
        .group_by("location")
        .agg(pl.col("exposed_ps").sum())
        .collect()
    )
    waited = dict(rows.iter_rows())
    # A rank may need a core that another one has, and enter later than it would; the late one, too, waits then.
    assert all(waited.get(rank, 0) > LATE_PS / 2 for rank in range(1, RANKS)), waited
    assert waited.get(0, 0) < min(waited[rank] for rank in range(1, RANKS)), waited


@pytest.mark.mpi
def test_the_late_rank_has_the_path_and_the_blame(run: Run) -> None:
    path = program(run.table("path_profile")).filter(pl.col("category") == "compute")
    computed = dict(path.group_by("location").agg(pl.col("on_path_ps").sum()).collect().iter_rows())
    assert max(computed, key=lambda rank: computed[rank]) == 0
    assert computed[0] > len(PLACES) * LATE_PS * 0.9
    costs = run.table("delay_costs").filter(pl.col("pattern") == "wait_at_creation", pl.col("location") == 0)
    paid = costs.select(pl.col("short_term_ps").sum()).collect().item()
    assert paid > len(PLACES) * (RANKS - 1) * LATE_PS / 2
