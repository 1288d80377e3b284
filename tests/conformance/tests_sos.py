"""Sandia's OpenSHMEM tests (openshmem-org/tests-sos), C programs of `unit` and `spec-example`, under Open MPI's oshrun.

`git clone` brings them the first time; LOGPOST_TESTS_SOS names a checkout instead. A test passes when it ends with 0.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.conformance.suite import Test

from logpost.errors import InputError

FOLDER = "tests-sos"
ADDRESS = "https://github.com/openshmem-org/tests-sos"
COMMIT = "ca9cb12b13a10eda4b94844ccabdc119f6b48f88"
FOLDERS = ("unit", "spec-example")
PES = 2
LIMIT_S = 120.0
ENVIRONMENT = (("OMPI_MCA_memory", "^patcher"),)
"""Debian's OSHMEM crashes in its own finalization without."""


def tests(cache: Path) -> list[Test]:
    """A test for each C program."""
    return [
        Test(f"{FOLDER}/{folder}", file.stem, PES, environment=ENVIRONMENT, limit_s=LIMIT_S, good="", launch="oshrun")
        for folder in FOLDERS
        for file in sorted((_checkout(cache) / "test" / folder).glob("*.c"))
    ]


def build(cache: Path, test: Test) -> Path | None:
    """The program of a test; None where it does not compile, such as one of OpenSHMEM 1.5."""
    program = cache / "built" / test.folder / test.program
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        source = _checkout(cache) / "test"
        file = source / test.folder.removeprefix(f"{FOLDER}/") / f"{test.program}.c"
        command = ["oshcc", "-w", "-std=gnu11", f"-I{source / 'include'}", "-o", str(program), str(file), "-lpthread"]
        # A function that the header lacks would be found missing by the linker alone.
        command += ["-Werror=implicit-function-declaration", "-lm"]
        with (cache / "built" / "make.log").open("a") as log:
            subprocess.run(command, stdout=log, stderr=log, check=False)
    return program if program.exists() else None


def _checkout(cache: Path) -> Path:
    named = os.environ.get("LOGPOST_TESTS_SOS")
    where = Path(named) if named else cache / FOLDER
    if not named and not (where / "test").exists():
        for command in (["clone", "-q", ADDRESS, str(where)], ["-C", str(where), "checkout", "-q", COMMIT]):
            if subprocess.run(["git", *command], check=False).returncode:
                shutil.rmtree(where, ignore_errors=True)
                break
    if not (where / "test" / "unit").is_dir():
        raise InputError(f"{where} has no test/unit; clone {ADDRESS} and name its folder in LOGPOST_TESTS_SOS")
    return where
