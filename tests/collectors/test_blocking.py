"""Blocking point-to-point: one MpiSend and one MpiRecv for each message, in its place, and none for MPI_PROC_NULL."""

from __future__ import annotations

import itertools
from pathlib import Path

from tests.collectors import recording


def test_every_mode_leaves_its_messages(mpi: str, tmp_path: Path) -> None:
    program = recording.build("blocking.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path, 2, program)
    assert result.status == 0, result.err
    trace = result.read()
    sent = [(e.number("Tag"), e.number("Length")) for e in trace.on(0, "MPI_SEND")]
    # 3 ints are 12 bytes; tag 15 is sent to MPI_PROC_NULL and leaves nothing
    assert sent == [(10, 12), (11, 5), (13, 7), (14, 9), (20, 4), (21, 8), (22, 1)]
    assert [(e.number("Tag"), e.number("Length")) for e in trace.on(1, "MPI_SEND")] == [(12, 0), (20, 5), (21, 8)]
    got = [(e.number("Sender"), e.number("Tag"), e.number("Length")) for e in trace.on(1, "MPI_RECV")]
    # the wildcards of tags 10, 11 and 20 are resolved from the status; tag 13 was received by MPI_Irecv
    assert got == [(0, 10, 12), (0, 11, 5), (0, 14, 9), (0, 20, 4), (0, 21, 8), (0, 22, 1)]
    assert [(e.number("Sender"), e.number("Tag"), e.number("Length")) for e in trace.on(0, "MPI_RECV")] == [
        (1, 12, 0),
        (1, 20, 5),
        (1, 21, 8),
    ]
    (irecv,) = trace.on(1, "MPI_IRECV")
    assert (irecv.number("Sender"), irecv.number("Tag"), irecv.number("Length")) == (0, 13, 7)


def test_events_lie_within_their_calls(mpi: str, tmp_path: Path) -> None:
    program = recording.build("blocking.c", mpi, tmp_path)
    trace = recording.run(mpi, tmp_path, 2, program).read()
    assert trace.calls(0) == [
        "MPI_Init",
        "MPI_Comm_rank",
        "MPI_Send",
        "MPI_Ssend",
        "MPI_Recv",
        "MPI_Rsend",
        "MPI_Buffer_attach",
        "MPI_Bsend",
        "MPI_Buffer_detach",
        "MPI_Send",
        "MPI_Sendrecv",
        "MPI_Sendrecv_replace",
        "MPI_Sendrecv",
        "MPI_Finalize",
    ]
    for function in ("MPI_Ssend", "MPI_Rsend", "MPI_Bsend"):
        assert [len(inside) for inside in trace.within(0, function, "MPI_SEND")] == [1]
    # the send to MPI_PROC_NULL is a call without a message
    assert [len(inside) for inside in trace.within(0, "MPI_Send", "MPI_SEND")] == [1, 0]
    both, halves = trace.within(0, "MPI_Sendrecv", "MPI_SEND", "MPI_RECV")
    assert [e.kind for e in both] == ["MPI_SEND", "MPI_RECV"]
    assert [e.kind for e in halves] == ["MPI_SEND"]
    assert [e.kind for e in trace.within(1, "MPI_Wait")[0]] == ["MPI_IRECV"]
    # a send is stamped when its call begins, a receive when its call ends
    for location in (0, 1):
        events = trace.on(location)
        for before, e in itertools.pairwise(events):
            if e.kind == "MPI_SEND":
                assert e.time == before.time, "MpiSend follows its Enter at the same time"
            if before.kind == "MPI_RECV":
                assert e.time == before.time, "Leave follows MpiRecv at the same time"
