"""A calibration that is ended leaves nothing: no process, no folder, no file; and says by what it was ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.collectors.calibration.launchers import ENVIRONMENT, MPIS, require_mpi

from logpost.collectors.calibration.build import build

pytestmark = pytest.mark.mpi


def processes_of(folder: Path) -> list[str]:
    """Command lines of processes that have to do with the folder: launchers and ranks are given files in it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue  # it has ended since
            found += [" ".join(words)] if any(word.startswith(f"{folder}/") for word in words) else []
    return found


def ranks(folder: Path) -> list[str]:
    return [line for line in processes_of(folder) if line.split()[0].startswith(os.environ["XDG_CACHE_HOME"])]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A separate cache for these programs: no other calibration is taken for this one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@contextlib.contextmanager
def calibrating(folder: Path, launcher: str, *options: str, ignored: str = "") -> Iterator[subprocess.Popen[str]]:
    """A calibration whose ranks are at work. Signals do what they do by default but for the one that is ignored,
    whatever these tests were started with (nohup, a background job); nothing of it outlives the block."""
    start = "import os, signal, sys\n" + "".join(
        f"signal.signal(signal.{name}, signal.SIG_{'IGN' if name == ignored else 'DFL'})\n"
        for name in ("SIGINT", "SIGTERM", "SIGHUP")
    )
    command = [sys.executable, "-m", "logpost.cli.app", "calibrate", *options, "--", launcher, "-n", "2"]
    with subprocess.Popen(
        [sys.executable, "-c", f"{start}os.execv(sys.executable, sys.argv[1:])", *command],
        cwd=folder,
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as calibration:
        try:
            deadline = time.monotonic() + 60
            while len(ranks(folder)) < 2 and calibration.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            assert len(ranks(folder)) == 2, calibration.communicate(timeout=5)
            yield calibration
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(calibration.pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("mpi", "number"),
    [*((mpi, number) for mpi in MPIS for number in (signal.SIGTERM, signal.SIGHUP)), ("Open MPI", signal.SIGINT)],
)
def test_a_signal_in_the_middle(mpi: str, number: signal.Signals, tmp_path: Path) -> None:
    launcher, compiler = require_mpi(mpi)
    build(compiler)
    options = ["-o", "m.toml", "--page", "p.html", "--keep-samples", "s.jsonl"]
    with calibrating(tmp_path, launcher, *options) as calibration:
        assert [path.name[:18] for path in tmp_path.iterdir()] == [".logpost-calibrate"]
        calibration.send_signal(number)
        out, err = calibration.communicate(timeout=30)
    assert (calibration.returncode, out, err) == (128 + number, "", "")
    assert list(tmp_path.iterdir()) == []
    assert processes_of(tmp_path) == []


def test_an_ignored_hangup_ends_nothing(tmp_path: Path) -> None:
    """As under nohup: SIGHUP was ignored when the calibration began, so the calibration continues until SIGTERM."""
    launcher, compiler = require_mpi("Open MPI")
    build(compiler)
    with calibrating(tmp_path, launcher, "-o", "m.toml", ignored="SIGHUP") as calibration:
        calibration.send_signal(signal.SIGHUP)
        time.sleep(1.0)
        assert calibration.poll() is None
        calibration.send_signal(signal.SIGTERM)
        calibration.communicate(timeout=30)
    assert calibration.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
    assert processes_of(tmp_path) == []
