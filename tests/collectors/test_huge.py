"""Sizes that no int holds, thousands of communicators and windows, and ten million calls."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.mpi

MADE = 3000
BYTES = 2049 * 2**20


def test_sizes_beyond_an_int_and_thousands_of_communicators(mpich: str, tmp_path: Path) -> None:
    """A message of 2049 MiB, a broadcast of three times as much to oneself, and 3000 duplicates of the world, with a
    pair of messages on each hundredth. (Open MPI 4.1 may hang while it numbers that many, recorded or not.)"""
    program = recording.build("huge.c", mpich, tmp_path)
    done = recording.run(mpich, tmp_path, 2, program, str(MADE))
    assert done.status == 0, done.err
    trace = done.read()
    assert max(event.number("Length") for event in trace.on(0, "MPI_SEND")) == BYTES
    assert max(event.number("Length") for event in trace.on(1, "MPI_RECV")) == BYTES
    assert max(event.number("Sent") for event in trace.on(0, "MPI_COLLECTIVE_END")) == 3 * BYTES
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []
    assert run.manifest.messages == 1 + 2 * MADE // 100
    assert run.table("communicators").collect().height >= MADE + 2


def test_puts_beyond_an_int_and_thousands_of_windows(mpi: str, tmp_path: Path) -> None:
    """Two puts of 2049 MiB, and 3000 windows, with a put in each hundredth."""
    program = recording.build("huge_one_sided.c", mpi, tmp_path)
    command = (recording.LAUNCHERS[mpi], "-n", "1", str(program), str(MADE))
    done = recording.record(tmp_path, *command, env=recording.environment(OMPI_MCA_osc="pt2pt,sm"))
    assert done.status == 0, done.err
    trace = done.read()
    assert [event.number("Bytes") for event in trace.on(0, "RMA_PUT")] == [BYTES] * 2 + [4] * (MADE // 100)
    assert len(trace.on(0, "RMA_WIN_CREATE")) == len(trace.on(0, "RMA_WIN_DESTROY")) == MADE + 1
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []
    transfers = run.table("transfers").select(pl.len(), pl.col("bytes").sum()).collect()
    assert transfers.row(0) == (2 + MADE // 100, 2 * BYTES + 4 * MADE // 100)


@pytest.mark.timeout(1200)
def test_ten_million_calls(openmpi: str, tmp_path: Path) -> None:
    """Besides Init, Comm_rank and Finalize; the log is written to the disk as it grows, so the program stays small."""
    program = recording.build("surroundings.c", openmpi, tmp_path)
    done = recording.run(openmpi, tmp_path, 1, program, "many", "10000000", options=("--json",))
    assert done.status == 0, done.err
    assert json.loads(done.err.splitlines()[-1])["calls"] == 10_000_003
    assert int(done.out.split()[1]) < 100_000_000, "bytes of memory"
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    assert [count.name for count in run.manifest.quality if count.severity != "info" and count.count] == []
    assert run.table("calls").select(pl.len()).collect().item() >= 10_000_003
