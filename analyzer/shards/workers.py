"""Who runs the tasks: processes of this machine, or steps of a Slurm job over a shared folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed

from logpost.analyzer.shards.engine import Workers
from logpost.analyzer.shards.plan import Plan
from logpost.errors import InputError

TRIES = 3
"""How often a task is begun whose process is lost."""

Command = Callable[[Plan, str, int], list[str]]


def task_command(plan: Plan, stage: str, block: int) -> list[str]:
    """The command of a task, for any machine that sees the archive, the folder and this Python."""
    return [sys.executable, "-m", "logpost.analyzer.shards.task", plan.text(), stage, str(block)]


def slurm_command(plan: Plan, stage: str, block: int) -> list[str]:
    """The same as a step of one process, anywhere in the allocation that `logpost` runs in."""
    return ["srun", "--ntasks=1", "--nodes=1", "--exclusive", "--quiet", *task_command(plan, stage, block)]


def at_once(workers: Workers) -> int:
    """How many tasks run at the same time.

    Raises:
        InputError: Slurm's `srun` is not there.
    """
    if workers is Workers.local:
        return len(os.sched_getaffinity(0))
    if shutil.which("srun") is None:
        raise InputError("--workers slurm: there is no srun on PATH; run logpost inside of an allocation of Slurm")
    tasks = os.environ.get("SLURM_NTASKS", "")
    return int(tasks) if tasks.isdigit() and int(tasks) > 0 else len(os.sched_getaffinity(0))


def run_tasks(plan: Plan, workers: Workers, done: Callable[[str, int], None] = lambda _stage, _done: None) -> None:
    """Run every stage to its end. A task whose process is lost is begun again, and its whole files are kept.

    Raises:
        InputError: a task says what is wrong, or its process was lost every time.
    """
    command = slurm_command if workers is Workers.slurm else task_command
    stopped = threading.Event()
    width = min(plan.blocks, at_once(workers))
    for stage in plan.stages:
        with ThreadPoolExecutor(max_workers=width) as pool:
            waiting = [pool.submit(_one, command, plan, stage, block, stopped) for block in range(plan.blocks)]
            try:
                for number, task in enumerate(as_completed(waiting), 1):
                    task.result()
                    done(stage, number)
            except BaseException:
                stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise


def _one(command: Command, plan: Plan, stage: str, block: int, stopped: threading.Event) -> None:
    for _ in range(TRIES):
        if stopped.is_set():
            return
        ended = subprocess.run(
            command(plan, stage, block),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="surrogateescape",
            check=False,
        )
        if ended.returncode == 0:
            return
        # srun adds lines of its own to those of its task.
        said = [line for line in ended.stderr.splitlines() if line and not line.startswith("srun:")]
        if ended.returncode == 2 and said:
            raise InputError(said[-1])
    last = said[-1] if said else "without a word"
    raise InputError(
        f"block {block} of {plan.blocks}: its worker was lost {TRIES} times while it should {stage} "
        f"(status {ended.returncode}: {last}); run the same command again: it goes on from the blocks that are whole"
    )
