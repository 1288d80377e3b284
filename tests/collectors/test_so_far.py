"""Archives of a run so far: on a signal, and when ranks sit in one call too long. The program continues."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.collectors import recording
from tests.said import facts

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run
from logpost.collectors import snapshot, watch
from logpost.errors import InputError


def _window(path: Path, flushed: int, opened: int, *records: tuple[int, int]) -> Path:
    """A window of 4 KiB with calls (kind, enter) of 24 bytes, and the begin of the call that was opened last."""
    place = 4096 - 56
    content = struct.pack("=QIIQQQQQQ", 0, 0, 0, 0, 0, flushed, place, 0, 0)
    for kind, enter in records:
        content += struct.pack("=QQQ", kind | 3 << 32, enter, enter + 5)
    path.write_bytes(content.ljust(place, b"\0") + struct.pack("=Q", opened).ljust(56, b"\0"))
    return path


@pytest.mark.parametrize(
    ("flushed", "opened", "records", "inside"),
    [
        (64, 200, [(1, 100)], True),
        (64, 200, [(1, 100), (1, 200)], False),  # its own record
        (64, 200, [(1, 300)], False),  # a later call's
        (64, 200, [(70, 300)], True),  # a note is no call
        (65, 200, [(1, 100)], False),  # moving to the next window
        (64, 0, [], False),
    ],
)
def test_a_thread_is_in_a_call_whose_record_is_missing(
    tmp_path: Path, flushed: int, opened: int, records: list[tuple[int, int]], inside: bool
) -> None:
    window = _window(tmp_path / "w", flushed, opened, *records)
    assert snapshot.state(window) == (flushed, opened)
    assert snapshot.read(window).inside == inside


def test_times_and_signals_are_read() -> None:
    assert [watch.seconds(text) for text in ("90s", "10min", "1.5h")] == [90, 600, 5400]
    assert watch.signal_number("USR1") == signal.SIGUSR1
    assert watch.signal_number("SIGUSR2") == signal.SIGUSR2
    for text in ("10", "0s", "5 days"):
        with pytest.raises(InputError, match=f"^--hang {text} is no time; write it as 90s, 10min or 1h$"):
            watch.seconds(text)
    with pytest.raises(InputError, match=r"^--dump-signal KILL is neither USR1 nor USR2; take the one that"):
        watch.signal_number("KILL")


@pytest.mark.mpi
def test_a_deadlock_is_reported_while_it_lasts(openmpi: str, tmp_path: Path) -> None:
    """Ranks 0 and 1 receive from each other, 2 waits for two receives, 3 is in a barrier: reported 2 s later."""
    program = recording.build("deadlock.c", openmpi, tmp_path)
    words = [
        sys.executable,
        "-m",
        "logpost.cli.app",
        "record",
        "-o",
        str(tmp_path),
        "--hang",
        "2s",
        "--dump-signal",
        "USR2",
    ]
    words += ["--calibrate", "none", "--", recording.LAUNCHERS[openmpi], "-n", "4", str(program)]
    with subprocess.Popen(words, env=recording.environment(), stderr=subprocess.PIPE, text=True) as recorder:
        try:
            found = _appears(tmp_path, "*_hang")
            recorder.send_signal(signal.SIGUSR2)
            _appears(tmp_path, "*_dump")
            assert recorder.poll() is None, "the program continues"
        finally:
            recorder.terminate()
        _, said = recorder.communicate(timeout=60)
    assert f"the run so far: kill -USR2 {recorder.pid}" in said
    assert f"a rank has been in one call for 2 s: {found} holds it; the program continues" in said
    assert "a signal requested the run so far: " in said
    run = Run.open(analyze(Request(str(found), str(tmp_path / "a.run"))))
    ended = "\n".join(run.manifest.ended_early)
    assert ended.startswith("The program still ran ")
    assert facts(ended)[0] == "0-3"
    assert "rank 0: MPI_Recv from rank 1, tag 7" in ended
    assert "rank 1: MPI_Recv from rank 0, tag 7" in ended
    assert "rank 3: MPI_Barrier" in ended
    assert not [path for path in os.listdir(tmp_path) if path.endswith(".snapshot")]


def _appears(folder: Path, pattern: str) -> Path:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        for path in folder.glob(f"logpost_{pattern}"):
            return path
        time.sleep(0.1)
    raise AssertionError(f"no {pattern} in {os.listdir(folder)}")
