"""The engines that run the tasks: a worker on this machine, or workers of another engine over a shared folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from logpost.analyzer.pipeline.shards.engine import STALL_S, Workers
from logpost.analyzer.pipeline.shards.plan import STAGES, Plan
from logpost.analyzer.pipeline.shards.task_folder import TRIES, TaskFolder
from logpost.errors import InputError

LOOK_S = 0.05
"""Time between two looks at what is done."""

OnDone = Callable[[str, int], None]


def worker_command(folder: str, concurrent: int, stall_s: float = STALL_S) -> list[str]:
    """The command of a worker, for any machine that sees the archive, the folder of the blocks and this Python."""
    return [
        sys.executable,
        "-m",
        "logpost.analyzer.pipeline.shards.take_tasks",
        folder,
        str(concurrent),
        f"{stall_s:g}",
    ]


def local_command(plan: Plan, stall_s: float) -> list[str]:
    """One worker, with a task for each processor; it ends when this process does."""
    return [*worker_command(plan.folder, min(plan.blocks, len(os.sched_getaffinity(0))), stall_s), "attached"]


def slurm_command(plan: Plan, stall_s: float) -> list[str]:
    """A worker for each task of the allocation that `logpost` runs in, and a task for each of its processors.

    Raises:
        InputError: Slurm's `srun` is not there.
    """
    if shutil.which("srun") is None:
        raise InputError("--workers slurm: there is no srun on PATH; run logpost inside of an allocation of Slurm")
    tasks, processors = (_number(name) for name in ("SLURM_NTASKS", "SLURM_CPUS_PER_TASK"))
    number = [f"--ntasks={min(tasks, plan.blocks)}"] if tasks else []
    # From 22.05 on a step no longer takes the processors of its allocation without request.
    each = [f"--cpus-per-task={processors}"] if processors else []
    # A worker that is lost is no reason to end the others.
    alone = ["--kill-on-bad-exit=0", "--input=none", "--quiet"]
    return ["srun", *number, *each, *alone, *worker_command(plan.folder, processors or 1, stall_s)]


def _number(name: str) -> int:
    """A count that Slurm has put into the environment; 0: it has not."""
    given = os.environ.get(name, "")
    return int(given) if given.isdigit() else 0


class Crew(Protocol):
    """Workers that have been begun."""

    def ended(self, wait_s: float) -> bool:
        """Wait at most so long; whether all have ended."""

    def stop(self) -> None:
        """End them before their time."""

    def said(self) -> tuple[int, str]:
        """Of those that have ended: an exit status, not 0 if there is one, and a last line."""


Engine = Callable[[Plan, float], AbstractContextManager[Crew]]
"""Begins workers for a plan, which wait so many seconds for a task without progress, and clears up behind them."""


class _Process:
    """Workers that end with one process of this machine."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log

    def ended(self, wait_s: float) -> bool:
        try:
            self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self) -> None:
        self._process.terminate()

    def said(self) -> tuple[int, str]:
        said = self._log.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        lines = [line for line in said if line and not line.startswith(("srun:", "slurmstepd:"))]
        return self._process.returncode, lines[-1] if lines else ""


def processes(command_of: Callable[[Plan, float], list[str]]) -> Engine:
    """An engine that is a command."""

    @contextmanager
    def begin(plan: Plan, stall_s: float) -> Iterator[Crew]:
        command = command_of(plan, stall_s)
        log = Path(plan.folder) / "tasks" / "workers.log"
        with (
            log.open("wb") as errors,
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors) as process,
        ):
            yield _Process(process, log)

    return begin


def engine_of(workers: Workers, scheduler: str | None = None) -> Engine:
    """The engine that an option names; `scheduler`: address of Dask's, else a cluster of this machine.

    Raises:
        InputError: Dask is not installed.
    """
    if workers is Workers.dask:
        from logpost.analyzer.pipeline.shards.dask_workers import of_scheduler

        return of_scheduler(scheduler)
    return processes(slurm_command if workers is Workers.slurm else local_command)


def run_tasks(
    plan: Plan, engine: Engine | Workers, done: OnDone = lambda _stage, _done: None, stall_s: float = STALL_S
) -> None:
    """Run every stage to its end; whole files are kept.

    A task whose process is lost, or without progress for `stall_s` seconds, is begun again.

    Raises:
        InputError: a task says what is wrong, or it or its workers were lost every time.
    """
    begin = engine_of(engine) if isinstance(engine, Workers) else engine
    folder = TaskFolder.fresh(plan)
    seen = _ReportedProgress(folder, done)
    for _ in range(TRIES):
        with begin(plan, stall_s) as crew:
            try:
                while not crew.ended(LOOK_S):
                    seen.look()
            except BaseException:
                crew.stop()
                raise
            status, said = crew.said()
        seen.look()
        failed = folder.failure()
        if failed is not None:
            raise InputError(failed)
        if folder.all_done():
            return
    raise InputError(
        f"{plan.archive}: the workers were lost {TRIES} times (status {status}: {said or 'without a word'}); "
        "run the same command again: it continues from the blocks that are whole"
    )


class _ReportedProgress:
    """What is done, reported once each."""

    def __init__(self, folder: TaskFolder, done: OnDone) -> None:
        self._folder = folder
        self._done = done
        self._reported = dict.fromkeys(STAGES, 0)

    def look(self) -> None:
        for stage, number in self._folder.done().items():
            for further in range(self._reported[stage] + 1, number + 1):
                self._done(stage, further)
            self._reported[stage] = max(number, self._reported[stage])
