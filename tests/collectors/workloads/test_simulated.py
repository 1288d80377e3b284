"""On a simulated machine EM3D's hot spot is there without any noise: SimGrid SMPI, 16 hosts, twice the same time."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("smpicc") is None, reason="no SimGrid (libsimgrid-dev) here"),
]


@pytest.fixture(scope="module")
def simulated(simulate: Callable[..., list[str]]) -> list[str]:
    """The command that runs em3d on the simulated machine."""
    # Without the testbed nothing but the program charges o_r: LoGPC's 122 cycles of 50 ns.
    return [*simulate("em3d", 16), "--iterations", "1", "--receive-cycles", "122"]


def figures(command: list[str], *extra: str) -> dict[str, float]:
    done = subprocess.run([*command, *extra], capture_output=True, text=True, timeout=120, check=True)
    return {name: float(value) for name, value in re.findall(r"(\w+_s) ([\d.]+)", done.stdout)}


def test_the_hot_spot_and_its_cure(simulated: list[str], tmp_path: Path) -> None:
    original = figures(simulated, "--order", "original")
    assert figures(simulated, "--order", "original") == original
    improved = figures(simulated, "--order", "improved")
    # 1,600 edges per phase and rank in blocks of 10: at least 160 messages in each of 2 phases, o_r = 122 cycles of
    # 50 ns for each, and no rank can be done sooner.
    floor_s = 2 * 160 * 122 * 50e-9
    assert improved["exchange_s"] + improved["barrier_s"] > floor_s
    # 1,600 edges x 10 cycles x 50 ns in each of 2 phases; in-degrees vary between ranks, their mean does not.
    assert improved["compute_s"] == pytest.approx(2 * 1600 * 10 * 50e-9, rel=1e-3)
    # All start at rank 0: LoGPC saw 20 % of the run time and 70 % of the stall time go with the hot spot on 32.
    assert improved["total_s"] < 0.8 * original["total_s"]
    assert improved["stall_s"] < 0.6 * original["stall_s"]


def test_the_hot_spot_needs_a_finite_capacity(simulated: list[str]) -> None:
    # With unbounded buffers no rank stalls, whatever the order.
    unbounded = figures(simulated, "--order", "original", "--capacity", "0")
    assert unbounded["stall_s"] == 0


def test_locality_leaves_little_to_cure(simulated: list[str]) -> None:
    # Span 1: each rank has two neighbours, and the common start is no longer common.
    original = figures(simulated, "--order", "original", "--span", "1")
    wide = figures(simulated, "--order", "original", "--span", "15")
    assert original["stall_s"] < 0.5 * wide["stall_s"]
