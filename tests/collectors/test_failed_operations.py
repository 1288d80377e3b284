"""Collective operations that return an error on some members: whether they are among the communicator's operations."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import raw_logs, recording
from tests.collectors.raw_logs import Log

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.collectors import assemble


def _operations(archive: Path, ranks: int) -> list[list[str]]:
    """What each rank has done in MPI_COMM_WORLD, but for the start and the end of the library."""
    trace = recording.read(archive)
    return [
        [
            e.operation
            for e in trace.on(rank, "MPI_COLLECTIVE_END", "NON_BLOCKING_COLLECTIVE_COMPLETE")
            if e.comm.startswith('"MPI_COMM_WORLD"')
        ][1:-1]
        for rank in range(ranks)
    ]


def _assembled(folder: Path, *logs: Log) -> list[list[str]]:
    for log in logs:
        log.call("MPI_Finalize", 900, 950)
    raw = raw_logs.write(folder / "raw", *logs)
    return _operations(assemble.assemble(assemble.find_assembler(), raw, folder).path, len(logs))


@pytest.fixture
def logs() -> list[Log]:
    """Three processes that have started."""
    made = [Log(rank, 3) for rank in range(3)]
    for log in made:
        log.sync(10, 10, 10**15)
        log.sync(1010, 1010, 10**15 + 1000)
        log.call("MPI_Init", 20, 40)
    return made


def test_one_that_the_others_have_done_counts(logs: list[Log], tmp_path: Path) -> None:
    # Of MPI_Comm_create a member learns that the group has a stranger when all have entered.
    for log in logs:
        log.collective("MPI_Barrier", 100, 110)
    logs[0].outside("MPI_Comm_create", 120, 140)
    logs[1].fails("MPI_Comm_create", 121, 141)
    logs[2].fails("MPI_Comm_create", 122, 142)
    for log in logs:
        log.collective("MPI_Allreduce", 200, 210)
    assert _assembled(tmp_path, *logs) == [["BARRIER", "CREATE_HANDLE", "ALLREDUCE"]] * 3


def test_one_that_is_done_again_does_not(logs: list[Log], tmp_path: Path) -> None:
    # An argument is wrong, which no other member sees; then it is right.
    logs[1].fails("MPI_Bcast", 100, 101)
    logs[1].fails("MPI_Allreduce", 102, 103)
    for log in logs:
        log.collective("MPI_Bcast", 110, 120)
        log.collective("MPI_Barrier", 130, 140)
    assert _assembled(tmp_path, *logs) == [["BCAST", "BARRIER"]] * 3


def test_one_that_all_have_failed_in_does_not(logs: list[Log], tmp_path: Path) -> None:
    for log in logs:
        log.fails("MPI_Bcast", 100, 110)
        log.collective("MPI_Barrier", 130, 140)
    assert _assembled(tmp_path, *logs) == [["BARRIER"]] * 3


def test_each_member_may_fail_in_another(logs: list[Log], tmp_path: Path) -> None:
    for log in logs:
        call = log.fails if log.rank == 0 else log.collective
        call("MPI_Bcast", 100, 110)
        call = log.fails if log.rank == 1 else log.collective
        call("MPI_Reduce", 120, 130)
    assert _assembled(tmp_path, *logs) == [["BCAST", "REDUCE"]] * 3


@pytest.mark.mpi
def test_errors_of_a_library_leave_records_that_agree(mpich: str, tmp_path: Path) -> None:
    """Under MPICH: Open MPI 4.1 returns no error, and makes a communicator with the stranger."""
    result = recording.run(mpich, tmp_path, 4, recording.build("failed.c", mpich, tmp_path))
    assert result.status == 0, result.err
    # A broadcast and a nonblocking one are longer than rank 1's buffer.
    done = ["CREATE_HANDLE", "BARRIER", "BCAST", "BARRIER", "BCAST", "BARRIER", "BARRIER"]
    assert _operations(result.archive, 4) == [done] * 4
    ended = [e.kind for e in result.read().on(1, "MPI_REQUEST_CANCELLED", "MPI_IRECV")]
    assert ended == ["MPI_REQUEST_CANCELLED", "MPI_IRECV"], "the receive that fails, and the one that does not"
    run = Run.open(analyze(Request(str(result.archive), str(tmp_path / "app.run"))))
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []
