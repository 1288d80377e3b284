"""Fortran's three bindings reach MPI by different names; one interposer records them all, each call once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.collectors import recording


@pytest.mark.parametrize("binding", ["MPIFH", "MPI", "F08"])
def test_each_call_once(mpi: str, binding: str, tmp_path: Path) -> None:
    compiler = f"mpif90.{mpi}"
    if shutil.which(compiler) is None or shutil.which("gfortran") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("CI must have gfortran")
        pytest.skip("gfortran is not installed")
    program = recording.build("ring.f90", mpi, tmp_path, "-cpp", f"-DUSE_{binding}", compiler=compiler)
    result = recording.run(mpi, tmp_path, 2, program)
    assert result.status == 0, result.err
    trace = result.read()
    for rank in (0, 1):
        assert trace.calls(rank) == [
            "MPI_Init",
            "MPI_Comm_dup",
            "MPI_Comm_set_name",
            "MPI_Comm_rank",
            "MPI_Comm_size",
            "MPI_Irecv",
            "MPI_Isend",
            "MPI_Wait",
            "MPI_Waitall",
            ["MPI_Send", "MPI_Recv"][rank],
            "MPI_Allreduce",
            "MPI_Barrier",
            "MPI_Comm_free",
            "MPI_Finalize",
        ]
        (received,) = trace.on(rank, "MPI_IRECV")
        # 5 doubles
        assert (received.number("Sender"), received.number("Tag"), received.number("Length")) == (1 - rank, 3, 40)
        assert received.comm.startswith('"of fortran"')
        (reduced,) = [e for e in trace.on(rank, "MPI_COLLECTIVE_END") if e.operation == "ALLREDUCE"]
        assert (reduced.number("Sent"), reduced.number("Received")) == (160, 160)  # 2 x 10 doubles
    (last,) = trace.on(1, "MPI_RECV")
    assert (last.number("Tag"), last.number("Length")) == (4, 8)
