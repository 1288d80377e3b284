"""For how long ranks were ready to run without a core: two ranks on one core, which read the same count themselves."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from tests.collectors import recording

STATED = r"^Property name\s+LOGPOST::RUN_QUEUE_(\S+)\nProperty value\s+(\d+)$"


def test_two_ranks_on_one_core_wait_for_it_by_turns(mpi: str, tmp_path: Path) -> None:
    if not Path("/proc/thread-self/schedstat").exists():
        pytest.skip("this kernel does not count it")
    program = recording.build("two_turns.c", mpi, tmp_path)
    rank = ("-n", "1", "taskset", "-c", str(min(os.sched_getaffinity(0))), str(program))
    options = ("--bind-to", "none") if mpi == "openmpi" else ()
    result = recording.record(tmp_path, recording.LAUNCHERS[mpi], *options, *rank, ":", *rank)
    assert result.status == 0, result.err
    found = {name: int(value) for name, value in re.findall(STATED, result.read().info, re.MULTILINE)}
    queued = sum(map(int, re.findall(r"queued (\d+) ns", result.out)))
    assert 0.3 < found["NS"] / found["OF_NS"] < 1.0  # half of the time; more where other load uses the core, too
    # The ranks wait for the core between their own readings, but for a slice at either end.
    assert found["NS"] == pytest.approx(queued, rel=0.25)
    assert found["NS"] >= queued
