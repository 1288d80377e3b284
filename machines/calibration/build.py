"""The calibration programs for one MPI: compiled when they are first needed, then kept in the cache.

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

SOURCES = Path(__file__).parent / "programs"
COMMON = "calibration"
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
    """The programs' names: every C file of the folder but the common one."""
    return sorted(path.stem for path in SOURCES.glob("*.c") if path.stem != COMMON)


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
    return {name: _executable(wrapper, name, folder) for name in (names or programs())}


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/logpost/calibration`, by default below `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "logpost" / "calibration"


def _executable(wrapper: str, name: str, folder: Path) -> Path:
    target = folder / name
    if target.exists():
        return target
    # Compiled beside and renamed, so that two builds at once both end with a whole file.
    partial = target.with_name(f".{name}.{os.getpid()}")
    sources = [str(SOURCES / f"{part}.c") for part in (name, COMMON)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [wrapper, *FLAGS, "-o", str(partial), *sources, "-lm"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            partial.unlink(missing_ok=True)
            lines = (done.stderr or done.stdout).splitlines()
            reason = next((line for line in lines if "error" in line), lines[0] if lines else "no message")
            raise InputError(f"{wrapper} could not compile the calibration program {name}: {reason}")
        partial.replace(target)
    except OSError as error:
        raise InputError(f"cannot write to the cache {folder}: {error}; set XDG_CACHE_HOME") from error
    return target


def _key(wrapper: str) -> str:
    digest = hashlib.sha256("\0".join((wrapper, os.path.realpath(wrapper), *FLAGS)).encode())
    digest.update(str(os.stat(wrapper).st_mtime_ns).encode())
    for path in sorted([*SOURCES.glob("*.c"), *SOURCES.glob("*.h")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
