"""mpi4py's own tests, from the source archive of its registry, with mpi4py built for one MPI from the same archive.

Each file of tests is one test here: it passes when Python's unittest says so on all ranks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conformance.suite import Test

from logpost.errors import InputError

VERSION = "4.1.2"
FOLDER = "mpi4py"
RANKS = 2
LIMIT_S = 300.0


def tests(cache: Path, mpi: str) -> list[Test]:
    """A test for each file; mpi4py is fetched and built the first time (minutes)."""
    where = cache / mpi / FOLDER
    if not (where / "built").exists():
        _build(where, mpi)
    interpreter = str(where / "python" / "bin" / "python")
    files = sorted(path.stem for path in (source(where) / "test").glob("test_*.py"))
    return [
        Test(FOLDER, name, RANKS, ("-q", name), command=(interpreter,), limit_s=LIMIT_S, good="OK") for name in files
    ]


def program(cache: Path, mpi: str) -> Path:
    """What runs the tests that are named behind it."""
    return source(cache / mpi / FOLDER) / "test" / "main.py"


def source(where: Path) -> Path:
    """The unpacked archive."""
    return where / f"mpi4py-{VERSION}"


def _build(where: Path, mpi: str) -> None:
    where.mkdir(parents=True, exist_ok=True)
    log = where / "build.log"
    environment = {**os.environ, "MPICC": f"mpicc.{mpi}"}
    pip = [str(where / "python" / "bin" / "python"), "-m", "pip"]
    asked = ["--no-binary", "mpi4py", f"mpi4py=={VERSION}"]
    for command in (
        [sys.executable, "-m", "venv", str(where / "python")],
        [*pip, "download", "-q", "--no-deps", "-d", str(where), *asked],
        ["tar", "xf", str(where / f"mpi4py-{VERSION}.tar.gz"), "-C", str(where)],
        [*pip, "install", "-q", "--no-cache-dir", *asked],  # the cache may have it built for another MPI
    ):
        with log.open("a") as out:
            if subprocess.run(command, stdout=out, stderr=out, env=environment, check=False).returncode:
                raise InputError(f"{Path(command[0]).name} failed for mpi4py's tests under {mpi}; see {log}")
    (where / "built").touch()
