"""Where what exceeds a limit of memory is written: next to the run, or where the user says."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from logpost.analyzer.pipeline.memory_limit import default_bytes
from logpost.replay._native import Spill, is_in_memory

READERS_BYTES = 1_400_000_000
"""What a reader of a run may take where the machine has more: it is one of several things that somebody has open."""


def spill_for(run: str, memory: int | None, folder: str | None) -> Spill | None:
    """The file for what exceeds `memory` bytes (None: the default limit) while a run is made; in `folder`, if named.

    None where no limit was requested and the run's own directory is in memory: then the file would not help.
    """
    limit = memory or default_bytes()
    if folder is not None:
        return Spill(folder, limit, in_memory=True)
    parent = Path(run).absolute().parent
    if memory is None and is_in_memory(parent):
        return None
    return Spill(parent, limit, in_memory=False)


def spill_for_reading(run: Path) -> Spill | None:
    """The file for what a reader of a finished run cannot hold: next to the run, or in the system's folder for such
    files where the run's may not be written. None where both are in memory."""
    limit = min(default_bytes(), READERS_BYTES)
    for folder in (run.absolute().parent, Path(tempfile.gettempdir())):
        if os.access(folder, os.W_OK) and not is_in_memory(folder):
            return Spill(folder, limit, in_memory=False)
    return None
