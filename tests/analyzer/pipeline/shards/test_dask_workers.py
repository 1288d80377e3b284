"""Shards under Dask: a cluster of this machine, a scheduler by its address, and a worker of it that is lost."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.analyzer.hanging import begun, copy_of, only_child, repair
from tests.analyzer.in_process import analyze
from tests.analyzer.run_contents import contents

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards import dask_workers
from logpost.analyzer.pipeline.shards.analyze import analyze_sharded, folder_of
from logpost.analyzer.pipeline.shards.engine import Workers
from logpost.analyzer.pipeline.shards.plan import STAGES, STEPS, Plan
from logpost.analyzer.pipeline.shards.task_folder import TaskFolder
from logpost.analyzer.pipeline.shards.workers import engine_of, run_tasks
from logpost.errors import InputError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed: pip install 'logpost[dask]'"),
]


@pytest.fixture(scope="module")
def distributed() -> Any:
    """The module: imported where it is used, not by every process that collects this file."""
    return import_module("distributed")


@pytest.fixture
def cluster(distributed: Any) -> Iterator[Any]:
    """Two workers, each a process that is begun again when it is lost."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def test_a_cluster_of_this_machine_reads_the_blocks(traces: Path, tmp_path: Path) -> None:
    request = Request(str(traces / "scorep-npb-cg-W-nocomp-8"), str(tmp_path / "a.run"), threads=1)
    run = analyze_sharded(request, 7, Workers.dask)
    assert not folder_of(request.run).exists()
    assert contents(run)[0] == contents(analyze(replace(request, run=str(tmp_path / "whole.run"))))[0]


def test_a_worker_that_dask_loses_is_made_up_for(traces: Path, tmp_path: Path, cluster: Any) -> None:
    """Killed with what it had begun, while a task hangs there."""
    archive = copy_of(traces / "pipit-ping-pong", tmp_path)
    engine = engine_of(Workers.dask, cluster.scheduler_address)
    with begun(archive, tmp_path / "blocks", stall_s=60, engine=engine) as tasks:
        worker = tasks.worker("decode-1", 0)
        status = Path(f"/proc/{worker}/status").read_text()
        repair(archive, 1)
        os.kill(int(status.split("PPid:")[1].split()[0]), signal.SIGKILL)
        tasks.ended.result(timeout=200)
    assert TaskFolder(tasks.plan.folder).all_done()


def test_dask_knows_each_task_and_what_it_needs(traces: Path, tmp_path: Path, cluster: Any) -> None:
    """While a block cannot be decoded, none is matched."""
    archive = copy_of(traces / "pipit-ping-pong", tmp_path)
    engine = engine_of(Workers.dask, cluster.scheduler_address)
    with begun(archive, tmp_path / "blocks", stall_s=60, engine=engine) as tasks:
        tasks.worker("decode-1", 0)
        known = list(cluster.scheduler.tasks.values())
        needs = {one.key.split("-")[0]: {on.key.split("-")[0] for on in one.dependencies} for one in known}
        before: set[str] = set()
        expected: dict[str, set[str]] = {}
        for step in STEPS:
            expected |= dict.fromkeys(step, before) | {f"whole_{step[-1]}": set(step)}
            before = {f"whole_{step[-1]}"}
        assert needs == expected
        numbers = {stage: len(tasks.plan.tasks(stage)) for stage in STAGES}
        groups = {one.group_key.split("-")[0]: len(one.group) for one in known}
        assert groups == dict.fromkeys(expected, 1) | numbers
        assert {one.state for one in known if one.key.startswith("match")} == {"waiting"}
        repair(archive, 1)
        os.kill(only_child(tasks.worker("decode-1", 0)), signal.SIGKILL)
        tasks.ended.result(timeout=60)
    assert [done for done in tasks.done if done[0] == "decode"] == [("decode", 1), ("decode", 2)]
    assert tasks.done[-2:] == [(STAGES[-1], 1), (STAGES[-1], 2)]


def test_a_task_that_fails_under_dask_is_one_line(tmp_path: Path, distributed: Any, cluster: Any) -> None:
    with (
        distributed.Client(cluster) as client,
        pytest.raises(InputError, match=r"nowhere: no such file or directory"),
    ):
        run_tasks(Plan(str(tmp_path / "nowhere"), str(tmp_path), 2, True, 0), dask_workers.of_client(client))


def test_a_scheduler_that_does_not_answer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_workers, "WAIT_S", 0.2)
    with pytest.raises(InputError, match=r"--scheduler tcp://127\.0\.0\.1:1: "):
        run_tasks(Plan("a", str(tmp_path), 1, True, 0), engine_of(Workers.dask, "tcp://127.0.0.1:1"))


def test_a_scheduler_without_workers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, distributed: Any
) -> None:
    monkeypatch.setattr(dask_workers, "WAIT_S", 5.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        pytest.raises(InputError, match=r"--workers dask: no worker connected to tcp://.* in 5 s"),
    ):
        run_tasks(Plan("a", str(tmp_path), 1, True, 0), engine_of(Workers.dask, cluster.scheduler_address))


def test_dask_that_is_not_installed_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"--workers dask: Dask is not installed; .*'logpost\[dask\]'"):
        engine_of(Workers.dask)
