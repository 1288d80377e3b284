"""Collectives: operation, root and bytes as Score-P counts them, blocking and nonblocking alike."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.collectors import recording
from tests.collectors.priced_gaps import split_with_prices

from logpost.analyzer.pipeline.resplit import Resplit
from logpost.analyzer.run.schema import COLLECTIVE_PARTS

# Three ranks r = 0, 1, 2; an int has 4 bytes. Per operation: root, then (sent, received) of each rank.
EXPECTED = [
    ("BARRIER", None, [(0, 0)] * 3),
    # 5 ints = 20 bytes to each of 3 ranks, the root included: 60 out of the root, 20 into everybody
    ("BCAST", 1, [(0, 20), (60, 20), (0, 20)]),
    ("GATHER", 2, [(8, 0), (8, 0), (8, 24)]),
    # counts 1, 2, 3: 4, 8, 12 bytes; together 24
    ("GATHERV", 0, [(4, 24), (8, 0), (12, 0)]),
    ("SCATTER", 1, [(0, 8), (24, 8), (0, 8)]),
    ("SCATTERV", 0, [(24, 4), (0, 8), (0, 12)]),
    ("ALLGATHER", None, [(24, 24)] * 3),
    # what a rank gives is sent to all three
    ("ALLGATHERV", None, [(12, 24), (24, 24), (36, 24)]),
    ("ALLTOALL", None, [(24, 24)] * 3),
    # rank i gets i + 1 ints from each: out (1+2+3) * 4 = 24, in 3 * (r + 1) * 4
    ("ALLTOALLV", None, [(24, 12), (24, 24), (24, 36)]),
    ("ALLTOALLW", None, [(24, 12), (24, 24), (24, 36)]),
    ("REDUCE", 2, [(16, 0), (16, 0), (16, 48)]),
    ("ALLREDUCE", None, [(48, 48)] * 3),
    # 6 ints go in; r + 1 come out of each of 3
    ("REDUCE_SCATTER", None, [(24, 12), (24, 24), (24, 36)]),
    ("REDUCE_SCATTER_BLOCK", None, [(24, 24)] * 3),
    # rank r's values go to ranks r..2, and come from 0..r
    ("SCAN", None, [(48, 16), (32, 32), (16, 48)]),
    ("EXSCAN", None, [(32, 0), (16, 16), (0, 32)]),
]
IN_PLACE = [
    ("GATHER", 2, [(8, 0), (8, 0), (8, 24)]),
    ("SCATTER", 1, [(0, 8), (24, 8), (0, 8)]),
    ("ALLGATHER", None, [(24, 24)] * 3),
    ("ALLGATHERV", None, [(12, 24), (24, 24), (36, 24)]),
    ("ALLTOALL", None, [(24, 24)] * 3),
    ("ALLREDUCE", None, [(48, 48)] * 3),
    ("REDUCE", 2, [(16, 0), (16, 0), (16, 48)]),
]


def _fields(e: recording.Event) -> tuple[str, int | None, tuple[int, int]]:
    root = None if "Root: NONE" in e.text else e.number("Root")
    return e.operation, root, (e.number("Sent"), e.number("Received"))


def test_operations_roots_and_bytes(mpi: str, tmp_path: Path) -> None:
    program = recording.build("collectives.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path, 3, program)
    assert result.status == 0, result.err
    trace = result.read()
    for rank in range(3):
        ends = [_fields(e) for e in trace.on(rank, "MPI_COLLECTIVE_END")]
        assert ends[0][0] == "CREATE_HANDLE", "MPI_Init makes MPI_COMM_WORLD"
        assert ends[-1][0] == "DESTROY_HANDLE", "MPI_Finalize ends it"
        assert ends[1:-1] == [(op, root, bytes_[rank]) for op, root, bytes_ in EXPECTED + IN_PLACE]
        assert len(trace.on(rank, "MPI_COLLECTIVE_BEGIN")) == len(ends)
        finished = trace.on(rank, "NON_BLOCKING_COLLECTIVE_COMPLETE")
        assert [_fields(e) for e in finished] == [(op, root, bytes_[rank]) for op, root, bytes_ in EXPECTED]
        started = [e.number("Request") for e in trace.on(rank, "NON_BLOCKING_COLLECTIVE_REQUEST")]
        assert [e.number("Request") for e in finished] == started
        # completion is the Wait's
        assert all(len(i) == 1 for i in trace.within(rank, "MPI_Wait", "NON_BLOCKING_COLLECTIVE_COMPLETE"))
        assert {e.comm for e in finished} == {'"MPI_COMM_WORLD" <0>'}
    for line in trace.defined("REGION"):
        if '"MPI_Barrier"' in line:
            assert "Role: BARRIER" in line
        if '"MPI_Ibcast"' in line:
            assert "Role: COLL_ONE2ALL" in line


def test_data_with_gaps_have_their_layouts_and_are_middleware(mpi: str, tmp_path: Path) -> None:
    """Of what a member gives and of what it gets: pairs of doubles, single ones, or none where data are contiguous."""
    program = recording.build("strided_collectives.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path, 2, program)
    assert result.status == 0, result.err
    run = split_with_prices(result)
    blocks = {-1: 0} | {i: layout.block_bytes for i, layout in enumerate(run.manifest.layouts)}
    data = pl.col("operation").cast(pl.String).is_in(["create handle", "destroy handle"]).not_()
    rows = run.table("collectives").filter(data).sort("location", "enter_ps").collect()
    found = {
        rank: [
            (row["operation"], blocks[row["layout"]], blocks[row["received_layout"]])
            for row in rows.filter(location=rank).iter_rows(named=True)
        ]
        for rank in (0, 1)
    }
    both = [("Bcast", 16, 16), ("Alltoall", 16, 0), ("Allgather", 0, 8)]
    after = [("Bcast", 8, 8), ("Bcast", 0, 0), ("Allreduce", 0, 0)]
    assert found[0] == [*both, ("Gather", 16, 0), ("Scatter", 0, 8), *after]
    assert found[1] == [*both, ("Gather", 16, 8), ("Scatter", 16, 8), *after]

    def middleware(parts: pl.DataFrame) -> int:
        return int(parts.filter(pl.col("part").cast(pl.String) == "middleware")["exposed_ps"].sum())

    # Both ranks pack or unpack at least what is their own: 10 ns for a side of pairs, 20 ns for one of single doubles.
    known = middleware(run.table("collective_parts").collect())
    assert known >= 10_000 * (1 + 2 + 1) + 20_000 * 2
    again = Resplit(run).under().collective_parts()
    part = COLLECTIVE_PARTS.index("middleware")
    assert again["exposed_ps"][again["part"] == part].sum() == known
