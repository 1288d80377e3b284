"""What a measurement left: whether the archive is whole, and the memory that a next measurement needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from logpost.collectors.scorep.variables import LARGEST_MEMORY, MEMORY, in_mib

_PER_LOCATION = 2 << 20  # "at least 2MB available for each intended location": Score-P's own message when memory ends
_MARGIN = 1.25  # for chunks that are not full and for definitions
_RANK = (1 << 32) - 1  # Score-P's ids of locations: the rank in the low half, the number of its thread in the high half
_FLUSHED = re.compile(r"\[Score-P\] Trace buffer flush on rank (-?\d+)")
_EXHAUSTED = re.compile(r"Out of memory\. Please increase SCOREP_TOTAL_MEMORY")


@dataclass(frozen=True)
class Archive:
    """A whole archive of Score-P."""

    path: Path
    locations: int
    bytes: int
    """Size of the events of all locations."""


def open_archive(directory: Path) -> Archive | None:
    """The archive in an experiment directory, or None when its anchor, definitions or events are missing.

    Score-P writes the anchor last.
    """
    events = sorted((directory / "traces").glob("*.evt"))
    if not (directory / "traces.otf2").is_file() or not (directory / "traces.def").is_file() or not events:
        return None
    return Archive(directory, len(events), sum(file.stat().st_size for file in events))


def memory_exhausted(lines: Sequence[str]) -> bool:
    """Whether Score-P said that its memory ended, which aborts the program."""
    return any(_EXHAUSTED.search(line) for line in lines)


def flushed_ranks(lines: Sequence[str]) -> list[int]:
    """The ranks whose trace buffers were written out while the program ran, by what Score-P said."""
    return sorted({int(match[1]) for line in lines if (match := _FLUSHED.search(line))})


def needed_memory(directory: Path) -> int:
    """SCOREP_TOTAL_MEMORY in bytes that holds every event of the largest process of an archive."""
    processes: dict[int, list[int]] = {}
    for file in (directory / "traces").glob("*.evt"):
        if file.stem.isdigit():
            processes.setdefault(int(file.stem) & _RANK, []).append(file.stat().st_size)
    return max((memory_for(sum(sizes), len(sizes)) for sizes in processes.values()), default=0)


def memory_for(event_bytes: int, locations: int) -> int:
    """SCOREP_TOTAL_MEMORY in bytes for a process with so many bytes of events on so many locations."""
    return int((event_bytes + locations * _PER_LOCATION) * _MARGIN)


def more_memory(needed: int) -> str:
    """The advice of a value that suffices, or of a filter where no value does."""
    if needed > LARGEST_MEMORY:
        return (
            f"{in_mib(needed)} per process exceed the {in_mib(LARGEST_MEMORY)} that Score-P takes: filter functions "
            "(logpost scorep filter)"
        )
    return f"set {MEMORY}={in_mib(needed)} (record --memory {in_mib(needed)})"
