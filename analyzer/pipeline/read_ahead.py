"""Read an archive in a thread while the table libraries are imported, which lasts as long as reading millions of
events."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from logpost.analyzer.archive import _native
from logpost.analyzer.archive._native import (
    ArchiveError,
    Progress,
    Shards,
    Trace,
    find_anchor,
    read,
    replayed_blocks,
)
from logpost.analyzer.archive.clock_mode import ClockMode
from logpost.errors import InputError
from logpost.replay._native import Parameters, ReplayedBlocks, Spill


class ReadAhead:
    """An archive being read in a separate thread; the native reader needs no interpreter lock.

    `spill` takes what has no place in memory; None: all has. `shards`: the plan of blocks that others have read.
    """

    def __init__(
        self,
        archive: str,
        threads: int = 0,
        clock: ClockMode = ClockMode.offsets,
        spill: Spill | None = None,
        shards: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.threads = threads or len(os.sched_getaffinity(0))
        self.progress = progress or Progress()
        self.spill = spill
        self._shards = _shards_of(shards) if shards is not None else None
        self._clock = _native.ClockMode[clock.value]
        executor = ThreadPoolExecutor(max_workers=1)
        self._result = executor.submit(self._read, archive)
        executor.shutdown(wait=False)

    def _read(self, archive: str) -> tuple[Path, Trace]:
        anchor = find_anchor(archive)
        return anchor, read(anchor, self.threads, self.progress, self._clock, self.spill, self._shards)

    def wait(self) -> tuple[Path, Trace]:
        """Anchor file and trace, once; this object then holds neither. Raises InputError for a damaged archive."""
        result, self._result = self._result, None  # type: ignore[assignment]
        try:
            return result.result()
        except ArchiveError as error:
            raise InputError(str(error)) from None

    def replayed(self, trace: Trace, parameters: Parameters) -> ReplayedBlocks | None:
        """What others have found of the trace's messages; None: nothing that holds. Raises InputError."""
        if self._shards is None:
            return None
        try:
            return replayed_blocks(trace, parameters, self._shards)
        except ArchiveError as error:
            raise InputError(str(error)) from None


def _shards_of(plan: str) -> Shards:
    """What others have read, by the text of their plan."""
    from logpost.analyzer.pipeline.shards.plan import Plan  # most archives are read as one, and begin sooner without
    from logpost.analyzer.pipeline.shards.task import shards_of

    return shards_of(Plan.of_text(plan))
