"""Recording switched off and on by programs of one-sided communication, of OpenSHMEM and of several threads: what is
not recorded is counted, and what is recorded fits together."""

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
ROUNDS, RANKS = 40, 3


def _stated(trace: recording.Trace) -> dict[str, int]:
    found = re.findall(r"^Property name\s+LOGPOST::OFF_(\S+)\nProperty value\s+(\d+)$", trace.info, re.MULTILINE)
    return {name: int(value) for name, value in found}


def _usual(done: recording.Result, folder: Path) -> Run:
    """The run of an archive of which nothing is unusual but the gaps."""
    run = Run.open(analyze(Request(str(done.archive), str(folder / "a.run"))))
    counted = {count.name: count.count for count in run.manifest.quality if count.count}
    assert {c.name: c.count for c in run.manifest.quality if c.severity != "info" and c.count} == {}
    assert not {"bytes_differ", "message_while_off", "collective_while_off"} & set(counted)
    assert counted["skipped_calls"] == _stated(done.read())["CALLS"]
    return run


def test_transfers_of_windows(mpi: str, tmp_path: Path) -> None:
    """Three ranks make four transfers a round, of which some are recorded and all others are counted."""
    program = recording.build("switched_one_sided.c", mpi, tmp_path, INCLUDE)
    done = recording.run(mpi, tmp_path, RANKS, program, str(ROUNDS))
    assert (done.status, done.out) == (0, f"rounds {ROUNDS}\n"), done.err
    trace = done.read()
    stated = _stated(trace)
    recorded = sum(len(trace.on(rank, "RMA_PUT", "RMA_GET", "RMA_ATOMIC")) for rank in range(RANKS))
    assert 0 < recorded < 4 * RANKS * ROUNDS
    assert recorded + stated["TRANSFERS"] == 4 * RANKS * ROUNDS
    assert stated["INEXACT"] == 0
    assert _usual(done, tmp_path).table("transfers").collect().height == recorded


@pytest.mark.skipif(not all(map(shutil.which, ("oshcc", "oshrun"))), reason="oshcc or oshrun is not installed")
def test_transfers_of_openshmem(tmp_path: Path) -> None:
    """Three PEs make a put, an atomic and a get a round."""
    program = recording.build("switched_shmem.c", "openmpi", tmp_path, INCLUDE, compiler="oshcc")
    env = recording.environment(OMPI_MCA_memory="^patcher")
    done = recording.record(tmp_path, "oshrun", "-n", str(RANKS), str(program), str(ROUNDS), env=env)
    assert (done.status, done.out) == (0, f"counter {ROUNDS}\n"), done.err
    trace = done.read()
    recorded = sum(len(trace.on(pe, "RMA_PUT", "RMA_GET", "RMA_ATOMIC")) for pe in range(RANKS))
    stated = _stated(trace)
    assert 0 < recorded < 3 * RANKS * ROUNDS
    assert recorded + stated["TRANSFERS"] == 3 * RANKS * ROUNDS
    assert stated["INEXACT"] == 0
    _usual(done, tmp_path)


@pytest.mark.parametrize(("how", "messages"), [("own", 3 * ROUNDS), ("handed", ROUNDS), ("short", ROUNDS)])
def test_threads_follow_their_process(mpi: str, tmp_path: Path, how: str, messages: int) -> None:
    """Each rank sends and receives so many messages. One that is paired with another round's shows by its size; every
    half is recorded, skipped or left out, whichever thread completes what another one started."""
    program = recording.build("switched_threads.c", mpi, tmp_path, INCLUDE, "-pthread")
    done = recording.run(mpi, tmp_path, RANKS, program, how, str(ROUNDS))
    assert (done.status, done.out) == (0, f"rounds {ROUNDS}\n"), done.err
    trace = done.read()
    stated = _stated(trace)
    halves = len([event for event in trace.events if event.kind in ("MPI_SEND", "MPI_IRECV")])
    assert 0 < halves < 2 * RANKS * messages
    assert halves + stated["SENDS"] + stated["RECEIVES"] + stated["HALVES_LEFT_OUT"] == 2 * RANKS * messages
    assert stated["INEXACT"] == 0
    run = _usual(done, tmp_path)
    assert run.manifest.messages == halves // 2
    assert {c.name: c.count for c in run.manifest.quality if c.name.startswith("unmatched") and c.count} == {}


def test_a_process_that_is_killed_while_it_is_off(mpi: str, tmp_path: Path) -> None:
    """Rank 0 has records of 70 sends, rank 1 of the first 50 receives: the others are no rank's fault."""
    program = recording.build("switched_killed.c", mpi, tmp_path, INCLUDE)
    done = recording.run(mpi, tmp_path, 2, program)
    assert done.status != 0
    trace = done.read()
    assert [event.text.split()[-1] for event in trace.on(1, "MEASUREMENT_ON_OFF")] == ["OFF"]
    assert len(trace.on(1, "ENTER")) == len(trace.on(1, "LEAVE"))
    assert [event.number("Tag") for event in trace.on(0, "MPI_SEND")] == list(range(70))
    assert [event.number("Tag") for event in trace.on(1, "MPI_RECV")] == list(range(50))
    run = Run.open(analyze(Request(str(done.archive), str(tmp_path / "a.run"))))
    counted = {count.name: count.count for count in run.manifest.quality if count.count}
    assert run.manifest.messages == 50
    assert counted["message_while_off"] == 20
    assert {count.name for count in run.manifest.quality if count.severity != "info" and count.count} <= {"ended_early"}
