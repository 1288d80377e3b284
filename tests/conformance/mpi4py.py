"""mpi4py's own tests, from the source archive of its registry, with mpi4py built for one MPI from the same archive.

A second time with the registry's wheel, which is built for no MPI: it opens one by dlopen when it is imported.
Each file of tests is one test here: it passes when Python's unittest says so on all ranks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.collectors.recording import COMPILERS
from tests.conformance.suite import Test

from logpost.collectors import mpi as detection
from logpost.errors import InputError

VERSION = "4.1.2"
FOLDER, WHEEL = "mpi4py", "mpi4py-wheel"
NAMED = {"openmpi": "libmpi.so", "mpich": "libmpi.so.12"}
"""The name by which the wheel opens an MPI; its module for MPICH is linked to that, which Debian's has not."""
RANKS = 2
LIMIT_S = 300.0


def tests(cache: Path, mpi: str, folder: str) -> list[Test]:
    """A test for each file; mpi4py is fetched, and built where it is not the wheel, the first time (minutes)."""
    where = cache / mpi / folder
    if not (where / "built").exists():
        _build(where, mpi)
    links = where / "lib"
    surroundings = (("LD_LIBRARY_PATH", str(links)), ("MPI4PY_LIBMPI", str(links / NAMED[mpi])))
    interpreter = str(where / "python" / "bin" / "python")
    files = sorted(path.stem for path in (source(where) / "test").glob("test_*.py"))
    return [
        Test(
            folder,
            name,
            RANKS,
            ("-q", name),
            surroundings if folder == WHEEL else (),
            command=(interpreter,),
            limit_s=LIMIT_S,
            good="OK",
        )
        for name in files
    ]


def program(cache: Path, mpi: str, folder: str) -> Path:
    """What runs the tests that are named behind it."""
    return source(cache / mpi / folder) / "test" / "main.py"


def source(where: Path) -> Path:
    """The unpacked archive."""
    return where / f"mpi4py-{VERSION}"


def _build(where: Path, mpi: str) -> None:
    where.mkdir(parents=True, exist_ok=True)
    log = where / "build.log"
    environment = {**os.environ, "MPICC": f"mpicc.{mpi}"}
    pip = [str(where / "python" / "bin" / "python"), "-m", "pip"]
    from_source = ["--no-binary", "mpi4py", f"mpi4py=={VERSION}"]
    wanted = ["--only-binary", "mpi4py", from_source[-1]] if where.name == WHEEL else from_source
    for command in (
        [sys.executable, "-m", "venv", str(where / "python")],
        [*pip, "download", "-q", "--no-deps", "-d", str(where), *from_source],
        ["tar", "xf", str(where / f"mpi4py-{VERSION}.tar.gz"), "-C", str(where)],
        [*pip, "install", "-q", "--no-cache-dir", *wanted],  # the cache may have it built for another MPI
    ):
        with log.open("a") as out:
            if subprocess.run(command, stdout=out, stderr=out, env=environment, check=False).returncode:
                raise InputError(f"{Path(command[0]).name} failed for mpi4py's tests under {mpi}; see {log}")
    if where.name == WHEEL:
        library = detection.find([], COMPILERS[mpi]).library
        if library is None:
            raise InputError(f"the library of {COMPILERS[mpi]} was not found, which mpi4py's wheel is to open")
        (where / "lib").mkdir(exist_ok=True)
        (where / "lib" / NAMED[mpi]).unlink(missing_ok=True)
        (where / "lib" / NAMED[mpi]).symlink_to(library)
    (where / "built").touch()
