"""The calibration programs for one MPI: compiled when they are first needed, then kept in the cache.

`programs/` has a C file for each program, `programs/harness/` the files that every program is compiled with.

The cache key is compiler wrapper, its date, flags and the sources' hash, so an update of either side makes a new file
and never a stale one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from logpost.errors import InputError

PROGRAMS = Path(__file__).parent / "programs"
FLAGS = ("-std=c11", "-O2", "-w")
_STARTERS = (
    # launcher's name begins with -> wrappers to try
    ("smpirun", ("smpicc",)),
    ("mpirun.openmpi", ("mpicc.openmpi", "mpicc")),
    ("mpiexec.openmpi", ("mpicc.openmpi", "mpicc")),
    ("orterun", ("mpicc.openmpi", "mpicc")),
    ("prterun", ("mpicc",)),
    ("mpirun.mpich", ("mpicc.mpich", "mpicc")),
    ("mpiexec.mpich", ("mpicc.mpich", "mpicc")),
    ("mpiexec.hydra", ("mpicc.mpich", "mpicc")),
    ("", ("mpicc",)),
)


def programs() -> list[str]:
    """The programs' names."""
    return sorted(path.stem for path in PROGRAMS.glob("*.c"))


def compiler_of(launcher: str) -> str:
    """The wrapper of the launcher's MPI: beside it, else on PATH (`/opt/x/bin/mpirun` -> `/opt/x/bin/mpicc`).

    Raises InputError when the launcher or the wrapper is not there, with what to install.
    """
    path = shutil.which(launcher)
    if path is None:
        raise InputError(f"{launcher} is not on PATH: give the launcher of your MPI, e.g. mpirun -n 2")
    candidates = next(wrappers for start, wrappers in _STARTERS if Path(path).name.startswith(start))
    beside = [str(Path(path).with_name(name)) for name in candidates]
    for found in (*(wrapper for wrapper in beside if os.access(wrapper, os.X_OK)), *map(shutil.which, candidates)):
        if found:
            return found
    raise InputError(
        f"no {candidates[0]} for {launcher}: install libopenmpi-dev or libmpich-dev, load your site's MPI module, "
        "or name the compiler with --compiler"
    )


def build(compiler: str, names: Sequence[str] | None = None) -> dict[str, Path]:
    """Executables by program name, compiled where the cache has none.

    Raises InputError when the compiler is missing or fails, with its first error.
    """
    wrapper = shutil.which(compiler)
    if wrapper is None:
        raise InputError(
            f"{compiler} is not on PATH: install libopenmpi-dev or libmpich-dev, load your site's MPI module, "
            "or name the compiler with --compiler"
        )
    folder = cache_folder() / _key(wrapper)
    return {name: _cached(wrapper, name, folder) for name in (names or programs())}


def compile_program(compiler: str, source: Path, target: Path) -> None:
    """Compile one C file with the harness of the calibration programs.

    Raises InputError when the compiler fails, with its first error, and OSError when it cannot be started.
    """
    harness = PROGRAMS / "harness"
    sources = map(str, (source, *sorted(harness.glob("*.c"))))
    done = subprocess.run(
        [compiler, *FLAGS, f"-I{harness}", "-o", str(target), *sources, "-lm"],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).splitlines()
        reason = next((line for line in lines if "error" in line), lines[0] if lines else "no message")
        raise InputError(f"{compiler} could not compile the calibration program {source.stem}: {reason}")


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/logpost/calibration`, by default below `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "logpost" / "calibration"


def _cached(wrapper: str, name: str, folder: Path) -> Path:
    target = folder / name
    if target.exists():
        return target
    # Compiled beside and renamed, so that two builds at once both end with a whole file.
    partial = target.with_name(f".{name}.{os.getpid()}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            compile_program(wrapper, PROGRAMS / f"{name}.c", partial)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to the cache {folder}: {error}; set XDG_CACHE_HOME") from error
    return target


def _key(wrapper: str) -> str:
    digest = hashlib.sha256("\0".join((wrapper, os.path.realpath(wrapper), *FLAGS)).encode())
    digest.update(str(os.stat(wrapper).st_mtime_ns).encode())
    for path in sorted(PROGRAMS.rglob("*.[ch]")):
        digest.update(str(path.relative_to(PROGRAMS)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
