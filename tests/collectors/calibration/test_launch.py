"""Whatever ends a launch, none of its processes outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from logpost.collectors.calibration.launch import run_program
from logpost.collectors.descendants import descendants
from logpost.errors import InputError

pytestmark = pytest.mark.slow

# The launcher and its rank, which has a separate session, both ignore SIGTERM; the rank says its number first.
STUBBORN = "trap '' TERM; setsid sh -c 'echo $$ > rank.new; mv rank.new rank; exec sleep 60' & sleep 60"


class Ended(BaseException):
    """What a signal handler raises."""


@pytest.fixture
def sigterm_raises() -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise Ended

    before = signal.signal(signal.SIGTERM, end)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def stubborn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr("logpost.collectors.calibration.launch.GRACE_S", 0.2)
    monkeypatch.chdir(tmp_path)
    return ["sh", "-c", STUBBORN]


def runs(pid: int) -> bool:
    """Whether a process is there, and not only its entry (which stays where no process waits for orphans)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not runs(pid)


def test_a_launcher_that_does_not_end_is_killed_with_its_ranks(stubborn: list[str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"did not finish in 1 s \(sh -c .* start other programs\?"):
        run_program(stubborn, 1.0)
    assert gone(int((tmp_path / "rank").read_text()))


def test_a_signal_ends_both(stubborn: list[str], tmp_path: Path, sigterm_raises: None) -> None:
    """The signal comes from the rank, once it runs."""
    us = ["sh", "-c", stubborn[2].replace("exec", f"kill -TERM {os.getpid()}; exec")]
    with pytest.raises(Ended):
        run_program(us, 30.0)
    assert gone(int((tmp_path / "rank").read_text()))


def test_a_signal_during_the_start_does_not_lose_the_process(
    monkeypatch: pytest.MonkeyPatch, sigterm_raises: None
) -> None:
    started: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
        started.append(popen(*arguments, **options))  # type: ignore[call-overload]
        signal.raise_signal(signal.SIGTERM)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start)
    with pytest.raises(Ended):
        run_program(["sleep", "60"], 30.0)
    assert started[0].returncode == -signal.SIGTERM


def test_the_descendants_of_a_process() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60 & sleep 60"]) as shell:
        deadline = time.monotonic() + 5
        while len(descendants(shell.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        found = descendants(shell.pid)
        for pid in (shell.pid, *found):
            os.kill(pid, signal.SIGKILL)
    assert len(found) == 2
    assert os.getpid() not in found
    assert descendants(shell.pid) == {}


def test_a_launcher_that_cannot_be_started() -> None:
    with pytest.raises(InputError, match="cannot start /no/such/launcher: "):
        run_program(["/no/such/launcher"], 1.0)
