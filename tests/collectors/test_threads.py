"""MPI_THREAD_MULTIPLE: a location per thread, nothing lost, and requests completed by another thread than their own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run


def test_threads_have_their_own_locations(mpi: str, tmp_path: Path) -> None:
    program = recording.build("threads.c", mpi, tmp_path, "-pthread")
    # windows of 64 KiB move several times during the run
    result = recording.run(mpi, tmp_path, 2, program, options=("--window", "64"))
    assert result.status == 0, result.err
    trace = result.read()
    locations = {e.location for e in trace.events}
    # location = thread * 2^32 + rank; thread 0 is the one that called MPI_Init, four others follow
    assert locations == {thread * 2**32 + rank for thread in range(5) for rank in (0, 1)}
    tags = [f"{1000 * i + n}" for i in range(4) for n in range(200)] + ["9999"]
    for kind in ("MPI_ISEND", "MPI_IRECV"):
        assert Counter(str(e.number("Tag")) for e in trace.events if e.kind == kind) == Counter(tags)
    for thread in range(1, 5):
        sent = [e.number("Tag") for e in trace.on(thread * 2**32, "MPI_ISEND") if e.number("Tag") < 9999]
        # one thread of the program is one location: its tags are one thousand, in order
        assert sent == list(range(sent[0], sent[0] + 200))
        received = {
            e.number("Tag") // 1000 for e in trace.on(thread * 2**32 + 1, "MPI_IRECV") if e.number("Tag") < 9999
        }
        assert len(received) == 1
    started = Counter(e.number("Request") for e in trace.events if e.kind == "MPI_ISEND")
    completed = Counter(e.number("Request") for e in trace.events if e.kind == "MPI_ISEND_COMPLETE")
    assert started == completed
    assert set(started.values()) == {1}, "ids are the process's, not the thread's"


def test_a_request_may_be_completed_by_another_thread(mpi: str, tmp_path: Path) -> None:
    program = recording.build("threads.c", mpi, tmp_path, "-pthread")
    trace = recording.run(mpi, tmp_path, 2, program).read()
    (send,) = [e for e in trace.events if e.kind == "MPI_ISEND" and e.number("Tag") == 9999]
    (done,) = [
        e
        for e in trace.events
        if e.kind == "MPI_ISEND_COMPLETE" and e.number("Request") == send.number("Request") and e.location % 2**32 == 0
    ]
    assert done.location != send.location
    (received,) = [e for e in trace.events if e.kind == "MPI_IRECV" and e.number("Tag") == 9999]
    waits = [i for i in trace.within(received.location, "MPI_Wait", "MPI_IRECV") if i]
    assert [e.number("Tag") for e in waits[0]] == [9999]


def test_threads_that_are_cancelled_leave_whole_logs(mpi: str, tmp_path: Path) -> None:
    """Windows of 64 KiB move all the time, and writing is where a thread is cancelled. The 40 threads, one after the
    other, share a location."""
    program = recording.build("cancelled.c", mpi, tmp_path, "-pthread")
    result = recording.run(mpi, tmp_path, 1, program, options=("--window", "64"))
    assert result.status == 0, result.err
    assert "all cancelled" in result.out
    run = Run.open(analyze(Request(str(result.archive), str(tmp_path / "a.run"))))
    locations = run.table("locations").collect()
    assert locations.height == 2
    regions = run.table("calls").join(run.table("regions"), on="region").collect()
    assert regions.filter(pl.col("name") == "NO THREAD").height == 39
    assert all(one.severity == "info" for one in run.manifest.quality)


def test_threads_that_share_a_channel_have_pairs_that_can_be(mpi: str, tmp_path: Path) -> None:
    """No receive ends before its message was sent, and each message has the size that its receive states."""
    program = recording.build("one_channel.c", mpi, tmp_path, "-pthread")
    for arguments in ((), ("alike",)):
        folder = tmp_path / "".join(("of", *arguments))
        result = recording.run(mpi, folder, 2, program, *arguments)
        assert result.status == 0, result.err
        run = Run.open(analyze(Request(str(result.archive), str(folder / "a.run"))))
        assert run.manifest.messages == 800
        assert [one.name for one in run.manifest.quality if one.count] == []
