"""The tasks as a graph of Dask: one of Dask's for each of ours, and one that waits for all of a step before the next.

A pairwise graph would have as many edges as blocks have pairs. Each task is a process of its own under a watchdog, as
under any other engine; one that Dask loses with a worker is begun again elsewhere by Dask itself. Dask's workers need
the archive, the folder of the run, and logpost at the same paths.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from logpost.analyzer.pipeline.shards.plan import STEPS, Plan
from logpost.analyzer.pipeline.shards.task_folder import TaskFolder
from logpost.analyzer.pipeline.shards.workers import worker_command
from logpost.errors import InputError

if TYPE_CHECKING:
    from distributed import Client, Future

    from logpost.analyzer.pipeline.shards.workers import Crew, Engine

WAIT_S = 60.0
"""How long a scheduler is waited for, and then for its first worker."""


Ended = tuple[int, str]
"""Exit status of a task, and its last line."""


def run_task(folder: str, task: str, stall_s: float, before: Ended | None) -> Ended:
    """Run a task in a process, on a worker of Dask; the process ends when that worker does.

    Arguments:
        folder: of the blocks.
        task: its name.
        stall_s: seconds without progress after which it is begun again.
        before: how the step before it ended; None: there is none.
    """
    if before is not None and before[0] != 0:
        return before
    command = [*worker_command(folder, 1, stall_s), "attached", task]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode("utf-8", "surrogateescape").splitlines()
        return process.wait(), said[-1] if said else ""


def whole_step(ended: Sequence[Ended]) -> Ended:
    """How a step ended, by all of its tasks: as one that failed, if there is one."""
    return max(ended, key=lambda one: one[0] != 0)


class _Graph:
    """The tasks in Dask, and what waits for the last step."""

    def __init__(self, client: Client, plan: Plan, stall_s: float) -> None:
        self._client = client
        self._folder = plan.folder
        graph = uuid4().hex  # Dask's dashboard groups keys by what is before such digits
        self._futures: list[Future[Ended]] = []
        step_before = None
        for step in STEPS:
            tasks = [
                client.submit(
                    run_task,
                    plan.folder,
                    f"{stage}-{block}",
                    stall_s,
                    step_before,
                    key=f"{stage}-{graph}-{block}",
                )
                for stage in step
                for block in plan.tasks(stage)
            ]
            if not tasks:
                continue
            step_before = client.submit(whole_step, tasks, key=f"whole_{step[-1]}-{graph}")
            self._futures += [*tasks, step_before]

    def ended(self, wait_s: float) -> bool:
        time.sleep(wait_s)
        return all(future.done() for future in self._futures)

    def stop(self) -> None:
        TaskFolder(self._folder).fail("stopped")  # Dask cannot interrupt what it has begun
        self._client.cancel(self._futures)

    def said(self) -> Ended:
        last = self._futures[-1]
        return last.result() if last.status == "finished" else (1, str(last.exception()))


def of_client(client: Client) -> Engine:
    """An engine that is a client of a program's own."""

    @contextmanager
    def begin(plan: Plan, stall_s: float) -> Iterator[Crew]:
        from distributed import TimeoutError as NobodyCame  # in Python 3.10 not the built-in one

        try:
            client.wait_for_workers(1, timeout=WAIT_S)
        except NobodyCame:
            address = getattr(client.scheduler, "address", "the scheduler")
            raise InputError(f"--workers dask: no worker connected to {address} in {WAIT_S:g} s") from None
        yield _Graph(client, plan, stall_s)

    return begin


def of_scheduler(address: str | None) -> Engine:
    """An engine that is the scheduler at an address, or a cluster of this machine that ends with the tasks.

    Raises:
        InputError: Dask is not installed; when it begins, also: no scheduler replies at the address.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError("--workers dask: Dask is not installed; pip install 'logpost[dask]'") from None

    @contextmanager
    def begin(plan: Plan, stall_s: float) -> Iterator[Crew]:
        with ExitStack() as stack:
            where: Any = address
            if where is None:
                width = min(plan.blocks, len(os.sched_getaffinity(0)))
                where = stack.enter_context(LocalCluster(n_workers=width, threads_per_worker=1, dashboard_address=":0"))
            try:
                client = stack.enter_context(Client(where, timeout=WAIT_S))
            except (OSError, ValueError) as error:
                raise InputError(f"--scheduler {address}: {error}") from None
            yield stack.enter_context(of_client(client)(plan, stall_s))

    return begin
