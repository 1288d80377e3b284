"""One test without the collector, with it, and its archive analyzed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.collectors.recording import LAUNCHERS, environment
from tests.conformance.suite import Test

STOP_S = 20.0  # after the time limit: mpirun ends its ranks, and record assembles what they left
ANALYZE_S = 280.0
ONE_SIDED = "pt2pt,sm"
"""Open MPI's windows without copies from one process's memory to another's, which `environment` switches off."""


@dataclass(frozen=True)
class Outcome:
    """What became of a test. `refused`: why its archive was not analyzed; `faults`: its records that disagree."""

    name: str
    built: bool = True
    without: bool = False
    with_collector: bool = False
    archive: bool = False
    analyzed: bool = False
    refused: str = ""
    faults: dict[str, int] = field(default_factory=dict)

    @property
    def regression(self) -> bool:
        """The collector changed what the program does."""
        return self.without and not self.with_collector


def run(test: Test, program: Path, mpi: str, folder: Path) -> Outcome:
    """Run a test both ways. One that fails with the collector alone is repeated both ways before it counts."""
    without = _passes(_launch(test, program, mpi), test, program, test.limit_s)
    if not without:
        return Outcome(test.name)
    passed = _recorded(test, program, mpi, folder)
    if not passed:
        without = _passes(_launch(test, program, mpi), test, program, test.limit_s)
        passed = _recorded(test, program, mpi, folder)
    archive = next(iter(sorted(folder.glob("logpost_*/traces.otf2"))), None)
    if archive is None:
        return Outcome(test.name, without=without, with_collector=passed)
    refused, faults = _analyzed(archive, folder / "run")
    return Outcome(test.name, True, without, passed, True, not refused, refused, faults)


def _launch(test: Test, program: Path, mpi: str) -> list[str]:
    ranks = [test.launch or LAUNCHERS[mpi], *test.launcher, "-n", str(test.ranks)]
    return [*ranks, *test.command, str(program), *test.arguments]


def _recorded(test: Test, program: Path, mpi: str, folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    record = [sys.executable, "-m", "logpost.cli.app", "record", "-q", "-o", str(folder), "--calibrate", "none", "--"]
    # Twice the time: record assembles the archive within it.
    return _passes([*record, *_launch(test, program, mpi)], test, program, 2 * test.limit_s)


def _passes(command: list[str], test: Test, program: Path, limit_s: float) -> bool:
    output, status = in_time(command, program.parent, limit_s, dict(test.environment))
    # record exits with 2 where a program makes no MPI call, and says so.
    return test.good in output and (status == 0 or (status == 2 and "nothing was recorded" in output))


def in_time(command: list[str], where: Path, limit_s: float, more: dict[str, str]) -> tuple[str, int | None]:
    """Run a command and return its output and exit status; None: it was ended after its time."""
    started = subprocess.Popen(
        command,
        cwd=where,
        env=environment(**{"OMPI_MCA_osc": ONE_SIDED, **more}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    for wait_s, sign in ((limit_s, signal.SIGTERM), (STOP_S, signal.SIGKILL)):
        try:
            return started.communicate(timeout=wait_s)[0].decode(errors="replace"), started.returncode
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, sign)
    # What else holds the pipe must not be waited for.
    started.wait()
    return "", None


def _analyzed(archive: Path, run: Path) -> tuple[str, dict[str, int]]:
    analyze = [sys.executable, "-m", "logpost.cli.app", "analyze", str(archive), "-o", str(run), "--force", "-q"]
    output, status = in_time(analyze, archive.parent, ANALYZE_S, {})
    if status is None:
        return f"not done after {ANALYZE_S:.0f} s", {}
    if status:
        return output.strip().rpartition("\n")[2] or f"exit status {status}", {}
    manifest = json.loads((run / "manifest.json").read_text())
    return "", {one["name"]: one["count"] for one in manifest["quality"] if one["severity"] != "info" and one["count"]}
