"""`python -m tests.conformance`: exit status 1 when the collector changes what a test does.

Results are kept under build/conformance (or LOGPOST_CONFORMANCE): an interrupted run continues where it
stopped. After a change of the recorder everything runs again with it, after one of the analyzer only the analyses do.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests import give_way
from tests.collectors.recording import LAUNCHERS
from tests.conformance import kept, lanes, mpi4py, readme, suite, tests_sos, trial, warm
from tests.conformance.table import table

from logpost.errors import InputError

ROOT = Path(__file__).parents[2]


@dataclasses.dataclass(frozen=True)
class Versions:
    """What is tested: digests of its sources."""

    recorder: str
    analyzer: str


def listed(cache: Path, mpi: str, only: str = "", build: bool = True) -> list[suite.Test]:
    """The tests under an MPI, in four suites; one that the pattern names alone needs not the others.

    `build`: mpi4py, where it is not built yet; else its tests are left out.
    """
    known = (
        []
        if only.startswith((mpi4py.FOLDER, tests_sos.FOLDER))
        else suite.tests(suite.configured(cache, mpi), suite.source(cache))
    )
    for folder in (mpi4py.FOLDER, mpi4py.WHEEL):
        if only.partition("/")[0] in ("", folder) and (build or (cache / mpi / folder / "built").exists()):
            known += mpi4py.tests(cache, mpi, folder)
    if mpi == "openmpi" and (not only or only.startswith(tests_sos.FOLDER)):
        known += tests_sos.tests(cache / mpi)
    return known


def conform(
    cache: Path, mpi: str, only: str, versions: Versions, patience: float = 1.0, concurrent: int = 1, new: bool = False
) -> list[trial.Outcome]:
    """Run the tests whose name matches, those with an outcome excepted; prints the table.

    `patience` multiplies the suite's time limits, with and without collector; first, `concurrent` tests run at a time.
    `new`: those alone of which no outcome is kept, of whatever recorder.
    """
    chosen = [x for x in listed(cache, mpi, only) if fnmatch.fnmatch(x.name, f"*{only}*")]
    if not chosen:
        raise InputError(f"--only {only} matches no test; the suite's are in the testlist files below {cache / mpi}")
    ours = [x for x in chosen if not x.judged_otherwise]
    results = cache / mpi / f"{versions.recorder}.jsonl"
    done = kept.read(results)
    before = {name: one for name, (one, _) in kept.newest(cache / mpi, versions.recorder).items()}
    if new:
        ours = [x for x in ours if x.name not in before]
    tasks = []
    # A run that is stopped has shown more: what no recorder has shown first, what the suite gives the least time, then
    # few ranks.
    for test in sorted(ours, key=lambda x: (x.name in before, x.limit_s, x.ranks)):
        patient = dataclasses.replace(test, limit_s=patience * test.limit_s)
        known = done.get(test.name)
        if known is not None and _hurried(known, patient):
            known = None
        if known is None or (known.archive and known.analyzer != versions.analyzer):
            tasks.append(_Task(cache, mpi, patient, known, before.get(test.name)))

    def keep(task: _Task, outcome: trial.Outcome) -> None:
        done[task.test.name] = dataclasses.replace(outcome, analyzer=versions.analyzer)
        kept.append(results, done[task.test.name])

    if concurrent > 1 and len(tasks) > 1:
        print(f"{mpi}: {len(tasks)} tests, programs first, {concurrent} at a time", file=sys.stderr, flush=True)
        suite.build_all(cache / mpi / "build", [x.test for x in tasks if _is_of_mpich(x.test)], concurrent)
        alone = []
        for number, (task, outcome) in enumerate(lanes.side_by_side(_in_company, tasks, concurrent), 1):
            certain = not outcome.built or (outcome.without and outcome.with_collector and not outcome.refused)
            print(
                f"{mpi} {number}/{len(tasks)} {task.test.name}{'' if certain else ': again, alone'}",
                file=sys.stderr,
                flush=True,
            )
            if certain:
                keep(task, outcome)
            else:
                alone.append((outcome.without, task))
        # What the collector may have changed first.
        tasks = [task for _, task in sorted(alone, key=lambda x: not x[0])]
    for number, task in enumerate(tasks, 1):
        print(f"{mpi} {number}/{len(tasks)} {task.test.name}", file=sys.stderr, flush=True)
        keep(task, _alone(task))
    outcomes = [done[x.name] for x in ours]
    print(f"{mpi}\n{table(outcomes, len(chosen) - len(ours))}", flush=True)
    if outcomes and not any(x.without for x in outcomes):
        log = cache / mpi / suite.MAKE_LOG
        raise InputError(f"no test passes without the collector under {mpi}: nothing is shown; see {log}")
    return outcomes


@dataclasses.dataclass(frozen=True)
class _Task:
    """A test to run, its outcome with this recorder, and that with any."""

    cache: Path
    mpi: str
    test: suite.Test
    known: trial.Outcome | None
    before: trial.Outcome | None


def _alone(task: _Task) -> trial.Outcome:
    """The outcome of a test that has its whole time, longer on a busy machine."""
    return _again(task.cache, task.mpi, task.test, task.known) or _tried(
        task.cache, task.mpi, task.test, task.before, lanes.load_factor() * task.test.limit_s
    )


def _in_company(task: _Task) -> trial.Outcome:
    """The outcome of a test with others at the same time: certain where it passes both ways."""
    hurried_s = min(task.test.limit_s, lanes.load_factor() * lanes.HURRY_S)
    return _again(task.cache, task.mpi, task.test, task.known) or _tried(
        task.cache, task.mpi, task.test, task.before, hurried_s, repeat=False
    )


def _hurried(known: trial.Outcome, test: suite.Test) -> bool:
    """Whether a test that did not pass may do so with its present time limit."""
    return known.built and not (known.without and known.with_collector) and known.limit_s < test.limit_s


def _kept_archive(cache: Path, mpi: str, test: suite.Test) -> Path:
    return cache / mpi / "archives" / re.sub(r"[^\w.=-]+", "_", test.name)


def _again(cache: Path, mpi: str, test: suite.Test, known: trial.Outcome | None) -> trial.Outcome | None:
    """The outcome with the kept archive analyzed anew; None where there is none."""
    archive = trial.recorded_in(_kept_archive(cache, mpi, test))
    if known is None or archive is None:
        return None
    with tempfile.TemporaryDirectory(dir=cache / mpi, prefix="trial-") as scratch:
        return trial.analyzed(known, archive, Path(scratch) / "run")


def _tried(
    cache: Path, mpi: str, test: suite.Test, before: trial.Outcome | None, limit_s: float, repeat: bool = True
) -> trial.Outcome:
    """The outcome of running the test within a time; what it does without the collector may be known from before."""
    program = _program(cache, mpi, test)
    if program is None:
        return trial.Outcome(test.name, built=False)
    version = kept.version(test.launch or LAUNCHERS[mpi])
    same = before is not None and before.built and bool(version) and before.mpi == version
    if same and before is not None and not before.without and before.limit_s >= test.limit_s:
        return before
    archive = _kept_archive(cache, mpi, test)
    shutil.rmtree(archive, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=cache / mpi, prefix="trial-") as scratch:
        folder = Path(scratch) / "archive"
        limited = dataclasses.replace(test, limit_s=limit_s)
        if mpi == "mpich" or test.launch == "oshrun":
            limited = dataclasses.replace(limited, environment=(*test.environment, *give_way.environment(cache)))
        outcome = trial.run(limited, program, mpi, folder, same and before is not None and before.without, repeat)
        recorded = trial.recorded_in(folder)
        size = sum(x.stat().st_size for x in recorded.parent.rglob("*") if x.is_file()) if recorded is not None else 0
        if recorded is not None and size <= kept.MOST_BYTES:
            archive.mkdir(parents=True)
            shutil.move(recorded.parent, archive / recorded.parent.name)
    return dataclasses.replace(outcome, name=test.name, limit_s=test.limit_s, mpi=version)


def _is_of_mpich(test: suite.Test) -> bool:
    return not test.folder.startswith((mpi4py.FOLDER, tests_sos.FOLDER))


def _program(cache: Path, mpi: str, test: suite.Test) -> Path | None:
    if test.folder in (mpi4py.FOLDER, mpi4py.WHEEL):
        return mpi4py.program(cache, mpi, test.folder)
    if test.folder.startswith(tests_sos.FOLDER):
        return tests_sos.build(cache / mpi, test)
    return suite.build(cache / mpi / "build", test)


def _known(cache: Path, mpi: str, versions: Versions) -> tuple[list[suite.Test], dict[str, tuple[trial.Outcome, bool]]]:
    """All tests under an MPI and the outcomes that are kept."""
    (cache / mpi).mkdir(parents=True, exist_ok=True)
    return [x for x in listed(cache, mpi, build=False) if not x.judged_otherwise], kept.newest(
        cache / mpi, versions.recorder
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--mpi", choices=sorted(suite.CONFIGURE), help="this MPI alone [default: all installed]")
    parser.add_argument(
        "--only",
        default="",
        metavar="PATTERN",
        help="tests such as coll/icbcast, 'rma/*put*', mpi4py/, mpi4py-wheel/ or tests-sos/",
    )
    parser.add_argument("--new", action="store_true", help="only tests that have no outcome yet, with any recorder")
    parser.add_argument("--again", action="store_true", help="forget the results of earlier runs")
    parser.add_argument(
        "--patience", type=float, default=1.0, metavar="FACTOR", help="times the time limits, on a busy machine [1]"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=(os.cpu_count() or 1) + 1,
        metavar="N",
        help="tests at a time; one that does not pass so is run again alone [the machine's cores and one]",
    )
    parser.add_argument(
        "--readme", type=Path, metavar="FILE", help="run nothing: write the table of all outcomes that are kept into it"
    )
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # what runs is ended, too: see bounded.py
    cache = Path(os.environ.get("LOGPOST_CONFORMANCE", ROOT / "build" / "conformance")).absolute()
    outcomes: list[trial.Outcome] = []
    try:
        found = [x for x in suite.CONFIGURE if shutil.which(f"mpicc.{x}") and args.mpi in (None, x)]
        if not found:
            raise InputError("neither mpicc.openmpi nor mpicc.mpich is installed (packaging/apt-test.txt)")
        versions = Versions(kept.recorder(ROOT), kept.analyzer(ROOT))
        if args.readme:
            readme.write(args.readme, readme.lines({x: _known(cache, x, versions) for x in found}))
            return 0
        warm.up()
        for mpi in found:
            (cache / mpi).mkdir(parents=True, exist_ok=True)
            if args.again:
                (cache / mpi / f"{versions.recorder}.jsonl").unlink(missing_ok=True)
            outcomes += conform(cache, mpi, args.only, versions, args.patience, args.jobs, args.new)
    except InputError as problem:
        print(f"conformance: {problem}", file=sys.stderr)
        return 2
    return int(any(x.regression for x in outcomes))


if __name__ == "__main__":
    sys.exit(main())
