"""What MPI-4 brought, on an MPI that has it (mpi4py calls the large-count forms there)."""

from __future__ import annotations

from pathlib import Path

from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run


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
        assert len({e.number("Request") for e in persistent}) == 2, "each start is a separate request"
    # 4 partitions of 2 ints are one message of 32 bytes
    (partitioned,) = [e for e in trace.on(0, "MPI_ISEND") if e.number("Tag") == 5]
    assert partitioned.number("Length") == 32
    assert trace.calls(0).count("MPI_Pready_range") == 1


def test_neighbourhood_collectives_are_calls_of_their_names(mpi: str, tmp_path: Path) -> None:
    """OTF2 has no operation for them: the analysis says that they have no record, and complains of nothing else."""
    program = recording.build("neighbours.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path / "out", 4, program)
    assert result.status == 0, result.err
    calls = [name for name in result.read().calls(3) if "neighbor" in name.lower()]
    of_4 = ["MPI_Neighbor_alltoall_c", "MPI_Neighbor_alltoall_init"]
    assert calls == ["MPI_Neighbor_allgather", *["MPI_Ineighbor_alltoall"] * 2, *(of_4 if mpi == "mpich" else [])]
    run = Run.open(analyze(Request(str(result.archive), str(tmp_path / "a.run"))))
    assert [note.name for note in run.manifest.quality] == ["collective_call_without_record"]
