"""Compiles a workload with the user's own compiler wrapper, once per set of sources and compiler."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from logpost.collectors.workloads.catalogue import FOLDER, Program
from logpost.errors import InputError

# gnu11 for the C library's clocks; no fused multiply-add, so that results are equal bit by bit on any distribution.
FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off")

COMPILERS = {"mpi": "mpicc", "shmem": "oshcc"}
LAUNCHERS = {"mpi": "mpirun", "shmem": "oshrun"}
MISSING = {
    "mpi": "install openmpi-bin and libopenmpi-dev (or mpich and libmpich-dev), or load your site's MPI module",
    "shmem": "install openmpi-bin and libopenmpi-dev, or load a module with OpenSHMEM",
}


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/logpost/workloads`, by default below `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "logpost" / "workloads"


def find_tool(command: str, paradigm: str) -> str:
    """Full path of a compiler wrapper or launcher.

    Raises:
        InputError: it is not on PATH; says what to install.
    """
    found = shutil.which(command)
    if found is None:
        raise InputError(f"{command} is not on PATH: {MISSING[paradigm]}")
    return found


def build(program: Program, compiler: str | None = None, folder: Path | None = None) -> Path:
    """The executable of a program, compiled if it is not in `folder` (default: the cache) yet.

    Args:
        program: what to compile.
        compiler: wrapper to compile with; default `mpicc` or `oshcc` from PATH.
        folder: where to put the executable, under the program's name; default a folder of the cache that is named by
            a hash of sources, flags and compiler.

    Raises:
        InputError: no compiler, or it failed; the message has its first error.
    """
    wrapper = find_tool(compiler or COMPILERS[program.paradigm], program.paradigm)
    target = (folder or cache_folder() / _key(program, wrapper)) / program.name
    if folder is None and target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    # Compiled beside and renamed, so that two builds at once both end with a whole file.
    partial = target.with_name(f".{program.name}.{os.getpid()}")
    command = [wrapper, *FLAGS, "-o", str(partial), *map(str, program.files()), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        partial.unlink(missing_ok=True)
        lines = done.stderr.splitlines()
        reason = next((line for line in lines if "error" in line), lines[0] if lines else "no message")
        raise InputError(f"{wrapper} could not compile {program.name}: {reason}")
    partial.replace(target)
    return target


def launcher_of(compiler: str, paradigm: str) -> str:
    """The launcher of the same MPI: `mpicc.mpich` -> `mpirun.mpich`, `/opt/x/bin/mpicc` -> `/opt/x/bin/mpirun`."""
    path = Path(find_tool(compiler, paradigm))
    name = path.name.replace("mpicc", "mpirun", 1).replace("oshcc", "oshrun", 1)
    return str(path.with_name(name)) if path.with_name(name).exists() else LAUNCHERS[paradigm]


def run(
    program: Program,
    arguments: list[str],
    ranks: int = 4,
    compiler: str | None = None,
    launcher: str | None = None,
) -> int:
    """Builds the program and runs it; returns its exit status. Its output goes where ours goes."""
    wrapper = compiler or COMPILERS[program.paradigm]
    executable = build(program, wrapper)
    starter = find_tool(launcher or launcher_of(wrapper, program.paradigm), program.paradigm)
    command = [starter, "-n", str(ranks), str(executable), *arguments]
    return subprocess.run(command, env=launch_environment(program), check=False).returncode


def launch_environment(program: Program) -> dict[str, str]:
    """Ours, with what more ranks than cores need; other MPIs than Open MPI ignore it, and a user's setting wins."""
    settings = {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
    if program.paradigm == "shmem":
        # Open MPI 4.1's OpenSHMEM crashes in its own finalize when UCX patches the memory calls.
        settings["OMPI_MCA_memory"] = "^patcher"
    return {**settings, **os.environ}


def _key(program: Program, wrapper: str) -> str:
    """A hash of everything that the executable depends on: sources and headers, flags, the compiler wrapper itself."""
    digest = hashlib.sha256("\0".join((program.name, *FLAGS, wrapper)).encode())
    digest.update(str(os.stat(wrapper).st_mtime_ns).encode())
    digest.update(os.path.realpath(wrapper).encode())
    for path in [*program.files(), *sorted(FOLDER.glob("**/*.h"))]:
        digest.update(path.relative_to(FOLDER).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
