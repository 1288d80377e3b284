"""Read an archive in a thread while the table libraries are imported, which lasts as long as reading millions of
events."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from logpost.analyzer.archive import _native
from logpost.analyzer.archive._native import (
    ArchiveError,
    Progress,
    Trace,
    find_anchor,
    found_causes,
    read,
    replayed_blocks,
)
from logpost.analyzer.archive.clock_mode import ClockMode
from logpost.errors import InputError
from logpost.replay._native import Causes, ReplayedBlocks, Spill

if TYPE_CHECKING:
    from logpost.analyzer.archive._native import Shards
    from logpost.analyzer.machine.choose import ChosenMachine
    from logpost.analyzer.pipeline.shards.plan import Plan
    from logpost.analyzer.pipeline.tables.parts import WrittenParts


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
        self._plan: Plan | None = None
        self._shards: Shards | None = None
        if shards is not None:
            from logpost.analyzer.pipeline.shards.plan import Plan  # most archives are read as one: begin sooner
            from logpost.analyzer.pipeline.shards.task import shards_of

            self._plan = Plan.of_text(shards)
            self._shards = shards_of(self._plan)
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
        with _readable():
            return result.result()

    def chosen(self) -> ChosenMachine | None:
        """The machine that others have chosen for the trace; None: none has. Raises InputError."""
        if self._plan is None or not self._plan.machine:
            return None
        from logpost.analyzer.pipeline.shards.choose import chosen_by_task

        with _readable():
            return chosen_by_task(self._plan)

    def written(self) -> WrittenParts | None:
        """The parts of tables that others have written; None: none has. Raises InputError."""
        if self._plan is None or self._shards is None or not self._plan.machine:
            return None
        from logpost.analyzer.pipeline.tables.parts import WrittenParts

        with _readable():
            return WrittenParts.of(self._shards, self._plan.blocks)

    def causes(self, trace: Trace) -> Causes | None:
        """What others have found of the causes of the trace's waits; None: nothing. Raises InputError."""
        if self._plan is None or self._shards is None or not self._plan.machine:
            return None
        with _readable():
            return found_causes(trace, self._shards)

    def replayed(self, trace: Trace) -> ReplayedBlocks | None:
        """What others have found of the trace's messages; None: nothing. Raises InputError."""
        if self._plan is None or self._shards is None or not self._plan.machine:
            return None
        with _readable():
            return replayed_blocks(trace, self._shards)


@contextmanager
def _readable() -> Iterator[None]:
    """An archive, or a file of its blocks, that cannot be read is an error of the user's input."""
    try:
        yield
    except ArchiveError as error:
        raise InputError(str(error)) from None
