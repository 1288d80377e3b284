"""Work of more than a second, done once in a thread; the page polls its progress.

Threads and not processes, because what such work makes (a program's graph) is large and is used again by what follows.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

Report = Callable[[str, int, int], None]
"""progress(phase, done, total); total 0: unknown."""

PATIENCE_S = 0.1
"""Work that ends within this needs no progress: with the browser's own time, the result or the progress is shown within
0.3 s."""

SAID_S = 2
"""From this age on, the progress of work states the work's duration."""


NICER = 10
"""By how much the work, and the threads that it starts, are nicer than the server: on a small machine the browser that
shows the page, and short callbacks, run first."""


def lower_priority() -> None:
    """Make the calling thread `NICER`."""
    if sys.platform == "linux":  # elsewhere a thread's number is none of a process
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICER)


class WorkingError(Exception):
    """The work continues; the text is its progress."""

    def __init__(self, key: Hashable, text: str) -> None:
        super().__init__(text)
        self.key = key


class StoppedError(Exception):
    """The work was stopped, or waits for leave to begin; `Jobs.again` has it start at the next request."""

    def __init__(self, key: Hashable, text: str = "Stopped.") -> None:
        super().__init__(text)
        self.key = key


class _Stop(BaseException):
    """Raised in the thread of work that was stopped; no error, which the work might handle."""


class Job:
    """One piece of work, its progress, and its result or failure."""

    def __init__(self, work: Callable[[Report], Any]) -> None:
        self.phase, self.done, self.total = "starting", 0, 0
        self.result: Any = None
        self.failure: Exception | None = None
        self.ended = threading.Event()
        self.stopped = False
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Report], Any]) -> None:
        lower_priority()
        try:
            self.result = work(self._report)
        except Exception as error:
            self.failure = error
        except _Stop:
            pass  # `result` reads `stopped`
        finally:
            self.ended.set()

    def stop(self) -> None:
        """Give the work up. Its thread ends with the native call that it is in: a replay of one set of values."""
        self.stopped = True
        if self._thread.ident is not None and not self.ended.is_set():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident), ctypes.py_object(_Stop))

    def _report(self, phase: str, done: int, total: int) -> None:
        self.phase, self.done, self.total = phase, done, total

    @property
    def text(self) -> str:
        """The progress of the work, and its duration so far."""
        seconds = int(time.monotonic() - self._began)
        far = f"{self.phase}, {self.done + 1} of {self.total}" if self.total else self.phase
        return far if seconds < SAID_S else f"{far}, {seconds} s so far"


class Jobs:
    """The latest pieces of work by key."""

    def __init__(self, most: int = 16) -> None:
        self.most = most
        self._jobs: dict[Hashable, Job] = {}
        self._allowed: set[Hashable] = set()
        self._lock = threading.Lock()

    def result(
        self,
        key: Hashable,
        work: Callable[[Report], Any],
        patience_s: float | None = PATIENCE_S,
        price: str = "",
    ) -> Any:
        """The result of the work, which is started where it is not known. Work with a price (a text about its cost)
        starts only after `again`: a user has seen the price.

        Raises:
            WorkingError: it continues after `patience_s`, if that is finite; call again.
            StoppedError: it was stopped, or has a price.
            Exception: what the work raised.
        """
        with self._lock:
            if self._priced(key, price):
                raise StoppedError(key, price)
            job = self._jobs.pop(key, None) or Job(work)
            self._jobs[key] = job
            for old in list(self._jobs)[: -self.most]:
                if self._jobs[old].ended.is_set():
                    del self._jobs[old]
        if job.stopped:
            raise StoppedError(key)
        if not job.ended.wait(patience_s):
            raise WorkingError(key, job.text)
        if job.stopped:
            raise StoppedError(key)
        if job.failure is not None:
            with self._lock:
                self._jobs.pop(key, None)
            raise job.failure
        return job.result

    def priced(self, key: Hashable, price: str) -> StoppedError | None:
        """What `result` would raise because the work has a price; nothing is begun."""
        with self._lock:
            return StoppedError(key, price) if self._priced(key, price) else None

    def _priced(self, key: Hashable, price: str) -> bool:
        return bool(price) and key not in self._jobs and key not in self._allowed

    def stop(self, key: Hashable) -> None:
        """Stop the work of this key; nothing where it has ended."""
        with self._lock:
            job = self._jobs.get(key)
        if job is not None and not job.ended.is_set():
            job.stop()

    def close(self, within_s: float = 10.0) -> bool:
        """Give all work up; whether its threads have ended within so many seconds."""
        with self._lock:
            jobs = [job for job in self._jobs.values() if not job.ended.is_set()]
        for job in jobs:
            job.stop()
        end = time.monotonic() + within_s
        return all(job.ended.wait(max(0.0, end - time.monotonic())) for job in jobs)

    def again(self, key: Hashable) -> None:
        """Have work that was stopped, or has a price, start at the next request."""
        with self._lock:
            self._allowed.add(key)
            job = self._jobs.get(key)
            if job is not None and job.stopped:
                del self._jobs[key]
