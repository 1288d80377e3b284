"""Lines of a source file that a trace names, where the file is on this machine.

A trace is foreign data: the path may name anything. Only a regular file is read that ends as source files of
compiled languages do, after symbolic links too, so that no trace can have a key or a mail box shown; nothing of
/proc, /dev or /sys; at most `LARGEST` bytes; and what is read is text to show, never markup.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from logpost.dashboards.figures.labels import visible

LARGEST = 4_000_000
"""Bytes of a file: a generated source of 100,000 lines fits."""
SUFFIXES = frozenset(
    [
        *(".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".cuh", ".hip", ".h", ".hh", ".hpp", ".hxx", ".ipp"),
        *(".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".jl", ".py", ".pyx", ".rs", ".chpl"),
    ]
)
_NOWHERE = ("/proc", "/dev", "/sys")
LONGEST = 200
"""Characters of a line that are shown."""


@dataclass(frozen=True)
class Source:
    """Lines around a call site, or why there are none."""

    first: int = 0
    """Number of the first of `lines`."""
    lines: tuple[str, ...] = ()
    why_not: str = ""
    """A sentence; empty where there are lines."""
    changed: bool = False
    """Whether the file is newer than the run, so that the lines may have moved."""


def source_lines(file: str, line: int, around: int = 3, run_made: float | None = None) -> Source:
    """The line and those around it.

    Args:
        file: absolute path as the trace says.
        line: from 1 on.
        around: lines before and after.
        run_made: when the run was written; seconds since 1970.
    """
    shown = visible(file, 120)
    try:
        if not os.path.isabs(file):
            return Source(why_not=f"The trace names {shown} without its directory.")
        path = Path(file).resolve()
        if path.suffix.lower() not in SUFFIXES or any(path.is_relative_to(place) for place in _NOWHERE):
            return Source(why_not=f"{shown} is not read: its name is not that of a source file.")
        text, modified = _read(path)
    except (OSError, ValueError, RuntimeError):
        # A null byte, or a loop of symbolic links.
        return Source(why_not=f"{shown} is not on this machine, or cannot be read here.")
    if text is None:
        return Source(why_not=f"{shown} is no regular file of at most {LARGEST // 10**6} MB.")
    every = text.splitlines()
    if not 1 <= line <= len(every):
        return Source(why_not=f"{shown} has no line {line}: it is not the file that was compiled.")
    first = max(1, line - around)
    lines = tuple(visible(one.expandtabs(4), LONGEST) for one in every[first - 1 : line + around])
    return Source(first, lines, changed=run_made is not None and modified > run_made)


def _read(path: Path) -> tuple[str | None, float]:
    """Text and time of change; no text of what is no regular file or too large. A pipe does not block."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST:
            return None, 0.0
        with os.fdopen(handle, "rb", closefd=False) as stream:
            return stream.read(LARGEST).decode("utf-8", errors="replace"), found.st_mtime
    finally:
        os.close(handle)
