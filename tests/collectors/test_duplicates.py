"""MPI_Comm_idup: one name for all members, another one for each duplicate, of inter-communicators too."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.collectors import recording


@pytest.fixture
def trace(mpich: str, tmp_path: Path) -> recording.Trace:
    """Under MPICH alone: Open MPI 4.1 hangs now and then while it numbers new communicators, recorded or not."""
    result = recording.run(mpich, tmp_path, 4, recording.build("duplicates.c", mpich, tmp_path))
    assert result.status == 0, result.err
    return result.read()


def test_every_duplicate_has_one_name_of_its_own(trace: recording.Trace) -> None:
    sends = trace.comms_by_tag("MPI_SEND")
    assert sends == trace.comms_by_tag("MPI_RECV")
    assert [len(sends[tag]) for tag in range(1, 7)] == [1] * 6
    assert len(set.union(*sends.values())) == 6


def test_a_duplicate_of_an_inter_communicator_has_its_groups(trace: recording.Trace) -> None:
    assert sorted(trace.sides()) == [("again", ["0, 1", "2, 3"]), ("inter", ["0, 1", "2, 3"])]
    for rank in range(4):
        ended = [e for e in trace.on(rank, "MPI_COLLECTIVE_END") if e.comm.startswith('"again"')]
        assert "BARRIER" in [e.operation for e in ended]
