"""Machines, programs and runs of the testbed's tests; all skip with a reason where SimGrid is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from logpost.machines.schema import Machine
from logpost.machines.schema.load import check_machine
from logpost.testbed import TestbedRun, run_on_testbed

PROGRAMS = Path(__file__).parent / "programs"

Run = Callable[..., TestbedRun]


@pytest.fixture(scope="session", autouse=True)
def simgrid() -> None:
    """SimGrid; its absence fails in CI and skips elsewhere."""
    if shutil.which("smpicc") is None or shutil.which("smpirun") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("SimGrid (libsimgrid-dev) is missing, and CI must have it")
        pytest.skip("SimGrid (libsimgrid-dev) is not installed")


def build_machine(topology: dict[str, Any], **changes: Any) -> Machine:
    """L 5 us, o_s 1 us, o_r 2 us, G 4 ns/B, links of 250 MB/s, hops of 0.1 us."""
    raw: dict[str, Any] = {
        "format": 1,
        "name": "toy",
        "title": "A toy",
        "date": "2026-01",
        "kind": "publication",
        "source": "TOY",
        "units": ["us", "ns/B", "MB/s", "B", "MHz"],
        "sources": {"TOY": {"kind": "paper", "text": "Toys, 2026"}},
        "clock": {"processor": 100},
        "topology": {"per_hop": 0.1, "link_bandwidth": 250, **topology},
        "loggp": {"other_node": {"L": 5, "o_s": 1, "o_r": 2, "G": 4}},
        **changes,
    }
    made, problems = check_machine(raw, "toy.toml")
    assert made is not None, problems
    return made


@pytest.fixture(scope="session")
def toy() -> Callable[..., Machine]:
    """`build_machine`."""
    return build_machine


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run programs/NAME.c: run(machine, "pingpong", ["0", "1"], ranks=2, settings={...})."""

    def start(machine: Machine | str, name: str, arguments: Sequence[object] = (), **options: Any) -> TestbedRun:
        options.setdefault("output", tmp_path)
        options.setdefault("timeout_s", 60)
        return run_on_testbed(
            machine, sources=[PROGRAMS / f"{name}.c"], arguments=[str(word) for word in arguments], **options
        )

    return start
