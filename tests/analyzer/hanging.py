"""Tasks of shards that hang, for tests that lose their processes: an archive on a file system that does not answer."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards.engine import Workers
from logpost.analyzer.pipeline.shards.plan import Plan, make_plan
from logpost.analyzer.pipeline.shards.workers import Engine, run_tasks


@contextmanager
def unreadable(archive: Path, location: int) -> Iterator[None]:
    """Opening the location's events hangs, as on a file system that does not respond."""
    file = archive / "traces" / f"{location}.evt"
    file.rename(archive / "kept")
    os.mkfifo(file)
    try:
        yield
    finally:
        repair(archive, location)


def repair(archive: Path, location: int) -> None:
    """The events can be read from now on."""
    if (archive / "kept").exists():
        (archive / "kept").rename(archive / "traces" / f"{location}.evt")


def only_child(pid: int) -> int:
    """The process that a process of one thread has begun, once it is the only one."""
    for _ in range(2000):
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if len(found) == 1:
            return int(found[0])
        time.sleep(0.005)
    raise AssertionError("not one child")


def copy_of(archive: Path, folder: Path) -> Path:
    """An archive that a test may change."""
    return Path(shutil.copytree(archive, folder / "archive"))


@dataclass(frozen=True)
class Begun:
    """Tasks of the two blocks of an archive, run by workers of this machine in a thread."""

    plan: Plan
    done: list[tuple[str, int]]
    ended: Future[None]

    def worker(self, task: str, tries: int) -> int:
        """The process of the worker that has begun a task so often before, and is done with the first block."""
        folder = Path(self.plan.folder) / "tasks"
        file = folder / f"{task}.taken"
        for _ in range(12_000):
            found = file.read_text().split() if file.exists() and (folder / "decode-0.done").exists() else []
            if len(found) == 3 and int(found[2]) == tries:
                return int(found[1])
            time.sleep(0.005)
        raise AssertionError(f"{task} was not begun {tries} times")


@contextmanager
def begun(archive: Path, folder: Path, stall_s: float, engine: Engine | Workers = Workers.local) -> Iterator[Begun]:
    """Begin the tasks of two blocks while the second location cannot be read."""
    folder.mkdir(exist_ok=True)
    plan = make_plan(Request(str(archive), ""), folder, 2)
    done: list[tuple[str, int]] = []
    with ThreadPoolExecutor(1) as pool, unreadable(archive, 1):
        yield Begun(plan, done, pool.submit(run_tasks, plan, engine, lambda *task: done.append(task), stall_s=stall_s))
