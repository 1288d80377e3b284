"""Processes that a process of this node started, and theirs: what must not outlive it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def signal_all(processes: Mapping[int, str], number: signal.Signals) -> None:
    """Send a signal to processes, as `descendants` found them, that have not ended since."""
    for pid in alive(processes):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def alive(processes: Mapping[int, str]) -> list[int]:
    """Those of them that have not ended; another process may have the number of one that has."""
    return [pid for pid, started in processes.items() if _parent_and_start(pid)[1] == started]


def descendants(pid: int) -> dict[int, str]:
    """Processes of this node that a process started, and theirs, with their start; none where there is no /proc."""
    family = {pid: _parent_and_start(pid)[1]}
    others = {int(name): _parent_and_start(int(name)) for name in _names(Path("/proc")) if name.isdecimal()}
    while found := {p: start for p, (parent, start) in others.items() if parent in family and p not in family}:
        family |= found
    del family[pid]
    return family


def _names(folder: Path) -> list[str]:
    return os.listdir(folder) if folder.is_dir() else []


def _parent_and_start(pid: int) -> tuple[int, str]:
    """Parent and start time (clock ticks since boot) of a process; 0 and nothing when it has ended."""
    try:
        # pid (name) state parent …; the name may hold blanks and brackets, and the start is the 22nd of all.
        after_name = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0, ""
    return (0, "") if after_name[0] == "Z" else (int(after_name[1]), after_name[19])
