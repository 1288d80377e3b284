"""Asynchronous progress that a library profile states: the network of a simulation needs no processor."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.archives import unpacked

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.directory import Run

pytestmark = pytest.mark.slow

TUTORIAL = Path(__file__).parents[3] / "docs" / "tutorial"


@pytest.mark.parametrize("order", ["original", "improved"])
def test_a_network_that_matches_synchronous_sends_needs_no_processor(tmp_path: Path, order: str) -> None:
    unpacked(TUTORIAL / f"{order}.tar.xz", tmp_path)
    (anchor,) = tmp_path.glob("**/traces.otf2")
    run = Run.open(analyze(Request(archive=str(anchor), run=str(tmp_path / "run"))))
    machine = run.manifest.machine
    assert machine.library is not None
    assert machine.library.values["progress"] == "asynchronous"
    assert machine.asynchronous_progress
    assert machine.deficit_share < 0.01
    assert machine.residual_share < 0.02
