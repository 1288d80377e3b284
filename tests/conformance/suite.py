"""MPICH's test/mpi from the distribution's source package, configured for one MPI, its programs built one by one.

Everything stays in the cache, apt's lists of source packages too: the system's own are not touched.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from logpost.errors import InputError

CONFIGURE = {  # Open MPI lacks MPICH's extensions, which the suite otherwise compiles in
    "mpich": ["--with-mpi=/usr", "CC=mpicc.mpich", "MPICC=mpicc.mpich"],
    "openmpi": [
        "--with-mpi=/usr",
        "CC=mpicc.openmpi",
        "MPICC=mpicc.openmpi",
        "--enable-strictmpi",
        "--disable-dtpools",
    ],
}
C_ONLY = ["--disable-fortran", "--disable-cxx", "--disable-romio"]
DEFAULT_LIMIT_S = 60.0
MAKE_LOG = "make.log"
# Open MPI's header refuses functions of MPI-1 that the suite's datatype pools call; its library has them.
COMPILE = "CFLAGS=-std=gnu99 -DOMPI_OMIT_MPI1_COMPAT_DECLS=0"


@dataclass(frozen=True)
class Test:
    """A line of a `testlist`; `limit_s` is the suite's own time limit, where the line has one."""

    folder: str
    program: str
    ranks: int
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    launcher: tuple[str, ...] = ()
    limit_s: float = DEFAULT_LIMIT_S
    command: tuple[str, ...] = ()
    """What runs the program, where it is not executable."""
    good: str = "No Errors"
    """What a test that passes prints."""
    launch: str = ""
    """What starts the ranks, where it is not the MPI's own mpirun."""
    judged_otherwise: bool = False
    """Passes by another sign than `No Errors`, or is expected to fail: left out, and counted."""

    @property
    def name(self) -> str:
        """The test as a user finds it in the suite."""
        more = [*self.arguments, *(f"{name}={value}" for name, value in self.environment)]
        ours = self.command or self.launch
        return " ".join([f"{self.folder}/{self.program}", str(self.ranks), *([] if ours else more)])


def parse(line: str, folder: str) -> Test | None:
    """A line of a `testlist` as a test; None of a comment, a blank line, or the name of a folder."""
    words = line.partition("#")[0].split()
    if len(words) < 2 or not words[1].isdigit():
        return None
    test = Test(folder, words[0], int(words[1]))
    for word in words[2:]:
        key, _, value = word.partition("=")
        if key == "arg":
            test = replace(test, arguments=(*test.arguments, value))
        elif key == "env":
            name, _, setting = value.partition("=")
            test = replace(test, environment=(*test.environment, (name, setting)))
        elif key == "mpiexecarg":
            test = replace(test, launcher=(*test.launcher, value))
        elif key == "timeLimit":
            test = replace(test, limit_s=float(value))
        elif key in ("resultTest", "xfail"):
            test = replace(test, judged_otherwise=True)
    return test


LEFT_OUT = {"f77", "f90", "f08", "cxx", "ft", "ckpoint"}
"""Folders of other languages, and of processes that fail, which MPIs survive where they are built for it alone."""


def tests(*roots: Path) -> list[Test]:
    """All tests of the suite's C part, each once, in the order of the folders' names.

    `roots`: the configured suite, which has the lists that configure writes, and the sources, which have the others.

    Its generated lists (`testlist.dtp`, `testlist.cvar`) repeat programs with other datatypes and algorithms: left out.
    """
    found = {}
    lists = {x.parent.relative_to(root): x for root in reversed(roots) for x in root.rglob("testlist")}
    for folder, listed in sorted(lists.items()):
        if LEFT_OUT.isdisjoint(folder.parts):
            for line in listed.read_text().splitlines():
                test = parse(line, str(folder))
                if test is not None:
                    found[test.name] = test
    return list(found.values())


def configured(cache: Path, mpi: str) -> Path:
    """The suite's build folder for an MPI; fetched and configured the first time (minutes)."""
    built, done = cache / mpi / "build", cache / mpi / "configured"
    if not done.exists():
        sources = source(cache)
        built.mkdir(parents=True, exist_ok=True)
        _run([str(sources / "configure"), "-q", *CONFIGURE[mpi], *C_ONLY], built, cache / mpi / "configure.log")
        done.touch()
    return built


def build(built: Path, test: Test) -> Path | None:
    """The program of a test; None where it does not compile with this MPI."""
    program = built / test.folder / test.program
    if not program.exists():
        make = ["make", "-s", "-C", str(built / test.folder), test.program, COMPILE]
        with (built.parent / MAKE_LOG).open("a") as log:
            subprocess.run(make, stdout=log, stderr=log, check=False)
    return program if program.exists() else None


def build_all(built: Path, tests: Iterable[Test], jobs: int) -> None:
    """The programs of many tests, a folder at a time; those that do not compile are left to `build`."""
    missing: dict[str, set[str]] = {}
    for test in tests:
        if not (built / test.folder / test.program).exists():
            missing.setdefault(test.folder, set()).add(test.program)
    for folder, programs in sorted(missing.items()):
        make = ["make", "-s", "-k", f"-j{jobs}", "-C", str(built / folder), *sorted(programs), COMPILE]
        with (built.parent / MAKE_LOG).open("a") as log:
            subprocess.run(make, stdout=log, stderr=log, check=False)


def source(cache: Path) -> Path:
    """The suite's sources, unpacked from the distribution's source package the first time."""
    where = cache / "source"
    if not (where / "unpacked").exists():
        lists, parts = cache / "apt" / "lists", cache / "apt" / "parts"
        for folder in (where, lists / "partial", parts):
            folder.mkdir(parents=True, exist_ok=True)
        source_packages(Path("/etc/apt"), parts)
        apt = ["apt-get", "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={parts}"]
        apt += ["-o", f"Dir::State::Lists={lists}"]
        _run([*apt, "update"], where, cache / "apt.log")
        _run([*apt, "source", "--download-only", "mpich"], where, cache / "apt.log")
        archive = next(iter(sorted(where.glob("mpich_*.orig.tar.*"))), None)
        if archive is None:
            raise InputError(
                f"{where} has no mpich_*.orig.tar.*; put MPICH's source archive of your distribution there"
            )
        _run(["tar", "xf", str(archive)], where, cache / "apt.log")
        (where / "unpacked").touch()
    return next(where.glob("mpich-*/test/mpi"))


def source_packages(configuration: Path, parts: Path) -> None:
    """Write the system's package sources as sources of source packages."""
    for one in [configuration / "sources.list", *sorted((configuration / "sources.list.d").glob("*"))]:
        if one.suffix == ".sources":
            lines = ["Types: deb-src" if x.startswith("Types:") else x for x in one.read_text().splitlines()]
        elif one.suffix == ".list" and one.exists():
            lines = [f"deb-src {x[4:]}" for x in one.read_text().splitlines() if x.startswith("deb ")]
        else:
            continue
        (parts / one.name).write_text("\n".join(lines) + "\n")


def _run(command: list[str], where: Path, log: Path) -> None:
    with log.open("a") as out:
        if subprocess.run(command, cwd=where, stdout=out, stderr=out, check=False).returncode:
            raise InputError(f"{Path(command[0]).name} failed for the conformance suite; see {log}")
