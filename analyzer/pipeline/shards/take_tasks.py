"""A worker: takes tasks from a shared folder until all are done, each in a separate forked process.

    python -m logpost.analyzer.pipeline.shards.take_tasks FOLDER CONCURRENT STALL_S [attached [TASK]]

Python and the reader are loaded once, however many tasks there are; a fork costs a millisecond. A task that crashes
ends no other task, and one that makes no progress for STALL_S seconds is killed; it is then begun again, `TRIES`
times at most. Any number of workers on any number of machines may do this at once, and may join and leave
(`task_folder.py`). An `attached` worker ends when its standard input does: with the process that began it. One with a
TASK (`decode-3`) runs that one alone.

Exit status 0 when all tasks are done, 2 with one line on standard error when they cannot be.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time

from logpost.analyzer.archive._native import Progress
from logpost.analyzer.pipeline.shards.plan import UNCOUNTED, Plan
from logpost.analyzer.pipeline.shards.task import problem
from logpost.analyzer.pipeline.shards.task_folder import TRIES, Task, TaskFolder

BEAT_S = 0.5
"""Time between two looks at a task's progress."""
IDLE_CPU_S = 0.005
"""Processor time between two looks of a task that only waits, at most: a look costs 0.1 ms of it."""
IDLE_S = (0.005, 0.5)
"""Time between two looks at the folder while others run all that is left: the first, and the longest."""
UNKILLABLE_S = 5.0
"""A killed process that stays so long hangs in the system, and is left there."""
LOST = "run the same command again: it continues from the blocks that are whole"


class _Running:
    """A task in its process."""

    def __init__(self, plan: Plan, task: Task) -> None:
        self.task = task
        self.said = b""
        self.silent_s = 0.0
        parent = os.getpid()
        self.says, send = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _child(plan, task, send, parent)
        os.close(send)

    def hear(self) -> bool:
        """Take what the process says, which is progress. False: it has ended."""
        data = os.read(self.says, 1 << 16)
        self.said += data.lstrip(b".")
        self.silent_s = 0.0
        return bool(data)

    def end(self) -> int | None:
        """The exit status; None: it hangs in the system."""
        os.close(self.says)
        until = time.monotonic() + UNKILLABLE_S
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > until:
                return None
            time.sleep(0.001)

    def kill(self) -> None:
        """Stop it, whatever it does."""
        os.kill(self.pid, signal.SIGKILL)


def _child(plan: Plan, task: Task, send: int, parent: int) -> None:
    """Run a task in the forked process, and end it. A dot on the pipe is progress, the rest one line."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    progress = Progress()

    def beat() -> None:
        before, used_s = -1, 0.0
        while True:
            time.sleep(BEAT_S)
            if os.getppid() != parent:
                os._exit(1)
            works = task.stage in UNCOUNTED and time.process_time() - used_s > IDLE_CPU_S
            if works or progress.events != before:
                before, used_s = progress.events, time.process_time()
                os.write(send, b".")

    status = 1
    try:
        threading.Thread(target=beat, daemon=True).start()
        said = problem(plan, task.stage, task.block, progress)
        status = 0 if said is None else 2
        os.write(send, (said or "").encode("utf-8", "surrogateescape"))
    finally:
        os._exit(status)


class Worker:
    """Takes tasks and watches over them.

    Arguments:
        folder: of the blocks.
        concurrent: how many tasks run at the same time.
        stall_s: seconds without progress after which a task is begun again.
        attached: end when the standard input does.
        only: the name of the task that it runs; None: any.
    """

    def __init__(self, folder: str, concurrent: int, stall_s: float, *, attached: bool, only: str | None) -> None:
        self._folder = TaskFolder(folder, only)
        self._concurrent = concurrent
        self._stall_s = stall_s
        self._attached = attached
        self._running: dict[int, _Running] = {}
        self._looked = time.monotonic()

    def work(self) -> str | None:
        """Run tasks until none is left; one line where that cannot be."""
        try:
            failed = None
            idle_s = IDLE_S[0]
            while failed is None:
                failed = self._folder.failure() or self._begin()
                if failed is None and not self._running:
                    if self._folder.all_done():
                        return None
                    self._wait(idle_s)
                    idle_s = min(2 * idle_s, IDLE_S[1])
                elif failed is None:
                    idle_s = IDLE_S[0]
                    failed = self._watch()
            return failed
        finally:
            for running in self._running.values():
                running.kill()

    def _begin(self) -> str | None:
        while len(self._running) < self._concurrent:
            # Twice: a worker that lives has killed its task by then, and begun it again.
            task = self._folder.take(2 * self._stall_s)
            if task is None:
                break
            if task.tries >= TRIES:
                return self._give_up(task, f"its worker was lost {TRIES} times while it should {task.stage}")
            self._run(task)
        return None

    def _run(self, task: Task) -> None:
        if not self._running:
            self._looked = time.monotonic()
        running = _Running(self._folder.plan, task)
        self._running[running.says] = running

    def _wait(self, seconds: float) -> list[int]:
        """Descriptors of tasks that say something."""
        ready, _, _ = select.select([*self._running, *([0] if self._attached else [])], [], [], seconds)
        if 0 in ready:
            raise SystemExit(1)  # no line will follow: it was closed
        return ready

    def _watch(self) -> str | None:
        for says in self._wait(BEAT_S):
            running = self._running[says]
            if running.hear():
                self._folder.beat(running.task)
            else:
                failed = self._ended(self._running.pop(says))
                if failed is not None:
                    return failed
        before, self._looked = self._looked, time.monotonic()
        for says, running in list(self._running.items()):
            # A longer time between two looks is one in which this process was stopped itself.
            running.silent_s += min(self._looked - before, 2 * BEAT_S)
            if running.silent_s > self._stall_s:
                running.kill()
                del self._running[says]
                running.end()
                failed = self._again(
                    running.task, f"made no progress for {self._stall_s:g} s, {TRIES} times, while it should", ""
                )
                if failed is not None:
                    return failed
        return None

    def _ended(self, running: _Running) -> str | None:
        status = running.end()
        if status == 0:
            self._folder.finish(running.task)
            return None
        said = running.said.decode("utf-8", "surrogateescape")
        if status == 2 and said:
            self._folder.fail(said)
            return said
        return self._again(running.task, f"was lost {TRIES} times while it should", f" (status {status})")

    def _again(self, task: Task, what: str, why: str) -> str | None:
        if task.tries + 1 >= TRIES:
            return self._give_up(task, f"its worker {what} {task.stage}{why}")
        self._run(self._folder.again(task))
        return None

    def _give_up(self, task: Task, what: str) -> str:
        line = f"block {task.block} of {self._folder.plan.blocks}: {what}; {LOST}"
        self._folder.fail(line)
        return line


def _terminated(_signal: int, _frame: object) -> None:
    raise SystemExit(1)


def main(arguments: list[str]) -> int:
    """Take tasks; the exit status."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback
    signal.signal(signal.SIGTERM, _terminated)
    folder, concurrent, stall_s, *more = arguments
    attached, only = bool(more), more[1] if len(more) > 1 else None
    try:
        said = Worker(folder, int(concurrent), float(stall_s), attached=attached, only=only).work()
    except OSError as error:
        said = f"{error.filename or folder}: {error.strerror}; {LOST}"
    if said is not None:
        print(said, file=sys.stderr)
    return 0 if said is None else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
