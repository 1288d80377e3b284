"""Programs with MPI-4's sessions, with and without MPI_Init."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import raw_logs, recording
from tests.collectors.raw_logs import MONOTONIC, Log

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.collectors import assemble

SESSIONS = 32  # LP_COMM_SESSIONS


@pytest.mark.parametrize("how", ["all", "joined"])
def test_a_program_with_sessions_is_recorded(mpich: str, how: str, tmp_path: Path) -> None:
    """Debian's MPICH 4 has sessions. `joined`: MPI_Init after the first messages."""
    program = recording.build("sessions.c", mpich, tmp_path, "-g")
    options = ("--calibrate", "quick" if how == "all" else "none")
    result = recording.run(mpich, tmp_path / "out", 4, program, how, options=options)
    assert result.status == 0, result.err
    assert ("the machine was not measured while recording: MPI_Init" in result.err) == (how == "all")
    trace = result.read()
    for rank in range(4):
        calls = trace.calls(rank)
        # the session around, and two within; the one around ends after MPI_Finalize where there is one
        assert calls[0] == "MPI_Session_init"
        assert (calls.count("MPI_Session_init"), calls.count("MPI_Session_finalize")) == (3, 2 + (how == "all"))
        assert calls[-1] == ("MPI_Session_finalize" if how == "all" else "MPI_Finalize")
        sent = trace.on(rank, "MPI_SEND")
        received = [e.number("Sender") for e in trace.on(rank, "MPI_RECV")]
        # an int to the next of four; two to the other of the pair, twice, in communicators of two
        assert [(e.number("Tag"), e.number("Length")) for e in sent] == [(5, 4), (6, 8), (7, 8)]
        assert received == [(rank + 3) % 4, 1 - rank % 2, 1 - rank % 2]
        (reduced,) = [e for e in trace.on(rank, "MPI_COLLECTIVE_END") if e.operation == "ALLREDUCE"]
        assert reduced.comm == sent[0].comm
        assert len(trace.on(rank, "BUFFER_FLUSH")) == 1, "the comparison of the clocks"
    assert len({e.comm for rank in range(4) for e in trace.on(rank, "MPI_SEND")}) == 1 + 2 + 2
    worlds = [line for line in trace.defined("COMM") if '"MPI_COMM_WORLD"' in line]
    assert len(worlds) == (how == "joined")
    assert "LOGPOST::FINALIZED_RANKS\nProperty value                 4" in trace.info
    run = Run.open(analyze(Request(str(result.archive), str(tmp_path / "a.run"))))
    assert run.manifest.quality == []
    assert run.table("messages").collect().height == 12
    assert run.manifest.ended_early == []


def _process(rank: int, size: int, pair: tuple[int, int] | None, process: int) -> Log:
    """A process without MPI_Init, with a communicator of two, the agreed id of which is (leader, counter)."""
    log = Log(rank, size, clock=MONOTONIC, process=process)
    log.records = log.records[:1]  # no MPI_COMM_WORLD, no MPI_COMM_SELF
    log._add(64, 0, 0, 0, struct.pack("<IIQQQQiiiI", 0, SESSIONS, 0, 0, 0, 0, rank, size, 0, 0))
    log.sync(1_000, 1_000, 10_000 + process)
    log.call("MPI_Session_init", 1_000, 2_000)
    if pair is not None:
        log._add(64, 0, 0, 0, struct.pack("<IIQQQQiiiI", 1, 0, *pair, 0, 0, rank % 2, 2, 0, 0))
    return log


def test_processes_that_no_communicator_connects_are_of_one_world_by_their_ranks(tmp_path: Path) -> None:
    """Two pairs of a world of four, then a world of two of another launcher, one of whose processes is connected."""
    logs = [_process(rank, 4, (20 + rank // 2, 1), 20 + rank) for rank in range(4)]
    logs += [_process(0, 2, None, 40), _process(1, 2, None, 41)]
    raw = raw_logs.write(tmp_path / "raw", *logs)
    archive = assemble.assemble(assemble.find_assembler(), raw, tmp_path).path
    trace = recording.read(archive)
    assert sorted(trace.groups().values()) == ["", "0, 1", "2, 3"], "all places, and the pairs"
    assert {line.split('"')[1] for line in trace.defined("LOCATION_GROUP")} == {
        *(f"MPI Rank {rank}" for rank in range(4)),
        *(f"MPI Rank {rank} (world 1)" for rank in range(2)),
    }


def test_a_clock_that_nothing_compared_is_said(tmp_path: Path) -> None:
    """Two hosts, and no communicator of all processes."""
    logs = [_process(0, 2, None, 20), _process(1, 2, None, 21)]
    text = logs[1].records[0].replace(b"host=a\nboot=boot-a", b"host=b\nboot=boot-b")
    logs[1].records[0] = text
    raw = raw_logs.write(tmp_path / "raw", *logs)
    archive = assemble.assemble(assemble.find_assembler(), raw, tmp_path)
    assert [w for w in archive.warnings if "clock of b was not compared with rank 0's" in w]
