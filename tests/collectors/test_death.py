"""A program that ends badly still leaves an archive with every call that had completed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.collectors import recording


def _check(trace: recording.Trace) -> None:
    """All of the 50 messages and the barrier are there."""
    assert [e.number("Tag") for e in trace.on(0, "MPI_SEND")] == list(range(50))
    assert [e.number("Tag") for e in trace.on(1, "MPI_RECV")] == list(range(50))
    for rank in (0, 1):
        assert trace.calls(rank)[:53] == [
            "MPI_Init",
            "MPI_Comm_rank",
            *["MPI_Send", "MPI_Recv"][rank : rank + 1] * 50,
            "MPI_Barrier",
        ]
        assert trace.on(rank)[-1].kind == "PROGRAM_END"
        assert len(trace.on(rank, "ENTER")) == len(trace.on(rank, "LEAVE")), "regions stay balanced"
    assert "LOGPOST::FINALIZED_RANKS\nProperty value                 0" in trace.info


# What dies is the process, whatever its MPI; each way of dying is tried with one of them.
@pytest.mark.parametrize("how", ["exit", "kill", "mpi_abort"])
def test_everything_completed_is_there_with_open_mpi(openmpi: str, how: str, tmp_path: Path) -> None:
    _dies(openmpi, how, tmp_path)


@pytest.mark.alone  # whose status MPICH's launcher gives back depends on which rank it hears of first
@pytest.mark.parametrize("how", ["_exit", "abort", "segv", "mpi_abort"])
def test_everything_completed_is_there_with_mpich(mpich: str, how: str, tmp_path: Path) -> None:
    _dies(mpich, how, tmp_path)


def _dies(mpi: str, how: str, tmp_path: Path) -> None:
    program = recording.build("death.c", mpi, tmp_path)
    result = recording.run(mpi, tmp_path, 2, program, how)
    if how in ("exit", "_exit", "mpi_abort"):
        assert result.status == 7
    else:
        assert result.status != 0
    trace = result.read()
    _check(trace)
    if how == "mpi_abort":
        assert "MPI_Abort" in (trace.calls(0)[-1], trace.calls(1)[-1])


def test_killing_the_launcher_leaves_raw_logs_to_recover(openmpi: str, tmp_path: Path) -> None:
    """Even `record` itself may be killed: the raw logs are made into an archive later."""
    program = recording.build("death.c", openmpi, tmp_path)
    command = [sys.executable, "-m", "logpost.cli.app", "record", "-o", str(tmp_path), "--"]
    command += [recording.LAUNCHERS[openmpi], "-n", "2", str(program), "hang"]
    child = subprocess.Popen(
        command,
        env=recording.environment(),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    raw: list[Path] = []
    while time.monotonic() < deadline:
        raw = list(tmp_path.glob("*.raw"))
        # 50 messages of 48 bytes and the definitions before them are more than 2500 bytes of records
        if raw and sum(_used(p) > 2500 for p in raw[0].glob("*.window")) == 2:
            break
        time.sleep(0.05)
    else:
        pytest.fail("the program never wrote its logs")
    refused = recording.logpost("record", "--recover", str(tmp_path))
    assert refused.returncode == 2
    assert "still writes to" in refused.stderr
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    for log in raw[0].glob("*.raw"):
        _kill(int(log.name.split(".")[-4]))
    time.sleep(0.3)
    done = recording.logpost("record", "--recover", str(tmp_path))
    assert done.returncode == 0, done.stderr
    found = list(tmp_path.glob("logpost_death_2_*/traces.otf2"))
    assert len(found) == 1
    _check(recording.read(found[0].parent))
    assert raw[0].exists(), "raw logs that were recovered are the user's to delete"


def _used(path: Path) -> int:
    """Bytes before the zeros at the end of a window that was filled for the first time."""
    return len(path.read_bytes().rstrip(b"\0"))


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_recover_says_what_is_wrong(tmp_path: Path) -> None:
    empty = recording.logpost("record", "--recover", str(tmp_path))
    assert empty.returncode == 2
    assert "holds no raw logs" in empty.stderr
    assert len(empty.stderr.splitlines()) == 1
    (tmp_path / "logpost_x_1.raw").mkdir()
    (tmp_path / "logpost_x_1.raw" / "functions.txt").write_text("table 0123456789abcdef x\n1 MPI_Init coll_other -\n")
    nothing = recording.logpost("record", "--recover", str(tmp_path))
    assert nothing.returncode == 2
    assert "completed MPI_Init" in nothing.stderr
    assert not list(tmp_path.glob("**/traces.otf2"))
    assert not list(tmp_path.glob(".logpost*")), "nothing half made stays behind"
