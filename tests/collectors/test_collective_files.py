"""Collective operations on files: ranks wait in them for the one that enters last, where their times show it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording
from tests.collectors.conftest import require
from tests.once import made_once

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program

RANKS = 3
LATE_PS = 10**11
"""Rank 0 enters so long after the others, each time: 0.1 s."""
PLACES = (
    "MPI_File_open",
    "MPI_File_set_view",
    "MPI_File_set_size",
    "MPI_File_preallocate",
    "MPI_File_set_atomicity",
    "MPI_File_write_at_all",
    "MPI_File_read_at_all",
    "MPI_File_write_all",
    "MPI_File_read_all",
    "MPI_File_seek_shared",
    "MPI_File_write_ordered",
    "MPI_File_read_ordered",
    "MPI_File_write_at_all_begin",
    "MPI_File_sync",
    "MPI_File_close",
)
LEAVES_EARLY = {"mpich": "MPI_File_sync", "openmpi": "MPI_File_write_at_all_begin"}
"""MPI lets each collective operation on a file synchronize and requires it of none: these return without rank 0."""


@pytest.fixture(params=["openmpi", "mpich"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Run]:
    """The MPI, and the run of its program."""
    mpi = require(request.param)

    def record(folder: Path) -> None:
        built = recording.build("collective_files.c", mpi, folder)
        result = recording.run(mpi, folder, RANKS, built, str(folder / "file"))
        assert result.status == 0, result.err
        analyze(Request(str(result.archive), str(folder / "a.run")))

    return mpi, Run.open(made_once(tmp_path_factory, f"collective-files-{mpi}", record) / "a.run")


def _waited(run: Run) -> dict[str, dict[int, int]]:
    """By function and rank: the time that it waited for the rank that arrives last, in ps."""
    rows = (
        program(run.table("exposure"))
        .join(run.table("callpaths"), on="callpath")
        .join(run.table("regions").select("region", function="name"), on="region")
        .filter(pl.col("category") == "collective_wait")
        .group_by("function", "location")
        .agg(pl.col("exposed_ps").sum())
        .collect()
    )
    found: dict[str, dict[int, int]] = {}
    for function, rank, waited in rows.iter_rows():
        found.setdefault(function, {})[rank] = waited
    return found


@pytest.mark.mpi
def test_ranks_wait_for_the_late_one(run: tuple[str, Run]) -> None:
    mpi, known = run
    waited = _waited(known)
    for place in PLACES:
        here = waited.get(place, {})
        others = [here.get(rank, 0) for rank in range(1, RANKS)]
        # A rank may need a core that another one has, and enter later than it would.
        if place == LEAVES_EARLY[mpi]:
            assert max(others) < LATE_PS / 2, (place, here)
        else:
            assert min(others) > LATE_PS / 2, (place, here)
        assert here.get(0, 0) < LATE_PS / 2, (place, here)


@pytest.mark.mpi
def test_the_late_rank_has_the_path_and_the_blame(run: tuple[str, Run]) -> None:
    _, known = run
    path = program(known.table("path_profile")).filter(pl.col("category") == "compute")
    computed = dict(path.group_by("location").agg(pl.col("on_path_ps").sum()).collect().iter_rows())
    times = len(PLACES) - 1
    assert computed[0] > times * LATE_PS * 0.9
    assert max(computed, key=lambda rank: computed[rank]) == 0
    costs = known.table("delay_costs").filter(pl.col("pattern") == "wait_at_creation", pl.col("location") == 0)
    assert costs.select(pl.col("short_term_ps").sum()).collect().item() > times * (RANKS - 1) * LATE_PS / 2


@pytest.mark.mpi
def test_a_file_is_a_communicator_from_its_opening_to_its_closing(run: tuple[str, Run]) -> None:
    """Its operations have an order apart from its communicator's. Files of one rank, that do not exist, and no files
    have none."""
    trace = recording.read(Path(run[1].path).parent.glob("logpost_*").__next__())
    file = str(Path(run[1].path).parent / "file")
    assert trace.members(file) == ["0, 1, 2"]
    assert len(trace.defined("COMM")) == 3  # MPI_COMM_WORLD, MPI_COMM_SELF
    for rank in range(RANKS):
        begun = {name: trace.within(rank, name, "MPI_COLLECTIVE_END") for name in trace.calls(rank)}
        assert [[e.comm.split('"')[1] for e in one] for one in begun["MPI_File_open"]] == [
            ["MPI_COMM_WORLD"],
            ["MPI_COMM_SELF"],
            [],
        ]
        assert [[e.operation for e in one] for one in begun["MPI_File_close"]] == [[], [], ["DESTROY_HANDLE"]]
        assert [[e.comm.split('"')[1] for e in one] for one in begun["MPI_File_sync"]] == [[file], []]
        assert [len(one) for one in begun["MPI_File_read_at_all"]] == [1, 0]
        assert len(trace.on(rank, "COMM_CREATE")) == len(trace.on(rank, "COMM_DESTROY"))


@pytest.mark.mpi
def test_files_opened_while_recording_is_off_are_known(mpi: str, tmp_path: Path) -> None:
    program = recording.build("files_switched.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path, 2, program, str(tmp_path / "first"), str(tmp_path / "second"))
    assert result.status == 0, result.err
    trace = result.read()
    files = [str(tmp_path / "first"), str(tmp_path / "second")]
    for rank in range(2):
        done = [(e.comm.split('"')[1], e.operation) for e in trace.on(rank, "MPI_COLLECTIVE_END")]
        # Rank 1's write and its opening of the second file have no record, nor have rank 0's, for those are halves.
        assert [one for one in done if one[0] in files] == [
            (files[0], "CREATE_HANDLE"),  # set_view
            (files[1], "CREATE_HANDLE"),  # set_size
            (files[0], "CREATE_HANDLE"),  # sync
            (files[0], "DESTROY_HANDLE"),
        ]
    run = Run.open(analyze(Request(str(result.archive), str(tmp_path / "a.run"))))
    assert [one.name for one in run.manifest.quality if one.severity != "info" and one.count] == []
