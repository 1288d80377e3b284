"""Compiles a workload with the user's own compiler wrapper, once per set of sources and compiler."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from logpost.collectors import build as cache
from logpost.collectors import mpi
from logpost.collectors.workloads.catalogue import FOLDER, Program

# gnu11 for the C library's clocks; -g, so that reports name lines; no fused multiply-add, so that results are equal bit
# by bit on any distribution.
FLAGS = ("-std=gnu11", "-O2", "-g", "-ffp-contract=off")

COMPILERS = {"mpi": "mpicc", "shmem": "oshcc"}


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
    wrapper = mpi.find_tool(compiler or COMPILERS[program.paradigm], program.paradigm)

    def make(place: Path) -> None:
        command = [wrapper, *FLAGS, "-o", str(place / program.name), *map(str, program.files()), "-lm"]
        cache.run_compiler(command, f"{wrapper} could not compile {program.name}")

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        make(folder)
        return folder / program.name
    return cache.kept(cache.cache_directory() / "workloads" / _key(program, wrapper), make) / program.name


def run(
    program: Program,
    arguments: list[str],
    ranks: int = 4,
    compiler: str | None = None,
    launcher: str | None = None,
) -> int:
    """Builds the program and runs it; returns its exit status. Its output has the same target as ours."""
    wrapper = compiler or COMPILERS[program.paradigm]
    executable = build(program, wrapper)
    starter = mpi.find_tool(launcher or mpi.launcher_of(wrapper, program.paradigm), program.paradigm)
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
    files = [*program.files(), *sorted(FOLDER.glob("**/*.h"))]
    return cache.key_of(files, (program.name, *FLAGS, *cache.identity_of(wrapper)), below=FOLDER)
