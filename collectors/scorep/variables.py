"""The measurement variables of Score-P: what record sets, and what the user has set, which wins.

Names, meanings and defaults: Score-P 8.4's `scorep-info config-vars --full`; docs/scorep.md has them as a table.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from logpost.errors import InputError

MEMORY, DIRECTORY, FILTER = "SCOREP_TOTAL_MEMORY", "SCOREP_EXPERIMENT_DIRECTORY", "SCOREP_FILTERING_FILE"
TRACING, PROFILING = "SCOREP_ENABLE_TRACING", "SCOREP_ENABLE_PROFILING"

DEFAULT_MEMORY = 16000 * 1024
"""Score-P's own default of SCOREP_TOTAL_MEMORY, in bytes per process."""
LARGEST_MEMORY = 4095 * 1024 * 1024
"""The largest whole MiB that Score-P accepts: 4 GiB minus one page (8 KiB)."""
_SHARE = 0.25  # of the free memory: the rest is the program's
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Variable:
    """A variable of a measurement. `theirs`: the user has set it, so record leaves it."""

    name: str
    value: str
    theirs: bool = False


def set_by_user(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of Score-P that the environment or the launcher's own options (-x, -genv, -env) set."""
    found = {name: value for name, value in environment.items() if name.startswith("SCOREP_")}
    for place, word in enumerate(command[:-1]):
        name, equals, value = command[place + 1].partition("=")
        if not name.startswith("SCOREP_"):
            continue
        if word == "-x" and equals:
            found[name] = value
        elif word in ("-genv", "-env") and place + 2 < len(command):
            found[name] = command[place + 2]
    return {name: value for name, value in found.items() if name != DIRECTORY or value}


def choose(theirs: Mapping[str, str], directory: Path, memory: int, filter_file: Path | None) -> list[Variable]:
    """The variables of a measurement in the order in which they are shown.

    Raises InputError where the user's settings and a trace exclude one another.
    """
    if TRACING in theirs and not _is_true(theirs[TRACING]):
        raise InputError(
            f"{TRACING}={theirs[TRACING]} is set, so Score-P would write no trace; unset it, or set it to true"
        )
    ours = {TRACING: "true", PROFILING: "false", MEMORY: in_mib(memory), DIRECTORY: str(directory)}
    if filter_file is not None:
        ours[FILTER] = str(filter_file.resolve())
    names = [*ours, *(name for name in sorted(theirs) if name not in ours)]
    return [Variable(name, theirs.get(name, ours.get(name, "")), name in theirs) for name in names]


def estimated_memory(processes: int, available: int) -> int:
    """SCOREP_TOTAL_MEMORY in bytes for a program of unknown events: a quarter of the free memory, divided by processes.

    Score-P touches only the pages that it fills. At least its own default, at most what it accepts.
    """
    return min(max(int(available * _SHARE) // max(processes, 1), DEFAULT_MEMORY), LARGEST_MEMORY)


def processes_of(command: Sequence[str]) -> int:
    """How many processes a launcher starts: its -n, or one per core."""
    for place, word in enumerate(command[:-1]):
        if word in ("-n", "-np", "--np", "-c") and command[place + 1].isdigit():
            return int(command[place + 1])
    return len(os.sched_getaffinity(0))


def available_memory() -> int:
    """The memory of this node that is free, in bytes; 0 where the system does not say."""
    try:
        match = re.search(r"^MemAvailable:\s+(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(match[1]) * 1024 if match else 0


def bytes_of(text: str) -> int:
    """A size as Score-P writes it, in bytes: 16000k, 100M, 1 Gb. Raises InputError for anything else."""
    match = re.fullmatch(r"\s*(\d+)\s*([KMGT]?)B?\s*", text, re.IGNORECASE)
    if match is None:
        raise InputError(f"{text!r} is no size; write it as Score-P does: 500M or 2G, per process")
    return int(match[1]) * _UNITS[match[2].upper()]


def in_mib(size: int) -> str:
    """A size in whole MiB, rounded up, as SCOREP_TOTAL_MEMORY takes it."""
    return f"{-(-size // (1 << 20))}M"


def _is_true(value: str) -> bool:
    return value.lower() in ("true", "yes", "on") or (value.isdigit() and int(value) > 0)
