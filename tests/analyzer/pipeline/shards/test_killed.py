"""Processes of a sharded analysis are killed at random instants: no byte changes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.run_contents import contents

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.shards.engine import Workers
from logpost.analyzer.pipeline.shards.plan import Plan, make_plan
from logpost.analyzer.pipeline.shards.workers import run_tasks
from logpost.errors import InputError

pytestmark = pytest.mark.slow

ARCHIVE = "scorep-npb-cg-W-nocomp-8"
BLOCKS = 7
OF_TASKS = 50
"""Kills of workers and tasks."""
IN_A_ROW = 4
"""of them while the same tasks run to their end"""
OF_ALL = 2
"""Likewise of any process of the command, which lasts longer: it imports, reads and looks for findings."""


def descendants(pid: int) -> list[int]:
    """A process's children, theirs, and so on."""
    found: list[int] = []
    with suppress(OSError):
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, file.read_text().split()):
                found += [child, *descendants(child)]
    return found


def with_descendants(process: subprocess.Popen[bytes]) -> list[int]:
    """A process and its descendants, while it lives."""
    return [process.pid, *descendants(process.pid)] if process.poll() is None else []


def kill_one(processes: Callable[[], list[int]], seed: int, within_s: float) -> bool:
    """Kill one of some processes at a random instant; False: none was left by then."""
    choose = random.Random(seed)
    instant = time.monotonic() + choose.uniform(0, within_s)
    while time.monotonic() < instant:
        time.sleep(0.001)
    alive = processes()
    if not alive:
        return False
    with suppress(ProcessLookupError):
        os.kill(choose.choice(alive), signal.SIGKILL)
    return True


def files_of(plan: Plan) -> dict[str, bytes]:
    """What the tasks finished, by name. The command removes what has another name when it begins, and at its end."""
    return {file.name: file.read_bytes() for file in Path(plan.folder).glob("*-*") if "." not in file.name}


def run_to_end(plan: Plan) -> None:
    """As a user does: the command once more, where a task was lost too often."""
    for _ in range(OF_TASKS):
        with suppress(InputError):
            run_tasks(plan, Workers.local)
            return
    raise AssertionError("lost each time")


def test_workers_and_tasks_killed_at_random_instants_change_no_byte(traces: Path, tmp_path: Path) -> None:
    def plan_in(name: str) -> Plan:
        (tmp_path / name).mkdir()
        return make_plan(Request(str(traces / ARCHIVE), ""), tmp_path / name, BLOCKS)

    undisturbed = plan_in("undisturbed")
    began = time.monotonic()
    run_tasks(undisturbed, Workers.local)
    lasted = time.monotonic() - began
    expected = files_of(undisturbed)
    assert len([name for name in expected if name.startswith("split-")]) == BLOCKS
    own = set(descendants(os.getpid()))
    killed = 0
    with ThreadPoolExecutor(1) as pool:
        for seed in range(0, OF_TASKS, IN_A_ROW):
            plan = plan_in(str(seed))
            ended: Future[None] = pool.submit(run_to_end, plan)
            for kill in range(seed, seed + IN_A_ROW):
                killed += kill_one(
                    lambda: [one for one in descendants(os.getpid()) if one not in own], kill, lasted / IN_A_ROW
                )
            ended.result(timeout=120)
            assert files_of(plan) == expected, f"seed {seed}"
    assert killed >= OF_TASKS // 4  # the others ended sooner: the machine is faster than it was


def test_any_process_of_the_command_killed_at_a_random_instant_changes_no_byte(traces: Path, tmp_path: Path) -> None:
    request = Request(str(traces / ARCHIVE), str(tmp_path / "whole.run"), threads=1)
    whole = contents(analyze(request))[0]
    run = replace(request, run=str(tmp_path / "a.run")).run
    command = [sys.executable, "-m", "logpost.cli.app", "analyze", request.archive, "-o", run, "--quiet", "--force"]
    began = time.monotonic()
    subprocess.run([*command, "--shards", "3"], check=True)
    lasted = time.monotonic() - began
    for seed in range(OF_ALL):
        with subprocess.Popen([*command, "--shards", "3"], stderr=subprocess.DEVNULL) as process:
            kill_one(partial(with_descendants, process), seed, lasted)
        subprocess.run([*command, "--shards", "3"], check=True)
        assert contents(Path(run))[0] == whole, f"seed {seed}"
