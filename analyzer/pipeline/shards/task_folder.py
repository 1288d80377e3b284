"""Which tasks are done, and which process runs each other one: files in a folder that all machines share.

In `tasks` next to the files of the blocks, for each task at most one of

- `STAGE-BLOCK.taken`: somebody runs it; the file holds host, process and how often it was begun, and its time is that
  of the last progress;
- `STAGE-BLOCK.done`;

and `failed`, the one line that says why all should stop. A task is taken by making its file, which only one process
can. Where two believe to have the same task nevertheless, because one of them was thought lost, both write the same
bytes, and files get their names once they are whole.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from typing import NamedTuple

from logpost.analyzer.pipeline.shards.plan import STAGES, STEPS, Plan

TRIES = 3
"""How often a task is begun that does not end."""


class Task(NamedTuple):
    """A task that this process has taken."""

    stage: str
    block: int
    tries: int
    """how often it was begun before"""

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.stage}-{self.block}"


class TaskFolder:
    """The tasks of a folder.

    Attributes:
        plan: what they are of.
    """

    def __init__(self, folder: str | os.PathLike[str], only: str | None = None) -> None:
        """`only`: the name of the one task that may be taken here; None: any may."""
        self._only = only
        self._tasks = os.path.join(folder, "tasks")
        with open(os.path.join(self._tasks, "plan.json"), encoding="utf-8") as file:
            self.plan = Plan.of_text(file.read())
        self._me = f"{os.uname().nodename} {os.getpid()}"
        self._free: list[Task] = []
        self._seen: dict[str, tuple[int, float]] = {}
        """of tasks of others: the time of their file, and since when it is known here"""

    @classmethod
    def fresh(cls, plan: Plan) -> TaskFolder:
        """Make the folder as if no task had been begun; those whose files are whole then end at once."""
        tasks = os.path.join(plan.folder, "tasks")
        shutil.rmtree(tasks, ignore_errors=True)
        os.makedirs(tasks)
        with open(os.path.join(tasks, "plan.json"), "w", encoding="utf-8") as file:
            file.write(plan.text())
        return cls(plan.folder)

    def done(self) -> dict[str, int]:
        """How many tasks of each stage are done."""
        names = [name for name in os.listdir(self._tasks) if name.endswith(".done")]
        return {stage: sum(name.startswith(f"{stage}-") for name in names) for stage in STAGES}

    def all_done(self) -> bool:
        """Whether nothing is left to do."""
        if self._only is not None:
            return os.path.exists(self._file(self._only + ".done"))
        return all(done == len(self.plan.tasks(stage)) for stage, done in self.done().items())

    def failure(self) -> str | None:
        """Why all should stop, if they should."""
        try:
            with open(self._file("failed"), encoding="utf-8", errors="surrogateescape") as file:
                return file.read() or None
        except FileNotFoundError:
            return None

    def take(self, patience_s: float) -> Task | None:
        """A task to be run now; none while others run all that can be.

        Arguments:
            patience_s: a process without progress for so long is lost.
        """
        while self._free or self._look(patience_s):
            task = self._free.pop()
            mine = self._signed(task)
            try:
                os.link(mine, self._file(task.name + ".taken"))
            except FileExistsError:
                continue
            finally:
                os.unlink(mine)
            if not os.path.exists(self._file(task.name + ".done")):
                return task
            self._free_again(task.name)  # another one took it and did it since this process looked
        return None

    def again(self, task: Task) -> Task:
        """The same task, begun once more."""
        more = task._replace(tries=task.tries + 1)
        os.replace(self._signed(more), self._file(task.name + ".taken"))
        return more

    def beat(self, task: Task) -> None:
        """Show that a task of this process makes progress."""
        with suppress(FileNotFoundError):  # another process thought this one lost
            os.utime(self._file(task.name + ".taken"))

    def finish(self, task: Task) -> None:
        """Note that the files of a task are whole."""
        os.close(os.open(self._file(task.name + ".done"), os.O_CREAT | os.O_WRONLY, 0o666))
        self._free_again(task.name)

    def fail(self, line: str) -> None:
        """Make all stop."""
        os.replace(self._written("failed", line), self._file("failed"))

    def _file(self, name: str) -> str:
        return os.path.join(self._tasks, name)

    def _signed(self, task: Task) -> str:
        return self._written(task.name, f"{self._me} {task.tries}")

    def _written(self, name: str, text: str) -> str:
        """A file of this process. It gets the name that others look for once it is whole: a process may be killed."""
        mine = self._file(f"{name}.{self._me.replace(' ', '.')}")
        with open(mine, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        return mine

    def _free_again(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._file(name + ".taken"))

    def _look(self, patience_s: float) -> bool:
        """Find tasks that no process has, or whose owner is lost."""
        names = set(os.listdir(self._tasks))
        for task in self._left(names):
            tries = self._tries_of_lost(task.name, patience_s) if task.name + ".taken" in names else 0
            if tries is not None:
                self._free.append(task._replace(tries=tries))
        # Each process begins elsewhere, so that few meet; the last of the list is taken first.
        begin = os.getpid() % max(1, len(self._free))
        self._free = (self._free[begin:] + self._free[:begin])[::-1]
        return bool(self._free)

    def _left(self, names: set[str]) -> list[Task]:
        """Tasks that are not done and whose step has begun: all of the first step with any, or the only one."""
        if self._only is not None:
            stage, block = self._only.split("-")
            return [Task(stage, int(block), 0)] if self._only + ".done" not in names else []
        every = ([Task(stage, block, 0) for stage in step for block in self.plan.tasks(stage)] for step in STEPS)
        left = ([task for task in tasks if task.name + ".done" not in names] for tasks in every)
        return next(filter(None, left), [])

    def _tries_of_lost(self, name: str, patience_s: float) -> int | None:
        """How often a task was begun whose owner is lost; it is then free. None: the owner may live."""
        file = self._file(name + ".taken")
        try:
            moved = os.stat(file).st_mtime_ns
            with open(file, encoding="utf-8") as owner:
                words = owner.read().split()
        except FileNotFoundError:
            return None  # done in the meantime
        # Of one that is not whole, as after a crash of the file system, the owner is not known.
        host, pid, tries = words if len(words) == 3 else ("", "0", "0")
        # Clocks of machines differ: what counts is how long this process has seen the same time.
        before, since = self._seen.setdefault(name, (moved, time.monotonic()))
        if before != moved:
            self._seen[name] = (moved, time.monotonic())
            return None
        here = f"{host} {pid}" == self._me
        dead = host == os.uname().nodename and not os.path.exists(f"/proc/{pid}")
        if here or not (dead or time.monotonic() - since > patience_s):
            return None
        del self._seen[name]
        self._free_again(name)
        return int(tries) + 1
