"""Two calibrations of this machine, one after the other, agree within the intervals that they state."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from logpost.machines.calibration.agreement import agree
from logpost.machines.calibration.compose import calibration
from logpost.machines.calibration.grid import DEFAULT
from logpost.machines.calibration.measure import measure
from logpost.machines.schema import Machine

from .launchers import ENVIRONMENT, require_mpi

GRID = replace(
    DEFAULT,
    sizes=(8, 64, 512, 2048, 8192, 32768, 131072),
    signature_sizes=(8,),
    bursts=(1, 2, 4, 16, 64),
    burst_sizes=(8,),
    burst_lengths=(1, 4, 16),
    depth_sizes=(8,),
    gap_sizes=(4096,),
    layout_sizes=(1024, 8192),
    strides=(16, 128),
    largest_eager=8192,
)


@pytest.mark.mpi
def test_nineteen_of_twenty_values_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher, _ = require_mpi("Open MPI")
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    found: list[Machine] = []
    for number in range(2):
        # Six rounds are the fewest whose interval needs no distribution.
        samples = measure([launcher, "-n", "2"], output=tmp_path / f"{number}.jsonl", grid=GRID, passes=6, budget_s=5.0)
        found.append(calibration(samples, name="here").machine)
    agreement = agree(*found)
    assert len(agreement.pairs) > 40
    worst = "\n".join(f"{p.name}: {p.a} and {p.b} {p.unit}" for p in agreement.differing)
    assert agreement.agreeing >= 0.95 * len(agreement.pairs), worst
