"""`python -m tests.conformance`: exit status 1 when the collector changes what a test does.

Results are kept under build/conformance (LOGPOST_CONFORMANCE names another place): an interrupted run goes on where it
stopped. After a change of the collectors or of the analyzer everything runs again.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import hashlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path

from tests.conformance import mpi4py, suite, tests_sos, trial, warm
from tests.conformance.table import table

from logpost.errors import InputError

ROOT = Path(__file__).parents[2]
SOURCES = ("collectors", "analyzer", "replay", "machines", "src/logpost/cli")


def state(root: Path) -> str:
    """A digest of the sources that outcomes depend on."""
    digest = hashlib.sha256()
    for folder in SOURCES:
        for file in sorted(x for x in (root / folder).rglob("*") if x.is_file() and "__pycache__" not in x.parts):
            digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def remembered(results: Path) -> dict[str, trial.Outcome]:
    """Outcomes of an earlier run; a last line that was cut off is none."""
    found = {}
    for line in results.read_text().splitlines() if results.exists() else []:
        try:
            one = trial.Outcome(**json.loads(line))
        except ValueError:
            continue
        found[one.name] = one
    return found


def conform(cache: Path, mpi: str, only: str, results: Path, patience: float = 1.0) -> list[trial.Outcome]:
    """Run the tests whose name matches, those with an outcome excepted; prints the table.

    `patience` multiplies the suite's time limits, with the collector and without.
    """
    known = (
        []
        if only.startswith((mpi4py.FOLDER, tests_sos.FOLDER))
        else suite.tests(suite.configured(cache, mpi), suite.source(cache))
    )
    if not only or only.startswith(mpi4py.FOLDER):
        known += mpi4py.tests(cache, mpi)
    if mpi == "openmpi" and (not only or only.startswith(tests_sos.FOLDER)):
        known += tests_sos.tests(cache / mpi)
    chosen = [x for x in known if fnmatch.fnmatch(x.name, f"*{only}*")]
    if not chosen:
        raise InputError(f"--only {only} matches no test; the suite's are in the testlist files below {cache / mpi}")
    ours = [x for x in chosen if not x.judged_otherwise]
    done = remembered(results)
    for number, test in enumerate(ours, 1):
        if test.name in done:
            continue
        print(f"{mpi} {number}/{len(ours)} {test.name}", file=sys.stderr, flush=True)
        folder = cache / mpi / "archive"
        program = _program(cache, mpi, test)
        outcome = trial.Outcome(test.name, built=False)
        if program is not None:
            patient = dataclasses.replace(test, limit_s=patience * test.limit_s)
            outcome = trial.run(patient, program, mpi, folder)
            shutil.rmtree(folder, ignore_errors=True)
        done[test.name] = outcome
        with results.open("a") as out:
            out.write(json.dumps(dataclasses.asdict(outcome)) + "\n")
    outcomes = [done[x.name] for x in ours]
    print(f"{mpi}\n{table(outcomes, len(chosen) - len(ours))}", flush=True)
    if not any(x.without for x in outcomes):
        log = cache / mpi / suite.MAKE_LOG
        raise InputError(f"no test passes without the collector under {mpi}: nothing is shown; see {log}")
    return outcomes


def _program(cache: Path, mpi: str, test: suite.Test) -> Path | None:
    if test.folder == mpi4py.FOLDER:
        return mpi4py.program(cache, mpi)
    if test.folder.startswith(tests_sos.FOLDER):
        return tests_sos.build(cache / mpi, test)
    return suite.build(cache / mpi / "build", test)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--mpi", choices=sorted(suite.CONFIGURE), help="this MPI alone [default: all installed]")
    parser.add_argument(
        "--only", default="", metavar="PATTERN", help="tests such as coll/icbcast, 'rma/*put*', mpi4py/ or tests-sos/"
    )
    parser.add_argument("--again", action="store_true", help="forget the results of earlier runs")
    parser.add_argument(
        "--patience", type=float, default=1.0, metavar="FACTOR", help="times the time limits, on a busy machine [1]"
    )
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # what runs is ended, too: see bounded.py
    cache = Path(os.environ.get("LOGPOST_CONFORMANCE", ROOT / "build" / "conformance")).absolute()
    outcomes: list[trial.Outcome] = []
    try:
        found = [x for x in suite.CONFIGURE if shutil.which(f"mpicc.{x}") and args.mpi in (None, x)]
        if not found:
            raise InputError("neither mpicc.openmpi nor mpicc.mpich is installed (packaging/apt-test.txt)")
        warm.up()
        for mpi in found:
            (cache / mpi).mkdir(parents=True, exist_ok=True)
            results = cache / mpi / f"{state(ROOT)}.jsonl"
            if args.again:
                results.unlink(missing_ok=True)
            outcomes += conform(cache, mpi, args.only, results, args.patience)
    except InputError as problem:
        print(f"conformance: {problem}", file=sys.stderr)
        return 2
    return int(any(x.regression for x in outcomes))


if __name__ == "__main__":
    sys.exit(main())
