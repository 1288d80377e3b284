"""The applications, declared once: name, paper, programs, and arguments for a quick check and a demonstration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from logpost.errors import InputError

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Program:
    """One executable of a workload."""

    name: str
    sources: tuple[str, ...]
    """Paths and patterns relative to the workloads folder."""
    paradigm: str = "mpi"
    """`mpi` (compiled by mpicc) or `shmem` (compiled by oshcc)."""

    def files(self) -> list[Path]:
        """The C files to compile, sorted."""
        return sorted(path for pattern in self.sources for path in FOLDER.glob(pattern))


@dataclass(frozen=True)
class Workload:
    """An application of one of the papers."""

    name: str
    what: str
    paper: str
    programs: tuple[Program, ...]
    quick: tuple[tuple[str, ...], ...]
    """Argument lists that each run in about a second on 4 ranks and together use every form of the program."""
    demo: tuple[str, ...]
    """Arguments of a run worth recording, a few seconds on 4 ranks."""

    @property
    def folder(self) -> Path:
        """Where its sources are."""
        return FOLDER / self.name

    def program(self, name: str | None = None) -> Program:
        """The program called `name`, by default the first."""
        for program in self.programs:
            if name in (None, program.name):
                return program
        raise InputError(
            f"workload {self.name} has no program {name}; it has " + ", ".join(p.name for p in self.programs)
        )


def mpi_program(name: str) -> Program:
    """All C files of the workload's folder with the common ones, compiled by mpicc."""
    return Program(name, (f"{name}/*.c", "common/*.c"))


WORKLOADS: tuple[Workload, ...] = (
    Workload(
        name="em3d",
        what="electromagnetic waves on an irregular bipartite graph; a hot-spotted and a spread order of communication",
        paper="LoGPC 5.3, Fig. 11; Sensitivity 4.1",
        programs=(
            mpi_program("em3d"),
            Program(
                "em3d_shmem",
                (
                    "em3d/shmem/*.c",
                    "em3d/graph.c",
                    "em3d/schedule.c",
                    "common/options.c",
                    "common/processor.c",
                ),
                paradigm="shmem",
            ),
        ),
        quick=(
            ("--iterations", "2", "--cycle-ns", "0"),
            ("--iterations", "2", "--cycle-ns", "0", "--order", "improved"),
            ("--iterations", "2", "--cycle-ns", "0", "--receive", "poll", "--order", "improved"),
            ("--iterations", "2", "--cycle-ns", "0", "--mechanism", "bulk"),
            ("--iterations", "2", "--cycle-ns", "0", "--mechanism", "put", "--capacity", "0"),
        ),
        demo=("--order", "original"),
    ),
)


def workload(name: str) -> Workload:
    """The workload called `name`.

    Raises:
        InputError: there is none of that name.
    """
    for entry in WORKLOADS:
        if entry.name == name:
            return entry
    raise InputError(f"no workload {name}; there are " + ", ".join(entry.name for entry in WORKLOADS))
