"""A machine file is written whole and checked, or not at all."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from tests.machines.calibration.virtual import Virtual

from logpost.collectors.calibration.simulated import Truth
from logpost.errors import InputError
from logpost.machines import Machine
from logpost.machines.calibration.compose import calibration
from logpost.machines.schema.load import load_machine
from logpost.machines.schema.save import save_machine


@cache
def measured() -> Machine:
    """Made when the first test needs it: every process of the suite imports this file."""
    return calibration(Virtual(Truth(L=5e-6, o_s=1e-6, o_r=1.5e-6, g=2e-6, G=1e-9)).samples(), name="m").machine


def test_what_is_written_reads_back_as_the_machine(tmp_path: Path) -> None:
    save_machine(measured(), tmp_path / "m.toml")
    assert load_machine(tmp_path / "m.toml") == measured()
    assert os.listdir(tmp_path) == ["m.toml"]


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.toml")
    with pytest.raises(InputError, match=r"m\.toml cannot be written: .* regular file; .* -o"):
        save_machine(measured(), tmp_path / "m.toml")
