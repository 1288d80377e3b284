"""The call that a process was in when it ended is in the archive, with what it waited for."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import raw_logs, recording
from tests.collectors.raw_logs import ABORTS, CALL, COLL, MONOTONIC, RECV, SEND, Log
from tests.said import facts

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.collectors import assemble

ANY_PEER = -2


def _opened(archive: Path) -> dict[int, tuple[str, str]]:
    """Per location the region of its open call and what it waits for."""
    command = ["otf2-print", str(archive / "traces.otf2")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    calls = re.findall(
        r'^ENTER\s+(\d+)\s+\d+\s+Region: "(\w+)".*\n\s+ADDITIONAL ATTRIBUTES:.*"logpost:open" <\d+>; STRING; "([^"]*)"',
        shown,
        re.MULTILINE,
    )
    return {int(location): (region, what) for location, region, what in calls}


def _logs(count: int) -> list[Log]:
    logs = [Log(rank, count, clock=MONOTONIC) for rank in range(count)]
    for log in logs:
        log.call("MPI_Init", 1_000, 2_000)
    return logs


def _assembled(tmp_path: Path, logs: list[Log]) -> Path:
    raw = raw_logs.write(tmp_path / "raw", *logs)
    return assemble.assemble(assemble.find_assembler(), raw, tmp_path).path


def test_each_kind_of_call_says_what_it_waits_for(tmp_path: Path) -> None:
    logs = _logs(7)
    logs[0].dies_in("MPI_Recv", 3_000, RECV, peer=1, tag=7)
    logs[1].dies_in("MPI_Recv", 3_000, RECV, peer=ANY_PEER)
    logs[2].dies_in("MPI_Ssend", 3_000, SEND, peer=4, tag=9)
    logs[3].dies_in("MPI_Barrier", 3_000, COLL)
    logs[4].dies_in("MPI_Win_wait", 3_000, CALL)
    logs[5].dies_in("MPI_Abort", 3_000, ABORTS, tag=-3, exits=(1, 253))
    logs[6].dies_in("MPI_Send", 3_000, SEND, peer=2, tag=1, exits=(1, 9))
    archive = _assembled(tmp_path, logs)
    assert _opened(archive) == {
        0: ("MPI_Recv", "recv from=1 tag=7 comm=0"),
        1: ("MPI_Recv", "recv from=any tag=any comm=0"),
        2: ("MPI_Ssend", "send to=4 tag=9 comm=0"),
        3: ("MPI_Barrier", "collective comm=0"),
        4: ("MPI_Win_wait", "call"),
        5: ("MPI_Abort", "abort code=-3"),
        6: ("MPI_Send", "send to=2 tag=1 comm=0; exit=9"),
    }
    run = Run.open(analyze(Request(str(archive), str(tmp_path / "a.run"))))
    assert run.table("open_calls").collect()["waits_for"].to_list()[2] == "send to=4 tag=9 comm=0"
    first, *calls = run.manifest.ended_early
    assert first.startswith("The recording ended early: ranks 0-6 ")
    assert calls == [
        "rank 0: MPI_Recv from rank 1, tag 7.",
        "rank 1: MPI_Recv from any rank.",
        "rank 2: MPI_Ssend to rank 4, tag 9.",
        "rank 3: MPI_Barrier; ranks 0-2, 4-6 did not arrive.",
        "rank 4: MPI_Win_wait.",
        "rank 5: MPI_Abort, error code -3.",
        "rank 6: MPI_Send to rank 2, tag 1, exit status 9.",
    ]


def test_a_call_that_ended_is_not_open(tmp_path: Path) -> None:
    """Nothing clears the note of a call: its record says that it ended."""
    logs = _logs(2)
    logs[0].message(SEND, 3_000, 3_100, 1, 7, 8)
    logs[0].dies_in("MPI_Send", 3_000, SEND, peer=1, tag=7)
    logs[1].message(RECV, 2_500, 3_200, 0, 7, 8)
    logs[1].dies_in("MPI_Recv", 3_300, RECV, peer=0, tag=8)
    archive = _assembled(tmp_path, logs)
    assert _opened(archive) == {1: ("MPI_Recv", "recv from=0 tag=8 comm=0")}
    # 3.3 us is where the last call of rank 1 enters and leaves: its duration is not known.
    enter, leave = recording.read(archive).on(1, "ENTER", "LEAVE")[-3:-1]
    assert (enter.kind, leave.kind, enter.time) == ("ENTER", "LEAVE", leave.time)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("mpi_abort", r"MPI_Abort at ends_in_call\.c:\d+, error code 7"),
        ("exit", r"MPI_Send at ends_in_call\.c:\d+ to .* rank, tag 0, exit status 7"),
        ("exec", r"MPI_Send at ends_in_call\.c:\d+ to an unknown rank, tag 0"),
    ],
)
def test_a_call_that_never_returns_is_named_with_its_code(openmpi: str, how: str, said: str, tmp_path: Path) -> None:
    """Rank 1 ends the program in MPI_Abort, or in the error handler of a send to a rank that does not exist."""
    program = recording.build("ends_in_call.c", openmpi, tmp_path, "-g")
    result = recording.run(openmpi, tmp_path / "out", 2, program, how)
    run = Run.open(analyze(Request(str(result.archive), str(tmp_path / "a.run"))))
    (line,) = [line for line in run.manifest.ended_early if line.startswith("rank 1: ")]
    assert re.fullmatch(f"rank 1: {said}\\.", line), line


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_deadlock_that_is_ended(openmpi: str, how: signal.Signals, tmp_path: Path) -> None:
    """The launcher is signalled to end, or one rank is killed, upon which the launcher ends the others."""
    program = recording.build("deadlock.c", openmpi, tmp_path)
    command = [sys.executable, "-m", "logpost.cli.app", "record", "--calibrate", "none", "-o", str(tmp_path), "--"]
    command += [recording.LAUNCHERS[openmpi], "--oversubscribe", "-n", "4", str(program)]
    with subprocess.Popen(
        command, env=recording.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as recorder:
        windows = _when_all_wait(tmp_path, 4)
        os.kill(_child(recorder.pid) if how == signal.SIGTERM else int(windows[0].name.split(".")[-4]), how)
        recorder.wait(60)
    (anchor,) = tmp_path.glob("logpost_*/traces.otf2")
    recording.read(anchor.parent)
    assert _opened(anchor.parent) == {
        0: ("MPI_Recv", "recv from=1 tag=7 comm=0"),
        1: ("MPI_Recv", "recv from=0 tag=7 comm=0"),
        2: ("MPI_Waitall", "requests=2: recv from=0 tag=5 comm=0; recv from=any tag=6 comm=0"),
        3: ("MPI_Barrier", "collective comm=0"),
    }
    analyzed = subprocess.run(
        [sys.executable, "-m", "logpost.cli.app", "analyze", str(anchor), "-o", str(tmp_path / "a.run")],
        capture_output=True,
        text=True,
        check=True,
    )
    said = re.sub(r" at deadlock\.c:\d+", "", analyzed.stderr)
    first, *calls, deadlock = (line.removeprefix("logpost: ") for line in said.splitlines())
    assert first.startswith("The recording ended early: ranks 0-3 ")
    assert list(map(facts, calls)) == [
        ["0", "MPI_Recv", "1", "7"],
        ["1", "MPI_Recv", "0", "7"],
        ["2", "MPI_Waitall", "0", "5", "6"],
        ["3", "MPI_Barrier", "0-2"],
    ]
    assert calls[2].endswith("; from any rank, tag 6.")
    assert deadlock.startswith("Deadlock: ")
    assert facts(deadlock) == ["0", "MPI_Recv", "1", "MPI_Recv", "0"]


def _when_all_wait(folder: Path, ranks: int) -> list[Path]:
    """The windows of so many ranks, once none has changed for a second."""
    before: list[bytes] = []
    for _ in range(60):
        windows = sorted(folder.glob("*.raw/*.window"))
        now = [window.read_bytes() for window in windows]
        if len(now) == ranks and now == before:
            return windows
        before = now
        time.sleep(1.0)
    pytest.fail("the program never began to wait")


def _child(parent: int) -> int:
    """The launcher that `logpost record` started."""
    return int(Path(f"/proc/{parent}/task/{parent}/children").read_text().split()[0])
