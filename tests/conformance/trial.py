"""One test without the collector, with it, and its archive analyzed."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.collectors.recording import LAUNCHERS, environment
from tests.conformance import warm
from tests.conformance.bounded import Work, in_time
from tests.conformance.suite import Test

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
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time of each step: `without`, `with`, `analyze`."""
    limit_s: float = 0.0
    mpi: str = ""
    analyzer: str = ""
    """Versions that this holds for (`kept.py`); that of the recorder is the file's name."""

    @property
    def regression(self) -> bool:
        """The collector changed what the program does."""
        return self.without and not self.with_collector


def run(
    test: Test, program: Path, mpi: str, folder: Path, passes_without: bool = False, repeat: bool = True
) -> Outcome:
    """Run a test both ways. One that fails with the collector alone is repeated both ways before it counts.

    `passes_without`: it is known to, and that way is only run where it is repeated. `repeat`: False where the caller
    tries a failure again.
    """
    seconds: dict[str, float] = {}

    def timed(way: str, passes: Callable[[], bool]) -> bool:
        began = time.monotonic()
        passed = passes()
        seconds[way] = round(time.monotonic() - began, 2)
        return passed

    def alone() -> bool:
        return _passes(_launch(test, program, mpi), test, program, test.limit_s)

    def recorded() -> bool:
        return _recorded(test, program, mpi, folder)

    without = passes_without or timed("without", alone)
    if not without:
        return Outcome(test.name, seconds=seconds)
    passed = timed("with", recorded)
    if not passed and repeat:
        without = timed("without", alone)
        passed = timed("with", recorded)
    outcome = Outcome(test.name, True, without, passed, seconds=seconds)
    archive = recorded_in(folder)
    return outcome if archive is None else analyzed(outcome, archive, folder / "run")


def recorded_in(folder: Path) -> Path | None:
    """The anchor file of the archive that a test left."""
    return next(iter(sorted(folder.glob("logpost_*/traces.otf2"))), None)


def analyzed(outcome: Outcome, archive: Path, run: Path) -> Outcome:
    """The outcome with what the analysis of the archive says."""
    began = time.monotonic()
    refused, faults = _analyzed(archive, run)
    seconds = {**outcome.seconds, "analyze": round(time.monotonic() - began, 2)}
    return replace(outcome, archive=True, analyzed=not refused, refused=refused, faults=faults, seconds=seconds)


def _launch(test: Test, program: Path, mpi: str) -> list[str]:
    ranks = [test.launch or LAUNCHERS[mpi], *test.launcher, "-n", str(test.ranks)]
    return [*ranks, *test.command, str(program), *test.arguments]


def _recorded(test: Test, program: Path, mpi: str, folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    record = warm.record("-q", "-o", str(folder), "--calibrate", "none", "--", *_launch(test, program, mpi))
    # Twice the time: record assembles the archive within it.
    return _passes(record, test, program, 2 * test.limit_s)


def _passes(work: Work, test: Test, program: Path, limit_s: float) -> bool:
    output, status = in_time(work, program.parent, limit_s, surroundings(dict(test.environment)))
    # record exits with 2 where a program makes no MPI call, and says so.
    return test.good in output and (status == 0 or (status == 2 and "nothing was recorded" in output))


def surroundings(more: dict[str, str]) -> dict[str, str]:
    """The environment of a test. Ranks that wait give way: there are more than cores.

    Python keeps what it compiled, which would be compiled again for each rank.
    """
    found = environment(**{"OMPI_MCA_osc": ONE_SIDED, "OMPI_MCA_mpi_yield_when_idle": "1", **more})
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found


def _analyzed(archive: Path, run: Path) -> tuple[str, dict[str, int]]:
    output, status = in_time(warm.analyze(archive, run), archive.parent, ANALYZE_S, surroundings({}))
    if status is None:
        return f"not done after {ANALYZE_S:.0f} s", {}
    if status:
        return warm.reason(output) or f"exit status {status}", {}
    manifest = json.loads((run / "manifest.json").read_text())
    if manifest["faults"]:
        return f"{manifest['faults'][0]['part']} failed", {}
    return "", {one["name"]: one["count"] for one in manifest["quality"] if one["severity"] != "info" and one["count"]}
