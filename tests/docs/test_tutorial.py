"""The tutorial's archives are what its commands make."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.archives import unpacked
from tests.cli.command import logpost
from tests.docs.blocks import ROOT
from tests.docs.stand_ins import EM3D

import logpost as library

COMMANDS = re.findall(r"^logpost (testbed run .*)$", (ROOT / "docs" / "tutorial.md").read_text(), re.MULTILINE)


@pytest.mark.testbed
@pytest.mark.parametrize("command", COMMANDS, ids=["original", "improved"])
def test_the_testbed_makes_the_archive_again(command: str, tmp_path: Path) -> None:
    if shutil.which("smpirun") is None:
        pytest.skip("SimGrid (libsimgrid-dev) is not installed")
    name = command.split()[command.split().index("-o") + 1]
    done = logpost(*command.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made, kept = tmp_path / name, unpacked(EM3D / f"{name}.tar.xz", tmp_path / "kept")
    runs = []
    for source, run in ((made, tmp_path / "made.run"), (kept, tmp_path / "kept.run")):
        done = logpost("analyze", source, "-o", run)
        assert done.returncode == 0, done.stderr
        runs.append(library.open_run(run))
    for table in ("calls", "messages", "collectives"):
        first, second = (getattr(run, table) for run in runs)
        assert first.equals(second), table
