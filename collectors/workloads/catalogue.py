"""The applications, declared once: name, paper, programs, and arguments for a quick check and a demonstration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from logpost.errors import InputError, suggestion

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
            f"workload {self.name} has no program {name}; choose from " + ", ".join(p.name for p in self.programs)
        )


def mpi_program(name: str, *common: str) -> Program:
    """All C files of the workload's folder and the named common ones, compiled by mpicc."""
    return Program(name, (f"{name}/*.c", *(f"common/{part}.c" for part in ("app", "options", "team_mpi", *common))))


def shmem_program(name: str, sources: tuple[str, ...], *common: str) -> Program:
    """`NAME_shmem`: these C files of the workload's folder and the named common ones, compiled by oshcc."""
    shared = ("app", "options", "message_options", "processor", "team_shmem", "remote_shmem", *common)
    files = (*(f"{name}/{part}.c" for part in sources), *(f"common/{part}.c" for part in shared))
    return Program(f"{name}_shmem", files, paradigm="shmem")


MESSAGES = ("messages", "message_options", "processor")
HALO = ("geometry", "halo", "halo_remote", "copies")


WORKLOADS: tuple[Workload, ...] = (
    Workload(
        name="em3d",
        what="electromagnetic waves on an irregular bipartite graph; a hot-spotted and a spread order of communication",
        paper="LoGPC 5.3, Fig. 11; Sensitivity 4.1",
        programs=(
            mpi_program("em3d", *MESSAGES, "copies", "remote_mpi"),
            shmem_program("em3d", ("em3d", "exchange", "exchange_remote", "graph", "schedule", "shmem/*"), "copies"),
        ),
        quick=(
            ("--iterations", "1", "--cycle-ns", "0", "--nodes", "200", "--degree", "8"),
            ("--iterations", "1", "--cycle-ns", "0", "--nodes", "200", "--degree", "8", "--order", "improved"),
            (
                "--iterations",
                "1",
                "--cycle-ns",
                "0",
                "--nodes",
                "200",
                "--degree",
                "8",
                "--receive",
                "poll",
                "--order",
                "improved",
            ),
            ("--iterations", "1", "--cycle-ns", "0", "--nodes", "200", "--degree", "8", "--mechanism", "bulk"),
            (
                "--iterations",
                "1",
                "--cycle-ns",
                "0",
                "--nodes",
                "200",
                "--degree",
                "8",
                "--mechanism",
                "put",
                "--capacity",
                "0",
            ),
        ),
        demo=("--order", "original"),
    ),
    Workload(
        name="remap",
        what="all-to-all remap: request and reply, one-way short messages, one-way long messages",
        paper="LoGPC 5.1, Table 4, Fig. 6",
        programs=(mpi_program("remap", *MESSAGES),),
        quick=(
            ("--messages", "50", "--cycle-ns", "0"),
            ("--messages", "50", "--cycle-ns", "0", "--receive", "poll", "--destination", "staggered"),
            ("--messages", "50", "--cycle-ns", "0", "--style", "async", "--self"),
            ("--messages", "20", "--cycle-ns", "0", "--style", "long", "--capacity", "0"),
        ),
        demo=("--style", "async", "--messages", "4000"),
    ),
    Workload(
        name="broadcast",
        what="linear and binomial broadcast of strided data, by datatypes or manual packing",
        paper="log3P 4.3.3, Fig. 9-11",
        programs=(mpi_program("broadcast"),),
        quick=(
            ("--repeat", "5"),
            ("--repeat", "5", "--algorithm", "binomial", "--packing", "manual", "--root", "1"),
            ("--repeat", "5", "--algorithm", "library", "--stride", "8"),
            ("--repeat", "5", "--algorithm", "binomial", "--cache", "warm", "--root", "1"),
        ),
        demo=("--algorithm", "binomial", "--repeat", "2000"),
    ),
    Workload(
        name="fft3d",
        what="transpose of a layered 3-D FFT by derived datatypes, packing, or packing in tiles; NAS FT grids",
        paper="log3P 4.3.4, Fig. 12",
        programs=(mpi_program("fft3d"),),
        quick=(
            ("--scale", "2", "--iterations", "1"),
            ("--scale", "2", "--iterations", "1", "--version", "pack"),
            ("--scale", "2", "--iterations", "1", "--version", "opt", "--exchange", "collective"),
            ("--scale", "2", "--iterations", "1", "--version", "ddt", "--exchange", "collective"),
        ),
        demo=("--version", "ddt", "--grid", "A", "--iterations", "3"),
    ),
    Workload(
        name="diamond",
        what="Diamond DAG: comparison of two DNA chains in stripes, with a choice of granularity and mapping",
        paper="LoGPC 5.2, Fig. 9, equation 15",
        programs=(mpi_program("diamond", "processor"),),
        quick=(
            ("--n", "256", "--blocks", "16", "--cycle-ns", "0"),
            ("--n", "256", "--blocks", "4", "--cycle-ns", "0", "--bytes", "16000", "--mapping", "random"),
            ("--n", "250", "--blocks", "5", "--cycle-ns", "0", "--mapping", "perfect", "--mesh-width", "2"),
        ),
        demo=(
            "--blocks",
            "64",
        ),
    ),
    Workload(
        name="overlap",
        what="overlap templates A to E: get, put and two-sided, four topologies, three orders of peers",
        paper="Iancu & Strohmaier, Fig. 6-12",
        programs=(
            mpi_program("overlap"),
            shmem_program("overlap", ("overlap", "peers", "shmem/*")),
        ),
        quick=(
            ("--repeat", "2", "--volume", "65536", "--size", "8192", "--pattern", "A", "--mechanism", "two-sided"),
            ("--repeat", "2", "--volume", "65536", "--size", "8192", "--pattern", "B", "--mechanism", "put"),
            ("--repeat", "2", "--volume", "65536", "--size", "8192", "--topology", "congestion"),
            ("--repeat", "2", "--volume", "65536", "--size", "8192", "--pattern", "D", "--topology", "multiple"),
            (
                *("--repeat", "2", "--volume", "65536", "--size", "8192", "--pattern", "E", "--burst", "3"),
                *("--mechanism", "two-sided", "--topology", "all-to-all", "--schedule", "same"),
            ),
        ),
        demo=("--pattern", "E", "--mechanism", "two-sided", "--topology", "all-to-all", "--repeat", "100"),
    ),
    Workload(
        name="unstruc",
        what="edge loop over an unstructured 3-D mesh, about 75 flop per edge; messages, bulk, shared memory",
        paper="Sensitivity 4.2, Fig. 4",
        programs=(
            mpi_program("unstruc", *MESSAGES, *HALO, "halo_messages", "remote_mpi"),
            shmem_program("unstruc", ("unstruc",), *HALO, "halo_without_messages"),
        ),
        quick=(
            ("--nodes", "300", "--iterations", "2", "--receive", "poll"),
            ("--nodes", "300", "--iterations", "2", "--mechanism", "bulk"),
            ("--nodes", "300", "--iterations", "2", "--mechanism", "put", "--block", "4"),
            ("--nodes", "300", "--iterations", "1", "--receive", "interrupt"),
            ("--nodes", "150", "--iterations", "1", "--mechanism", "prefetch"),
        ),
        demo=("--mechanism", "fine", "--iterations", "200"),
    ),
    Workload(
        name="iccg",
        what="sparse triangular solve as a data-flow graph, 2 flop per edge; messages, bulk, shared memory",
        paper="Sensitivity 4.3, Fig. 4",
        programs=(
            mpi_program("iccg", *MESSAGES, "remote_mpi"),
            shmem_program("iccg", ("iccg", "matrix", "partition", "solve", "edges_remote", "shmem/*")),
        ),
        quick=(
            ("--brick", "4", "--solves", "1"),
            ("--brick", "4", "--solves", "2", "--mechanism", "bulk", "--receive", "wait"),
            ("--brick", "3", "--solves", "2", "--mechanism", "put", "--chunk", "8", "--receive", "wait"),
            ("--brick", "4", "--solves", "1", "--receive", "interrupt"),
            ("--brick", "2", "--solves", "1", "--mechanism", "shared"),
            ("--brick", "4", "--solves", "1", "--partition", "graph"),
        ),
        demo=("--mechanism", "fine", "--receive", "wait", "--solves", "50"),
    ),
    Workload(
        name="moldyn",
        what="molecular dynamics with a cut-off, recursive coordinate bisection; bulk, messages, shared memory",
        paper="Sensitivity 4.4, Fig. 4",
        programs=(
            mpi_program("moldyn", *MESSAGES, *HALO, "halo_messages", "remote_mpi"),
            shmem_program("moldyn", ("moldyn",), *HALO, "halo_without_messages"),
        ),
        quick=(
            ("--cells", "6", "--steps", "4", "--rebuild", "2"),
            ("--cells", "6", "--steps", "1", "--mechanism", "fine", "--receive", "poll", "--block", "20"),
            ("--cells", "6", "--steps", "1", "--mechanism", "put", "--block", "20"),
        ),
        demo=("--mechanism", "bulk", "--steps", "200"),
    ),
)


def workload(name: str) -> Workload:
    """The workload called `name`.

    Raises:
        InputError: the name is unknown.
    """
    for entry in WORKLOADS:
        if entry.name == name:
            return entry
    known = [entry.name for entry in WORKLOADS]
    raise InputError(f"unknown workload {name}; use one of {', '.join(known)}{suggestion(name, known)}")
