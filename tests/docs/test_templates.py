"""What CONTRIBUTING names as the example to copy works as a copy under a new name."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from logpost.machines.schema.load import find_machine_file, load_machine_file
from logpost.replay.models.parameters import LogGPParameters
from logpost.replay.models.units import SECOND

ROOT = Path(__file__).resolve().parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


def test_a_copied_machine_is_found_and_loaded(tmp_path: Path) -> None:
    copy = tmp_path / "mine.toml"
    shutil.copyfile(ROOT / "machines/library/meiko_cs2.toml", copy)
    original = load_machine_file(find_machine_file("meiko_cs2"))
    assert load_machine_file(find_machine_file(str(copy))) == original


def test_a_copied_model_computes(tmp_path: Path) -> None:
    copy = tmp_path / "mine.py"
    shutil.copyfile(ROOT / "replay/models/loggp.py", copy)
    assert "copy `loggp.py`" in CONTRIBUTING
    found = importlib.util.spec_from_file_location("mine", copy)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    # o_s + L + (B - 1) G + o_r = 1 + 5 + 10 * 0.5 + 2
    assert module.one_message(LogGPParameters(L=5.0, o_s=1.0, o_r=2.0, g=3.0, G=0.5, unit=SECOND), 11) == pytest.approx(
        13.0
    )
