"""Sizes that no int holds, and thousands of communicators."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost.analyzer.request import Request
from logpost.analyzer.run import Run

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
