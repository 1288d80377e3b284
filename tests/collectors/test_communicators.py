"""Communicators: one id for all members, the right groups in the right order, names, and reuse of handles."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from tests.collectors import recording

# name -> world ranks in the order of the communicator's ranks
GROUPS = {
    "MPI_COMM_WORLD": "0, 1, 2, 3",
    "even": "2, 0",  # split with key -rank
    "odd": "1",
    "created": "3, 1",
    "create_group": "3, 1",
    "grid": "0, 1, 2, 3",
    "row 0": "0, 1",
    "row 1": "2, 3",
    "graph": "0, 1, 2, 3",
    "adjacent": "0, 1, 2, 3",
    "distributed": "0, 1, 2, 3",
    "node": "0, 1, 2, 3",
    "idup": "0, 1, 2, 3",
    "merged": "2, 3, 0, 1",
}


@pytest.fixture(scope="module")
def traces() -> dict[str, recording.Trace]:
    """One recording per MPI serves all tests of this file."""
    return {}


@pytest.fixture
def trace(mpi: str, traces: dict[str, recording.Trace], tmp_path: Path) -> recording.Trace:
    if mpi not in traces:
        program = recording.build("communicators.c", mpi, tmp_path)
        result = recording.run(mpi, tmp_path, 4, program)
        assert result.status == 0, result.err
        traces[mpi] = result.read()
    return traces[mpi]


def test_groups_and_names(trace: recording.Trace) -> None:
    for name, members in GROUPS.items():
        assert trace.members(name) == [members], name


def test_messages_meet_in_one_communicator(trace: recording.Trace) -> None:
    sends = trace.comms_by_tag("MPI_SEND")
    assert sends == trace.comms_by_tag("MPI_RECV")
    for tag in (10, 11, 12, 30, 31, 40, 50, 51, 52, 60, 70, 82):
        assert len(sends[tag]) == 1, f"all members of tag {tag} name one communicator"
    # three duplicates with one handle are three communicators
    assert len(sends[10] | sends[11] | sends[12]) == 3
    assert {re.sub(r" <\d+>", "", c) for c in sends[20]} == {'"even"', '"odd"'}


def test_peers_are_ranks_of_the_communicator(trace: recording.Trace) -> None:
    # world rank 3 is rank 0 of "created" and sends to its rank 1
    (send,) = [e for e in trace.on(3, "MPI_SEND") if e.number("Tag") == 30]
    assert send.number("Receiver") == 1
    (receive,) = [e for e in trace.on(1, "MPI_RECV") if e.number("Tag") == 30]
    assert receive.number("Sender") == 0


def test_names_of_processes_are_no_larger_than_every_mpi_compares(mpi: str, tmp_path: Path) -> None:
    """MPICH 4.0 takes the largest of MPI_UINT64_T as of signed numbers: half of all names got lost between the groups
    of an inter-communicator, which then could not be distinguished."""
    program = recording.build("communicators.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path, 4, program, options=("--keep-raw",))
    assert result.status == 0, result.err
    logs = [path.read_bytes() for path in tmp_path.rglob("*.raw") if path.is_file()]
    names = {struct.unpack_from("<QIIQ", log)[3] for log in logs}
    assert len(names) == 4
    assert max(names) < 2**63


def test_inter_communicator_has_two_groups(trace: recording.Trace) -> None:
    assert trace.sides() == [("inter", ["0, 1", "2, 3"])]
    (there,) = [e for e in trace.on(0, "MPI_SEND") if e.number("Tag") == 80]
    assert there.number("Receiver") == 1, "rank in the remote group"
    (here,) = [e for e in trace.on(3, "MPI_RECV") if e.number("Tag") == 80]
    assert here.number("Sender") == 0
    assert there.comm == here.comm
    roots = [e.text for rank in range(4) for e in trace.on(rank, "MPI_COLLECTIVE_END") if e.operation == "BCAST"]
    assert ["Root: SELF" in roots[0], "Root: THIS_GROUP" in roots[1]] == [True, True]
    assert all(re.search(r"Root: 0\b", text) for text in roots[2:])


def test_creation_and_end_are_events(trace: recording.Trace) -> None:
    for rank in range(4):
        created = [e.comm for e in trace.on(rank, "COMM_CREATE")]
        destroyed = [e.comm for e in trace.on(rank, "COMM_DESTROY")]
        assert len(created) == len(set(created)), "a communicator appears once"
        assert set(destroyed) <= set(created)
        assert '"MPI_COMM_WORLD" <0>' in created
        # what the program does not free: the created group (ranks 1 and 3), the grid, the half
        names = {re.sub(r" <\d+>", "", c).strip('"') for c in set(created) - set(destroyed)}
        assert names == ({"created", "grid", ""} if rank % 2 else {"grid", ""})


def test_self_is_one_communicator(trace: recording.Trace) -> None:
    selves = [e for e in trace.events if e.kind == "MPI_SEND" and e.number("Tag") == 90]
    assert len(selves) == 4
    assert {e.comm for e in selves} == {'"MPI_COMM_SELF" <1>'}
    assert [line for line in trace.defined("GROUP") if "Type: COMM_SELF" in line]
