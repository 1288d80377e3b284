"""What MPI-4 brought, on an MPI that has it (mpi4py calls the large-count forms there)."""

from __future__ import annotations

from pathlib import Path

from tests.collectors import recording


def test_large_counts_and_what_else_is_new(mpich: str, tmp_path: Path) -> None:
    program = recording.build("large.c", mpich, tmp_path)
    result = recording.run(mpich, tmp_path, 2, program)
    assert result.status == 0, result.err
    trace = result.read()
    for rank in (0, 1):
        calls = trace.calls(rank)
        assert {"MPI_Isend_c", "MPI_Irecv_c", "MPI_Sendrecv_c", "MPI_Allgatherv_c", "MPI_Bcast_c"} <= set(calls)
        sent = [(e.number("Tag"), e.number("Length")) for e in trace.on(rank, "MPI_ISEND") if e.number("Tag") < 5]
        assert sent == [(1, 12), (3, 20)]
        (strided,) = trace.on(rank, "MPI_SEND")
        assert strided.number("Length") == 16
        # every second int: blocks of 4 B every 8, extent 3 * 8 + 4; made by the large-count constructor
        assert "blocks=4 block_bytes=4 stride_bytes=8 extent_bytes=28" in strided.attributes
        received = [(e.number("Sender"), e.number("Tag"), e.number("Length")) for e in trace.on(rank, "MPI_IRECV")]
        assert received[:2] == [(1 - rank, 1, 12), (1 - rank, 3, 20)]
        # rank r gives (r + 1) ints to 2 ranks and gets 3 ints
        ends = {e.operation: e for e in trace.on(rank, "MPI_COLLECTIVE_END")}
        assert (ends["ALLGATHERV"].number("Sent"), ends["ALLGATHERV"].number("Received")) == (8 * (rank + 1), 12)
        persistent = trace.on(rank, "NON_BLOCKING_COLLECTIVE_COMPLETE")
        assert [(e.operation, e.number("Sent")) for e in persistent] == [("ALLREDUCE", 16), ("ALLREDUCE", 16)]
        assert len({e.number("Request") for e in persistent}) == 2, "each start is a request of its own"
    # 4 partitions of 2 ints are one message of 32 bytes
    (partitioned,) = [e for e in trace.on(0, "MPI_ISEND") if e.number("Tag") == 5]
    assert partitioned.number("Length") == 32
    assert trace.calls(0).count("MPI_Pready_range") == 1
