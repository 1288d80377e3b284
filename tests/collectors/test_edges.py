"""Messages, accesses and collective operations with oneself and of no bytes: records like any others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.mpi

SENT = [(tag, size) for size in (5, 0) for tag in (1, 2, 3, 4)]
EMPTY = ("BCAST", "ALLREDUCE", "ALLTOALLV", "GATHERV")


@pytest.mark.parametrize("ranks", [1, 3])
def test_with_oneself_and_without_bytes(mpi: str, tmp_path: Path, ranks: int) -> None:
    command = (recording.LAUNCHERS[mpi], "-n", str(ranks), str(recording.build("edges.c", mpi, tmp_path)))
    done = recording.record(tmp_path, *command, env=recording.environment(OMPI_MCA_osc="pt2pt,sm"))
    assert done.status == 0, done.err
    trace = done.read()
    for rank in range(ranks):
        sends = [e for e in trace.on(rank, "MPI_SEND", "MPI_ISEND") if e.number("Tag") <= 4]
        receives = [e for e in trace.on(rank, "MPI_RECV", "MPI_IRECV") if e.number("Tag") <= 4]
        for events in (sends, receives):
            assert [(e.number("Tag"), e.number("Length")) for e in events] == SENT
        peers = {0 if e.number("Tag") == 4 else rank for e in sends}  # of MPI_COMM_SELF: its only one
        assert {e.number("Receiver") for e in sends} == {e.number("Sender") for e in receives} == peers
        accesses = [(e.kind, e.number("Sent" if e.kind == "RMA_ATOMIC" else "Bytes")) for e in _accesses(trace, rank)]
        assert accesses == [(kind, size) for size in (5, 0) for kind in ("RMA_PUT", "RMA_GET", "RMA_ATOMIC")]
        assert {e.number("Remote") for e in _accesses(trace, rank)} == {rank}
        completed = {e.number("Matching") for e in trace.on(rank, "RMA_OP_COMPLETE_NON_BLOCKING")}
        assert {e.number("Matching") for e in _accesses(trace, rank)} == completed
        ends = trace.on(rank, "MPI_COLLECTIVE_END")
        empty = [(e.operation, e.number("Sent"), e.number("Received")) for e in ends if e.operation in EMPTY]
        assert empty == [(operation, 0, 0) for operation in EMPTY]
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    # The send that no rank waited for.
    counts = {one.name: (one.count, one.blame) for one in run.manifest.quality if one.count}
    assert counts == {"request_left": (ranks, "program")}
    assert run.manifest.messages == ranks * (len(SENT) + 1)
    assert run.table("transfers").collect().height == ranks * 6


def _accesses(trace: recording.Trace, rank: int) -> list[recording.Event]:
    return trace.on(rank, "RMA_PUT", "RMA_GET", "RMA_ATOMIC")
