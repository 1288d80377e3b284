"""No report contradicts itself, whatever the archive: records in any order, and definitions that make no sense."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.contradictions import Said, contradictions
from tests.rewritten import PROGRAM

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError

SEEDS = (22, 35, 50, 52, 74, 150, 160, 164, 166, 177, 220, 223, 320, 3080, *range(1000, 1020))
"""The first ones made reports that contradicted themselves."""


def _contradictions(seed: int, folder: Path) -> list[str] | None:
    """Of the archive of a seed, every other one under the values of a machine file; None: it was refused."""
    subprocess.run([PROGRAM.with_name("archive_fuzz"), "write", folder / "archive", str(seed)], check=True)
    anchor = next((folder / "archive").glob("*.otf2"))
    try:
        machine = "alewife" if seed % 2 else None
        run = Run.open(analyze(Request(str(anchor), str(folder / "run"), machine=machine), held=False))
    except InputError:
        return None
    return contradictions(Said(run, build(run)))


@pytest.mark.slow
def test_reports_of_odd_archives_hold_against_their_tables(tmp_path: Path) -> None:
    found: dict[int, list[str]] = {}
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        lines = _contradictions(seed, folder)
        if lines is not None:
            found[seed] = lines
        shutil.rmtree(folder)
    assert len(found) > len(SEEDS) / 2, "most are analyzed"
    assert not any(found.values()), found
