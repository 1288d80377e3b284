"""Run an instrumented program under Score-P with tracing on, and find its archive.

The program has priority: what is missing is found before it starts, and its exit status is returned afterwards.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from logpost.collectors import mpi, record
from logpost.collectors.scorep import archive as archives
from logpost.collectors.scorep import installation, instrumented, variables
from logpost.errors import InputError

Say = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    """How to measure. `memory`: SCOREP_TOTAL_MEMORY as Score-P writes it; None: estimated."""

    output: Path | None = None
    memory: str | None = None
    filter_file: Path | None = None
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))


@dataclass(frozen=True)
class Measurement:
    """The result: the program's exit status, the archive if there is one, and the variables that held."""

    status: int
    archive: archives.Archive | None
    variables: list[variables.Variable]


def measure(command: Sequence[str], settings: Settings, say: Say, progress: Say) -> Measurement:
    """Run a command with Score-P's tracing on.

    Raises InputError only before the program starts. ``say`` gets what went wrong, ``progress`` the rest.
    """
    record.refuse_missing(command)
    _check_program(command, settings.environment, progress)
    chosen = _variables(command, settings)
    directory = Path(next(v.value for v in chosen if v.name == variables.DIRECTORY)).absolute()
    for variable in chosen:
        progress(f"{variable.name}={variable.value}{' (yours)' if variable.theirs else ''}")
    began = time.time()
    status, lines = _run(command, settings.environment, chosen)
    found = archives.open_archive(directory)
    if found is not None and (found.path / "traces.otf2").stat().st_mtime < began - 2:
        found = None  # of an earlier measurement in the same directory
    if found is None:
        say(f"no archive was written: {_why_none(command, status, directory, chosen, lines)}")
        return Measurement(status or record.NOTHING_RECORDED, None, chosen)
    ranks = archives.flushed_ranks(lines)
    if ranks:
        advice = archives.more_memory(archives.needed_memory(found.path))
        say(
            f"trace buffers were full and were written while the program ran, on {len(ranks)} ranks (first: rank "
            f"{ranks[0]}): times around that are Score-P's own; {advice}"
        )
    if status:
        say(f"the command ended with exit status {status}; the archive may end early")
    return Measurement(status, found, chosen)


def _check_program(command: Sequence[str], environment: dict[str, str], progress: Say) -> None:
    """Refuse a program that Score-P does not measure; of scripts and interpreters nothing is known before they run."""
    program = mpi.program_of(command)
    unknown = program is None or not mpi.is_elf(program) or mpi.is_interpreter(program)
    ready = program is not None and not unknown and instrumented.is_instrumented(program, environment)
    there = installation.find()
    if there is None and not ready:
        lacks = ", ".join(installation.missing()) or "scorep-config --version"
        raise InputError(
            f"Score-P is not usable: {lacks} {'does not answer' if not installation.missing() else 'not on PATH'}; "
            f"{installation.WAY_OUT}; logpost record without --with needs no Score-P"
        )
    if program is not None and not unknown and not ready:
        raise InputError(instrumented.how_to_relink(program))
    progress(f"measured by {there}" if there else "scorep-config is not on PATH: the program's own Score-P measures")


def _variables(command: Sequence[str], settings: Settings) -> list[variables.Variable]:
    theirs = variables.set_by_user(command, settings.environment)
    for name, option, given in (
        (variables.MEMORY, "--memory", settings.memory),
        (variables.DIRECTORY, "-o", settings.output),
        (variables.FILTER, "--filter", settings.filter_file),
    ):
        if given is not None and name in theirs:
            raise InputError(
                f"{option} {given} and {name}={theirs[name]} of your environment exclude each other; keep one"
            )
    if settings.memory is not None:
        memory = variables.bytes_of(settings.memory)
        if memory > variables.LARGEST_MEMORY:
            largest = variables.in_mib(variables.LARGEST_MEMORY)
            raise InputError(f"--memory {settings.memory} is more than Score-P takes per process: at most {largest}")
    else:
        memory = variables.estimated_memory(variables.processes_of(command), variables.available_memory())
    if settings.filter_file is not None and not settings.filter_file.is_file():
        raise InputError(
            f"--filter {settings.filter_file} is not a file; logpost scorep filter ARCHIVE -o FILE makes one"
        )
    directory = Path()
    if variables.DIRECTORY not in theirs:
        directory = _new_directory(command, settings.output or Path())
    return variables.choose(theirs, directory, memory, settings.filter_file)


def _new_directory(command: Sequence[str], output: Path) -> Path:
    """A name that is free; Score-P makes the directory itself, but no parents."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {output}: {error.strerror}; pass another directory with -o") from error
    if not os.access(output, os.W_OK):
        raise InputError(f"cannot write to {output}: no permission; pass another directory with -o")
    stem = f"scorep_{mpi.program_name(command)}_{time.strftime('%Y%m%d_%H%M%S')}"
    names = (stem if attempt == 1 else f"{stem}_{attempt}" for attempt in range(1, 1000))
    return next(place for name in names if not (place := output.resolve() / name).exists())


def _run(
    command: Sequence[str], environment: dict[str, str], chosen: Sequence[variables.Variable]
) -> tuple[int, list[str]]:
    """Run the command; its status and what Score-P said on standard error."""
    lines: list[str] = []
    ours = {variable.name: variable.value for variable in chosen if not variable.theirs}
    with _overhearing(lines) as stderr:
        status = record.run(_with_options(command, ours), {**environment, **ours}, stderr)
    return status, lines


def _with_options(command: Sequence[str], ours: dict[str, str]) -> list[str]:
    """The command with the launcher's options that carry our variables to other nodes."""
    abi = mpi.launcher_abi(command[0])
    options = [] if abi is None else record.launcher_options(abi, ours)
    return [command[0], *options, *command[1:]]


@contextmanager
def _overhearing(lines: list[str]) -> Iterator[int]:
    """A descriptor whose content is copied to standard error at once; the lines of Score-P are kept."""
    there, end = os.pipe()

    def copy() -> None:
        rest = b""
        while block := os.read(there, 1 << 16):
            sys.stderr.buffer.write(block)
            sys.stderr.buffer.flush()
            *whole, rest = (rest + block).split(b"\n")
            lines.extend(line.decode(errors="replace") for line in whole if b"Score-P" in line or b"SCOREP_" in line)

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    try:
        yield end
    finally:
        os.close(end)
        thread.join(timeout=5)  # a daemon that the program left may hold the other end for ever


def _why_none(
    command: Sequence[str],
    status: int,
    directory: Path,
    chosen: Sequence[variables.Variable],
    lines: Sequence[str],
) -> str:
    if archives.memory_exhausted(lines):
        had = variables.bytes_of(next(v.value for v in chosen if v.name == variables.MEMORY))
        return f"the memory of Score-P was exhausted, which ended the program; {archives.more_memory(4 * had)}"
    if (directory / "traces").is_dir() or (directory / "traces.otf2").exists():
        return (
            f"{directory} is incomplete: the program ended (exit status {status}) before Score-P finished its archive"
        )
    if status:
        return f"the command ended with exit status {status} before Score-P finished; see its messages above"
    if directory.is_dir():
        return f"{directory} holds no trace; its scorep.cfg shows the variables that reached the program"
    return f"the program made no measurement in {directory}: {command[0]} did not start an instrumented program there"
