"""`make demo` where a demo was made before: everything is replaced, and the last line is a report to open."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("original.html", "improved.html", "comparison.html")


@pytest.mark.slow
def test_a_demo_replaces_the_one_before(openmpi: str, tmp_path: Path) -> None:
    for page in PAGES:
        (tmp_path / page).write_text("of yesterday")
    for order in ("original", "improved"):
        (tmp_path / order / "logpost_em3d_4_yesterday").mkdir(parents=True)
    done = subprocess.run([ROOT / "packaging" / "demo", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path / "original.html")
    shown = done.stdout.split("Models of the same messages")
    assert len(shown) == 3  # a strided broadcast, then EM3D
    if list((tmp_path / "strided").glob("*/machine.toml")):  # the machine was quiet enough to be measured
        assert re.search(r"\n  middleware .*[1-9].* %", shown[1]), shown[1]
        assert "log3P" in shown[2].splitlines()[1]
    assert all((tmp_path / page).stat().st_size > 10**6 for page in PAGES)
