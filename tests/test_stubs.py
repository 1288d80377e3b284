"""The committed stubs of the extension modules are what stubgen makes of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("folder", ["analyzer", "replay"])
def test_stub_is_current(folder: str, tmp_path: Path) -> None:
    made = tmp_path / "made.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", f"logpost.{folder}._native", "-o", str(made)], check=True
    )
    assert (ROOT / folder / "_native.pyi").read_text() == made.read_text(), (
        "run: python -m nanobind.stubgen (CONTRIBUTING)"
    )
