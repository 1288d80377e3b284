"""A flight recorder that is switched off and on: its ring holds the last calls of the times at which it was on, what
lies between is counted as skipped, what was overwritten as overwritten, and messages around both are paired rightly."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording

from logpost import collectors
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.mpi

INCLUDE = f"-I{Path(collectors.__file__).parent}"
KEEP = ("--keep", "1MB")
"""Fifteen slots of 64 KiB: a time on takes one of them, or more."""


def _stated(trace: recording.Trace) -> dict[str, int]:
    found = re.findall(r"^Property name\s+LOGPOST::(\S+)\nProperty value\s+(\d+)$", trace.info, re.MULTILINE)
    return {name: int(value) for name, value in found}


def _faults(done: recording.Result, folder: Path) -> dict[str, int]:
    run = Run.open(analyze(Request(str(done.archive), str(folder / "a.run"))))
    assert run.manifest.messages == sum(event.kind in ("MPI_SEND", "MPI_ISEND") for event in done.read().events)
    return {c.name: c.count for c in run.manifest.quality if c.severity != "info" and c.count}


@pytest.mark.parametrize("how", ["pcontrol", "header"])
def test_each_half_is_recorded_skipped_overwritten_or_left_out(mpi: str, tmp_path: Path, how: str) -> None:
    """Three ranks, 400 rounds, off in a third of them: 66 times on, of which the ring holds fifteen at most.

    A rank sends and receives 2 × 400 + 1 + 80 messages. One that is paired with another round's shows by its size.
    """
    rounds = 400
    program = recording.build("switched.c", mpi, tmp_path, INCLUDE)
    done = recording.run(mpi, tmp_path, 3, program, how, str(rounds), options=KEEP)
    assert (done.status, done.out) == (0, f"rounds {rounds}\n"), done.err
    trace = done.read()
    stated = _stated(trace)
    for rank in range(3):
        modes = [event.text.split()[-1] for event in trace.on(rank, "MEASUREMENT_ON_OFF")]
        assert 6 < len(modes) <= 32
        assert modes == ["OFF", "ON"] * (len(modes) // 2)
        assert trace.calls(rank)[0] != "MPI_Init"
        assert trace.calls(rank)[-1] == "MPI_Finalize", "the end of a program is always recorded"
    assert stated["OVERWRITTEN_RANKS"] == 3
    assert stated["OVERWRITTEN_CALLS"] > stated["OFF_CALLS"] > 0
    assert stated["OFF_TIMES"] >= 3 * (rounds // 6 - 1), "those that were overwritten count, too"
    sends = sum(len(trace.on(rank, "MPI_SEND", "MPI_ISEND")) for rank in range(3))
    receives = sum(len(trace.on(rank, "MPI_RECV", "MPI_IRECV")) for rank in range(3))
    assert sends == receives > 0, "each message has both halves"
    gone = sum(stated[f"{why}_{half}"] for why in ("OFF", "OVERWRITTEN") for half in ("SENDS", "RECEIVES"))
    assert 3 * 2 * (2 * rounds + 1 + rounds // 5) == sends + receives + gone + stated["HALVES_LEFT_OUT"]
    assert (stated["OFF_INEXACT"], stated["OVERWRITTEN_INEXACT"]) == (0, 0)
    assert _faults(done, tmp_path) == {}


def test_a_ring_that_holds_all_is_as_a_log(mpi: str, tmp_path: Path) -> None:
    """Forty rounds with a ring of 64 MB: the counts that the same run has without one."""
    program = recording.build("switched.c", mpi, tmp_path, INCLUDE)
    found = []
    for folder, options in ((tmp_path / "ring", ("--keep", "64MB")), (tmp_path / "log", ())):
        folder.mkdir()
        done = recording.run(mpi, folder, 3, program, "header", "40", options=options)
        trace = done.read()
        stated = _stated(trace)
        for duration in (
            "OFF_NS",
            "WHOLE_FROM_NS",
            "RUN_QUEUE_NS",
            "RUN_QUEUE_OF_NS",
            "RECORDING_NS",
            "CALL_RECORDING_PS",
        ):
            stated.pop(duration, None)
        calls = [trace.calls(rank) for rank in range(3)]
        found.append((stated, calls))
        assert _faults(done, folder) == {}
    assert found[0] == found[1]


def test_killed_while_off_the_ring_is_read(openmpi: str, tmp_path: Path) -> None:
    """What was made while off is in no archive, though the window holds it still."""
    program = recording.build("switched_killed.c", openmpi, tmp_path, INCLUDE)
    done = recording.run(openmpi, tmp_path, 2, program, options=KEEP)
    assert done.status != 0
    trace = done.read()
    assert [event.text.split()[-1] for event in trace.on(1, "MEASUREMENT_ON_OFF")] == ["OFF"]
    assert [event.number("Tag") for event in trace.on(0, "MPI_SEND")] == list(range(70))
    assert [event.number("Tag") for event in trace.on(1, "MPI_RECV")] == list(range(50))


def _left_out(stated: dict[str, int]) -> int:
    """Halves of messages that were skipped, overwritten or left without the other one."""
    counts = [stated.get(f"{why}_{half}", 0) for why in ("OFF", "OVERWRITTEN") for half in ("SENDS", "RECEIVES")]
    return sum(counts) + stated.get("HALVES_LEFT_OUT", 0) + stated.get("OFF_HALVES_LEFT_OUT", 0)


@pytest.mark.parametrize("keep", ["1MB", "1GB"])
@pytest.mark.parametrize("how", ["own", "handed", "short"])
def test_threads_share_a_ring_that_is_switched(mpi: str, tmp_path: Path, how: str, keep: str) -> None:
    """Every half of a message is recorded, skipped, overwritten or left out, whichever thread completes it; a ring of
    1 GB holds each time on whole, one of 1 MB few of them. A message that is paired with another round's differs in
    size: what starts a receive, or states what was skipped before it, may be overwritten before what ends it is."""
    rounds = 400
    program = recording.build("switched_threads.c", mpi, tmp_path, INCLUDE, "-pthread")
    done = recording.run(mpi, tmp_path, 3, program, how, str(rounds), options=("--keep", keep))
    assert (done.status, done.out) == (0, f"rounds {rounds}\n"), done.err
    trace = done.read()
    stated = _stated(trace)
    halves = sum(event.kind in ("MPI_SEND", "MPI_IRECV") for event in trace.events)
    messages = 3 * rounds if how == "own" else rounds
    assert halves > 0
    assert halves + _left_out(stated) == 2 * 3 * messages
    assert (stated["OFF_INEXACT"], stated.get("OVERWRITTEN_INEXACT", 0)) == (0, 0)
    assert (stated.get("OVERWRITTEN_CALLS", 0) > 0) == (keep == "1MB"), stated
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    counted = {count.name: count.count for count in run.manifest.quality if count.count}
    assert {c.name: c.count for c in run.manifest.quality if c.severity != "info" and c.count} == {}
    assert not {"bytes_differ", "message_while_off", "collective_while_off"} & set(counted)
    assert run.manifest.messages == halves // 2


@pytest.mark.skipif(not all(map(shutil.which, ("oshcc", "oshrun"))), reason="oshcc or oshrun is not installed")
@pytest.mark.parametrize("keep", ["1MB", "1GB"])
def test_transfers_of_openshmem_in_a_ring_that_is_switched(tmp_path: Path, keep: str) -> None:
    """Three PEs make a put, an atomic and a get a round: recorded, skipped or overwritten."""
    rounds = 600
    program = recording.build("switched_shmem.c", "openmpi", tmp_path, INCLUDE, compiler="oshcc")
    env = recording.environment(OMPI_MCA_memory="^patcher")
    done = recording.record(tmp_path, "oshrun", "-n", "3", str(program), str(rounds), options=("--keep", keep), env=env)
    assert (done.status, done.out) == (0, f"counter {rounds}\n"), done.err
    trace = done.read()
    recorded = sum(len(trace.on(pe, "RMA_PUT", "RMA_GET", "RMA_ATOMIC")) for pe in range(3))
    stated = _stated(trace)
    assert recorded > 0
    assert recorded + stated["OFF_TRANSFERS"] + stated.get("OVERWRITTEN_TRANSFERS", 0) == 3 * 3 * rounds
    assert stated["OFF_INEXACT"] == 0
    assert (stated.get("OVERWRITTEN_CALLS", 0) > 0) == (keep == "1MB"), stated
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    assert {c.name: c.count for c in run.manifest.quality if c.severity != "info" and c.count} == {}
    assert run.table("transfers").collect().height == recorded
