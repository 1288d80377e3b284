"""Where an analysis puts what exceeds its limit of memory: next to its run, or where the user says."""

from __future__ import annotations

from pathlib import Path

from logpost.analyzer._native import Spill, lies_in_memory
from logpost.analyzer.memory_limit import default_bytes


def spill_for(run: str, memory: int | None, folder: str | None) -> Spill | None:
    """The file for what exceeds `memory` bytes (None: the default limit) while a run is made; in `folder`, if named.

    None where nobody asked for a limit and the run's own directory lies in memory: then the file would not help.
    """
    limit = memory or default_bytes()
    if folder is not None:
        return Spill(folder, limit, in_memory=True)
    beside = Path(run).absolute().parent
    if memory is None and lies_in_memory(beside):
        return None
    return Spill(beside, limit, in_memory=False)
