"""Requests: each is started once and completed once, whichever call completes it, under a separate id."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.collectors import recording


@pytest.fixture(scope="module")
def traces() -> dict[str, recording.Trace]:
    """One recording per MPI serves all tests of this file."""
    return {}


@pytest.fixture
def trace(mpi: str, traces: dict[str, recording.Trace], tmp_path: Path) -> recording.Trace:
    if mpi not in traces:
        program = recording.build("requests.c", mpi, tmp_path)
        result = recording.run(mpi, tmp_path, 2, program)
        assert result.status == 0, result.err
        traces[mpi] = result.read()
    return traces[mpi]


def test_every_send_is_completed_once_under_its_own_id(trace: recording.Trace) -> None:
    started = [e.number("Request") for e in trace.on(0, "MPI_ISEND")]
    completed = [e.number("Request") for e in trace.on(0, "MPI_ISEND_COMPLETE")]
    # 4 sends each with tags 100, 110, 120, 130; 150 and 151 started together, 150 again; 161 freed before completion
    assert len(started) == len(set(started)) == 4 * 4 + 3 + 1
    assert len(completed) == len(set(completed)) == 4 * 4 + 3
    freed = [e for e in trace.on(0, "MPI_ISEND") if e.number("Tag") == 161]
    assert set(started) - set(completed) == {e.number("Request") for e in freed}


def test_every_receive_has_the_message_that_arrived(trace: recording.Trace) -> None:
    requested = [e.number("Request") for e in trace.on(1, "MPI_IRECV_REQUEST")]
    received = trace.on(1, "MPI_IRECV")
    cancelled = [e.number("Request") for e in trace.on(1, "MPI_REQUEST_CANCELLED")]
    assert len(requested) == len(set(requested)) == 4 * 4 + 1 + 1 + 3 + 1
    assert sorted([e.number("Request") for e in received] + cancelled) == sorted(requested)
    assert len(cancelled) == 1
    assert all(e.number("Sender") == 0 for e in received)
    got = Counter((e.number("Tag"), e.number("Length")) for e in received)
    expected = Counter({(100 + i, 2 * i): 1 for i in range(4)})
    expected += Counter((base + i, 8) for base in (110, 120, 130) for i in range(4))
    expected += Counter({(140, 6): 1, (150, 3): 2, (151, 4): 1, (161, 6): 1})
    assert got == expected
    (mrecv,) = [e for e in trace.on(1, "MPI_RECV") if e.number("Tag") == 160]
    assert (mrecv.number("Sender"), mrecv.number("Length")) == (0, 5)


def test_completion_is_in_the_call_that_completed(trace: recording.Trace) -> None:
    waits = trace.within(0, "MPI_Wait", "MPI_ISEND_COMPLETE")
    # four singly, then the persistent one, then the inactive one, which completes nothing
    assert [len(inside) for inside in waits] == [1, 1, 1, 1, 1, 0]
    assert [len(inside) for inside in trace.within(0, "MPI_Waitany", "MPI_ISEND_COMPLETE")] == [1, 1, 1, 1, 0]
    assert sum(len(inside) for inside in trace.within(0, "MPI_Waitsome", "MPI_ISEND_COMPLETE")) == 4
    assert [len(inside) for inside in trace.within(0, "MPI_Waitall", "MPI_ISEND_COMPLETE")] == [2, 0]
    for function in ("MPI_Test", "MPI_Testany", "MPI_Testsome"):
        assert sum(len(inside) for inside in trace.within(0, function, "MPI_ISEND_COMPLETE")) == 1
    assert sum(len(inside) for inside in trace.within(0, "MPI_Testall", "MPI_ISEND_COMPLETE")) == 1
    reverse = trace.within(1, "MPI_Wait", "MPI_IRECV")[:4]
    assert [[e.number("Tag") for e in inside] for inside in reverse] == [[103], [102], [101], [100]]


def test_a_test_that_finds_nothing_says_so(trace: recording.Trace) -> None:
    tests = trace.within(1, "MPI_Test", "MPI_REQUEST_TEST", "MPI_IRECV")
    early = tests[-1]  # tag 140 is sent only after this test
    assert [e.kind for e in early] == ["MPI_REQUEST_TEST"]
    late = [e for e in trace.on(1, "MPI_IRECV") if e.number("Tag") == 140]
    assert early[0].number("Request") == late[0].number("Request")


def test_persistent_requests_start_with_start(trace: recording.Trace) -> None:
    assert [len(inside) for inside in trace.within(0, "MPI_Send_init", "MPI_ISEND")] == [0]
    (both,) = trace.within(0, "MPI_Startall", "MPI_ISEND")
    assert [(e.number("Tag"), e.number("Length")) for e in both] == [(150, 3), (151, 4)]
    (again,) = trace.within(0, "MPI_Start", "MPI_ISEND")
    assert [e.number("Tag") for e in again] == [150]


def test_mpi_proc_null_has_no_messages(trace: recording.Trace) -> None:
    messages = [e for e in trace.events if e.kind in ("MPI_SEND", "MPI_ISEND", "MPI_RECV", "MPI_IRECV")]
    assert len(messages) > 40
    assert 170 not in {e.number("Tag") for e in messages}
    assert trace.calls(0)[-4:] == ["MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Finalize"]
