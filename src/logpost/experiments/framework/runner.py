"""Runs experiments one after the other; an experiment that cannot run here is named, and the rest continues."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from logpost.errors import InputError
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.experiment import Experiment
from logpost.experiments.framework.needs import missing
from logpost.experiments.framework.result import Result


@dataclass(frozen=True)
class Outcome:
    """An experiment's result, or why there is none."""

    experiment: Experiment
    seconds: float
    result: Result | None = None
    reason: str = ""
    """One line: what was missing, and the way out."""
    defect: Exception | None = None
    """An error of the experiment itself: the others continue, and it is raised when their page is written."""


def run(
    experiments: Sequence[Experiment],
    folder: Path,
    *,
    quick: bool,
    progress: Callable[[str, int, int], None],
    finished: Callable[[Outcome], None] = lambda _outcome: None,
) -> list[Outcome]:
    """Run each experiment in `folder`/runs/<name>.

    Args:
        experiments: which.
        folder: where archives and runs are kept.
        quick: the quick form of each.
        progress: called with phase, done, total while one runs.
        finished: called after each.
    """
    outcomes = []
    for experiment in experiments:
        outcome = _one(experiment, folder, quick, progress)
        outcomes.append(outcome)
        finished(outcome)
    return outcomes


def _one(experiment: Experiment, folder: Path, quick: bool, progress: Callable[[str, int, int], None]) -> Outcome:
    reason = missing(experiment.needs)
    if reason:
        return Outcome(experiment, 0.0, reason=reason)
    context = Context(
        folder / "runs" / experiment.name,
        quick,
        lambda phase, done, total: progress(f"{experiment.name}: {phase}", done, total),
    )
    progress(experiment.name, 0, 0)
    start = time.monotonic()
    try:
        result = experiment.run(context)
    except InputError as error:
        return Outcome(experiment, time.monotonic() - start, reason=str(error))
    except Exception as error:
        said = f"it failed with {type(error).__name__}: {error}"
        return Outcome(experiment, time.monotonic() - start, reason=said, defect=error)
    if not result.runs:
        result = replace(result, runs=tuple(context.kept))
    return Outcome(experiment, time.monotonic() - start, result)
