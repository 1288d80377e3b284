"""What an experiment is given: the form to run in, a folder for what it leaves behind, and progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from logpost.experiments.framework.result import KeptRun

if TYPE_CHECKING:
    from logpost.analyzer.run.directory import Run

_T = TypeVar("_T")
_R = TypeVar("_R")


def _silent(_phase: str, _done: int, _total: int) -> None:
    """No progress."""


@dataclass
class Context:
    """How and where an experiment runs."""

    folder: Path
    """Its own, for archives and runs that people may want to open."""
    quick: bool = False
    """The form of the test suite: the same code with smaller sizes."""
    progress: Callable[[str, int, int], None] = _silent
    """Called with phase, steps done, steps in all (0: not known)."""
    jobs: int = field(default_factory=lambda: max(1, min(2, len(os.sched_getaffinity(0)))))
    """Simulations at once."""
    kept: list[KeptRun] = field(default_factory=list)

    def size(self, full: _T, quick: _T) -> _T:
        """A size of the full or the quick form."""
        return quick if self.quick else full

    def each(
        self, phase: str, items: Iterable[_T], one: Callable[[_T], _R], *, concurrent: int | None = None
    ) -> list[_R]:
        """`one(item)` of every item, in their order; `concurrent` of them at a time (default: `jobs`).

        The work is expected to be in other processes (a simulation, a compiler), so threads suffice.
        """
        given: Sequence[_T] = list(items)
        self.progress(phase, 0, len(given))
        with ThreadPoolExecutor(max_workers=concurrent or self.jobs) as pool:
            futures = [pool.submit(one, item) for item in given]
            try:
                for done, future in enumerate(as_completed(futures), start=1):
                    future.result()
                    self.progress(phase, done, len(given))
            except BaseException:
                for future in futures:
                    future.cancel()
                raise
            return [future.result() for future in futures]

    def found(
        self, phase: str, items: Iterable[_T], one: Callable[[_T], _R], *, concurrent: int | None = None
    ) -> dict[_T, _R]:
        """Each item with its `one(item)`, as `each`."""
        given = list(items)
        return dict(zip(given, self.each(phase, given, one, concurrent=concurrent), strict=True))

    def analyze(self, archive: Path, machine: str | None, name: str) -> Run:
        """The run of an archive, split under a machine (None: estimated from the trace); kept as `name`.run."""
        from logpost.analyzer.pipeline.request import Request
        from logpost.analyzer.pipeline.supervise import analyze
        from logpost.analyzer.run.directory import Run

        place = self.folder / f"{name}.run"
        self.folder.mkdir(parents=True, exist_ok=True)
        analyze(Request(str(archive), str(place), machine, 0, True))
        self.kept.append(KeptRun(name, str(place)))
        return Run.open(place)
