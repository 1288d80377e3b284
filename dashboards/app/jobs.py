"""Work that takes over a second: done once in a thread while the page asks how far it is.

Threads and not processes, because what such work makes (a program's graph) is large and is used again by what follows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

Report = Callable[[str, int, int], None]
"""progress(phase, done, total); total 0: unknown."""

PATIENCE_S = 0.1
"""What ends within this needs no progress: with what the browser takes besides, an answer, be it how far the work is,
comes within 0.3 s."""


class WorkingError(Exception):
    """The work goes on; the text says how far it is."""


class Job:
    """One piece of work, its progress, and its result or failure."""

    def __init__(self, work: Callable[[Report], Any]) -> None:
        self.phase, self.done, self.total = "starting", 0, 0
        self.result: Any = None
        self.failure: Exception | None = None
        self.ended = threading.Event()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[Report], Any]) -> None:
        try:
            self.result = work(self._report)
        except Exception as error:
            self.failure = error
        finally:
            self.ended.set()

    def _report(self, phase: str, done: int, total: int) -> None:
        self.phase, self.done, self.total = phase, done, total

    @property
    def text(self) -> str:
        """How far it is."""
        return f"{self.phase}, {self.done + 1} of {self.total}" if self.total else self.phase


class Jobs:
    """The latest pieces of work by key."""

    def __init__(self, most: int = 16) -> None:
        self.most = most
        self._jobs: dict[Hashable, Job] = {}
        self._lock = threading.Lock()

    def result(self, key: Hashable, work: Callable[[Report], Any], patience_s: float | None = PATIENCE_S) -> Any:
        """The result of the work, which is started where it is not known.

        Raises:
            WorkingError: it goes on after `patience_s`, if there is an end to patience; ask again.
            Exception: what the work raised.
        """
        with self._lock:
            job = self._jobs.pop(key, None) or Job(work)
            self._jobs[key] = job
            for old in list(self._jobs)[: -self.most]:
                if self._jobs[old].ended.is_set():
                    del self._jobs[old]
        if not job.ended.wait(patience_s):
            raise WorkingError(job.text)
        if job.failure is not None:
            with self._lock:
                self._jobs.pop(key, None)
            raise job.failure
        return job.result
