"""Workers as Dask's tasks: one on each of its workers, which takes as many of ours at once as that has threads.

A worker that Dask loses is begun again elsewhere by Dask itself, and its tasks are free for the others as under any
other engine. Dask's workers need the archive, the folder of the run, and logpost at the same paths.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from logpost.analyzer.pipeline.shards.plan import Plan
from logpost.analyzer.pipeline.shards.task_folder import TaskFolder
from logpost.analyzer.pipeline.shards.workers import worker_command
from logpost.errors import InputError

if TYPE_CHECKING:
    from distributed import Client, Future

    from logpost.analyzer.pipeline.shards.workers import Crew, Engine

WAIT_S = 60.0
"""How long a scheduler is waited for, and then for its first worker."""


def work(folder: str, concurrent: int, stall_s: float) -> tuple[int, str]:
    """Run a worker, on a worker of Dask; its exit status and what it said. It ends when Dask's does."""
    command = [*worker_command(folder, concurrent, stall_s), "attached"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode("utf-8", "surrogateescape").splitlines()
        return process.wait(), said[-1] if said else ""


class _Futures:
    """Workers that Dask runs."""

    def __init__(self, client: Client, folder: str, futures: list[Future[tuple[int, str]]]) -> None:
        self._client = client
        self._folder = folder
        self._futures = futures

    def ended(self, wait_s: float) -> bool:
        time.sleep(wait_s)
        return all(future.done() for future in self._futures)

    def stop(self) -> None:
        TaskFolder(self._folder).fail("stopped")  # Dask cannot interrupt what it has begun
        self._client.cancel(self._futures)

    def said(self) -> tuple[int, str]:
        ended = [
            future.result() if future.status == "finished" else (1, str(future.exception())) for future in self._futures
        ]
        return max(ended, key=lambda one: one[0] != 0)


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
        options: dict[str, Any] = {"pure": False, "allow_other_workers": True}
        futures = [
            client.submit(work, plan.folder, min(threads, plan.blocks), stall_s, workers=[address], **options)
            for address, threads in client.nthreads().items()
        ]
        yield _Futures(client, plan.folder, futures)

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
                where = stack.enter_context(LocalCluster(n_workers=width, threads_per_worker=1, dashboard_address=None))
            try:
                client = stack.enter_context(Client(where, timeout=WAIT_S))
            except (OSError, ValueError) as error:
                raise InputError(f"--scheduler {address}: {error}") from None
            yield stack.enter_context(of_client(client)(plan, stall_s))

    return begin
