"""Recording a program from outside, and reading the archive with otf2-print, the outside opinion."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
COMPILERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich"}


def environment(**more: str) -> dict[str, str]:
    """The environment of test programs: Open MPI may run as root and with more ranks than cores."""
    return {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        **more,
    }


@dataclass(frozen=True)
class Event:
    """One event as otf2-print shows it."""

    kind: str
    location: int
    time: int
    text: str
    attributes: str = ""

    def number(self, name: str) -> int:
        """The number after `name:`, such as Tag or Length."""
        match = re.search(rf"\b{name}: (\d+)", self.text)
        assert match is not None, f"{self.kind} has no {name}: {self.text}"
        return int(match[1])

    @property
    def region(self) -> str:
        """The region's name of an Enter or a Leave."""
        return self.text.split('"')[1]

    @property
    def comm(self) -> str:
        """The communicator as `"name" <id>`."""
        match = re.search(r'Communicator: ("[^"]*" <\d+>)', self.text)
        assert match is not None, self.text
        return match[1]

    @property
    def operation(self) -> str:
        """The collective operation."""
        match = re.search(r"Operation: (\w+)", self.text)
        assert match is not None, self.text
        return match[1]


@dataclass
class Trace:
    """An archive read by otf2-print, which must not complain."""

    path: Path
    events: list[Event] = field(default_factory=list)
    definitions: str = ""
    info: str = ""

    def on(self, location: int, *kinds: str) -> list[Event]:
        """The events of a location, of some kinds or all, in order."""
        return [e for e in self.events if e.location == location and (not kinds or e.kind in kinds)]

    def calls(self, location: int) -> list[str]:
        """The names of the MPI functions that a location called, in order."""
        return [e.region for e in self.on(location, "ENTER") if e.region.startswith("MPI_")]

    def within(self, location: int, function: str, *kinds: str) -> list[list[Event]]:
        """For each call of a function on a location: the events between its Enter and its Leave."""
        found: list[list[Event]] = []
        inside: list[Event] | None = None
        for e in self.on(location):
            if e.kind == "ENTER" and e.region == function:
                inside = []
            elif e.kind == "LEAVE" and inside is not None and e.region == function:
                found.append(inside)
                inside = None
            elif inside is not None and (not kinds or e.kind in kinds):
                inside.append(e)
        return found

    def call_sites(self, location: int) -> list[str]:
        """For each MPI call on a location: `main (halo.c:12) / exchange (halo.c:57) / MPI_Waitall`; else nothing."""
        nodes: dict[str, str] = {}
        for line in self.defined("CALLING_CONTEXT"):
            match = re.match(
                r'CALLING_CONTEXT\s+(\d+)\s+Region: "(.*)" <\d+>, '
                r'Source code location: (?:UNDEFINED|"(.*)" <\d+>), Parent: (?:UNDEFINED|".*" <(\d+)>)$',
                line.rstrip(),
            )
            assert match is not None, line
            where = f" ({match[3].rpartition('/')[2]})" if match[3] else ""
            above = f"{nodes[match[4]]} / " if match[4] else ""
            nodes[match[1]] = f"{above}{match[2]}{where}"
        found = []
        for e in self.on(location, "ENTER"):
            if e.region.startswith("MPI_"):
                match = re.search(r'"logpost:calling_context" <\d+>; CALLING_CONTEXT; ".*?" <(\d+)>', e.attributes)
                found.append(nodes[match[1]] if match else "")
        return found

    def defined(self, kind: str) -> list[str]:
        """The lines of one kind of definition."""
        return [line for line in self.definitions.splitlines() if re.match(rf"{kind}\s", line)]

    def comms_by_tag(self, kind: str) -> dict[int, set[str]]:
        """For each tag of the events of a kind, MPI_SEND or MPI_RECV: the communicators that they name."""
        found: dict[int, set[str]] = {}
        for e in self.events:
            if e.kind == kind:
                found.setdefault(e.number("Tag"), set()).add(e.comm)
        return found

    def groups(self) -> dict[str, str]:
        """The members of each group, as `0, 1, 2`, by the group's id."""
        found = {}
        for line in self.defined("GROUP"):
            match = re.match(r"GROUP\s+(\d+)", line)
            assert match is not None
            found[match[1]] = ", ".join(re.findall(r"(\d+) \(", re.split(r"Members?:", line)[-1]))
        return found

    def sides(self) -> list[tuple[str, list[str]]]:
        """Each inter-communicator: its name, and the members of both its groups, in their order."""
        groups, found = self.groups(), []
        for line in self.defined("INTER_COMM"):
            name = re.search(r'"([^"]*)"', line)
            assert name is not None, line
            two = re.findall(r'Group [AB]: "[^"]*" <(\d+)>', line)
            found.append((name[1], sorted(groups[group] for group in two)))
        return found

    def members(self, comm: str) -> list[str]:
        """For each communicator of a name: its group's members, as `0, 1, 2`."""
        groups, found = self.groups(), []
        for line in self.defined("COMM"):
            match = re.search(r'Name: "([^"]*)" <\d+>, Group: "[^"]*" <(\d+)>', line)
            if match and match[1] == comm:
                found.append(groups[match[2]])
        return found


def read(archive: Path) -> Trace:
    """Read an archive with otf2-print; any word of complaint fails."""
    anchor = archive / "traces.otf2"

    def show(*options: str) -> str:
        done = subprocess.run(["otf2-print", *options, str(anchor)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert not re.search("warning|error", done.stderr, re.IGNORECASE), done.stderr
        return done.stdout

    trace = Trace(anchor, definitions=show("-G"), info=show("-I"))
    last: dict[int, int] = {}
    for line in show().splitlines():
        match = re.match(r"([A-Z][A-Z0-9_]*)\s+(\d+)\s+(\d+)\s+(.*)$", line)
        if match:
            event = Event(match[1], int(match[2]), int(match[3]), match[4])
            assert event.time >= last.get(event.location, 0), f"time runs backwards: {line}"
            last[event.location] = event.time
            trace.events.append(event)
        elif "ADDITIONAL ATTRIBUTES" in line:
            e = trace.events[-1]
            trace.events[-1] = Event(e.kind, e.location, e.time, e.text, line.partition(":")[2].strip())
    return trace


def build(source: str, mpi: str, folder: Path, *options: str, compiler: str | None = None) -> Path:
    """Compile one of the test programs."""
    target = folder / Path(source).stem
    command = [compiler or COMPILERS[mpi], "-w", "-O1", "-o", str(target), str(PROGRAMS / source), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@dataclass(frozen=True)
class Result:
    """The results of a recording."""

    status: int
    out: str
    err: str
    folder: Path

    @property
    def archive(self) -> Path:
        """The one archive that was made."""
        found = sorted(self.folder.glob("logpost_*/traces.otf2"))
        assert len(found) == 1, f"{self.err}\n{list(self.folder.iterdir())}"
        return found[0].parent

    def read(self) -> Trace:
        """The one archive, read."""
        return read(self.archive)


def logpost(
    *words: str, env: dict[str, str] | None = None, cwd: Path | None = None, limit_s: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run `logpost` as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "logpost.cli.app", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_s,
        env=env or environment(),
        cwd=cwd,
    )


def record(
    folder: Path,
    *command: str,
    options: tuple[str, ...] = (),
    env: dict[str, str] | None = None,
    limit_s: float = 120,
) -> Result:
    """Run `logpost record -o FOLDER OPTIONS -- COMMAND`; the machine is measured only where the options say so."""
    if not {"--calibrate", "--machine"} & set(options):
        options = ("--calibrate", "none", *options)
    done = logpost("record", "-o", str(folder), *options, "--", *command, env=env, limit_s=limit_s)
    return Result(done.returncode, done.stdout, done.stderr, folder)


def run(mpi: str, folder: Path, ranks: int, program: Path, *arguments: str, options: tuple[str, ...] = ()) -> Result:
    """Record a program on so many ranks."""
    return record(folder, LAUNCHERS[mpi], "-n", str(ranks), str(program), *arguments, options=options)


def missing(mpi: str) -> str | None:
    """What this machine lacks to record with an MPI, or nothing."""
    for program in (COMPILERS[mpi], LAUNCHERS[mpi], "otf2-print"):
        if shutil.which(program) is None:
            return program
    return None
