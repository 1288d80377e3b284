"""Programs of known cause: the built simulator, its cases, and their analysis."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.analyzer.in_process import analyze

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

from .compare import Labels, Verdict, labels, truth_of, verdict

ROOT = Path(__file__).parents[2]
SIMULATE = ROOT / "build" / "dev" / "truth" / "simulate"
"""Built by `make setup`."""
START_AND_END_PS = 25_000_000
"""MPI_Init and MPI_Finalize of every rank: 20 and 5 us (`simulator/rank.cpp`)."""
CURED = ".cured"
WITHIN = 0.25
"""A stated gain is right within a quarter of the true one."""
NOTHING = 0.01
"""Gains below this are none: no finding states them."""


def program_ps(place: Path) -> int:
    """How long a simulated program lasts in truth, without start-up and shut-down."""
    return int(truth_of(place)["end_ps"]) - START_AND_END_PS


@dataclass(frozen=True)
class Judged:
    """A case and its truth."""

    name: str
    labels: Labels
    verdict: Verdict

    @property
    def clean(self) -> bool:
        """Has no cause to find."""
        return self.verdict.expected == ""

    @property
    def gain_is_right(self) -> bool:
        """Within a quarter of what the cure saves; where that is nothing, nothing is said."""
        true = max(0.0, self.verdict.true_gain)
        return abs(self.verdict.gain - true) <= max(NOTHING, WITHIN * true)

    @property
    def is_bounded(self) -> bool:
        """Whether the cure saves no more than stated; a program without its cause may run otherwise than the replay,
        and save more."""
        verdict = self.verdict
        return verdict.true_gain <= max(verdict.gain, verdict.gain_high or 0.0) + NOTHING


def judged_gains(cases: Sequence[Judged]) -> list[Judged]:
    """Those with a cause that is found: of the others no gain of that cause is stated."""
    return [case for case in cases if case.verdict.right and not case.clean]


def simulate(place: Path, *options: str, cases: Iterable[str] = ()) -> list[str]:
    """Writes the named cases, or every one, below a directory; the names of those with a cause or none, without the
    cured ones."""
    chosen = [word for case in cases for word in ("--case", case)]
    subprocess.run([str(SIMULATE), str(place), *options, *chosen], check=True, stdout=subprocess.DEVNULL)
    return sorted(case.name for case in place.iterdir() if case.is_dir() and not case.name.endswith(CURED))


def judge(place: Path, name: str, runs: Path) -> Judged:
    """Analyzes one case with its machine and compares it with its truth."""
    case = place / name
    return judged(case, analyzed(case, runs / name, str(case / "machine.toml")))


def analyzed(case: Path, run_path: Path, machine: str) -> Run:
    """The run of a case's archive with a machine: a file, or `estimate`."""
    request = Request(archive=str(case / "traces.otf2"), run=str(run_path), machine=machine)
    return Run.open(analyze(request))


class RunsOf:
    """Runs of cases by name, each simulated and analyzed with its machine when it is first needed.

    `options` are the simulator's.
    """

    def __init__(self, place: Path, *options: str) -> None:
        self.place, self.options = place, options
        self.runs: dict[str, Run] = {}

    def __getitem__(self, name: str) -> Run:
        if name not in self.runs:
            case = self.place / "cases" / name
            if not case.exists():
                simulate(case.parent, *self.options, cases=[name.removesuffix(CURED)])
            self.runs[name] = analyzed(case, self.place / f"{name}.run", str(case / "machine.toml"))
        return self.runs[name]


def judged(case: Path, run: Run) -> Judged:
    """A run of a case and its truth."""
    truth, cured = truth_of(case), case.with_name(case.name + CURED)
    return Judged(case.name, labels(run, truth), verdict(run, truth, truth_of(cured) if cured.exists() else None))
