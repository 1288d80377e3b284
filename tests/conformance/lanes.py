"""Several tests at a time, each lane a process: most of a short test is waiting for its ranks to start and to end.

What passes in company passes. What does not is run again alone, with its whole time, before anything is said of it.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from tests.conformance.bounded import PR_SET_PDEATHSIG

HURRY_S = 20.0
"""What a test gets in company on an idle machine, and never more than alone: one that hangs does not hold a lane up."""
MOST = 4.0

Task = TypeVar("Task")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Task], Result], tasks: Sequence[Task], lanes: int) -> Iterator[tuple[Task, Result]]:
    """The tasks with their results, as they are done. Lanes are forked: what is imported here is so there."""
    context = multiprocessing.get_context("fork")
    with context.Pool(lanes, _lane, (os.getpid(),)) as pool:
        for number, result in pool.imap_unordered(_Numbered(work), list(enumerate(tasks))):
            yield tasks[number], result


class _Numbered(Generic[Task, Result]):
    """Keeps which task a result is of."""

    def __init__(self, work: Callable[[Task], Result]) -> None:
        self.work = work

    def __call__(self, task: tuple[int, Task]) -> tuple[int, Result]:
        return task[0], self.work(task[1])


def _lane(parent: int) -> None:
    """A lane ends with the process that started it, and with it what it runs.

    At once, not by what Python does with the signal: one that arrived just before the lane waited for its next task
    would not wake it.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def load_factor() -> float:
    """The factor by which a test is slower where more processes want to run than there are cores; 1 on an idle machine.

    Not beyond `MOST`: a test that hangs would hold the run up for a quarter of an hour. `--patience` gives more.
    """
    return min(MOST, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))
