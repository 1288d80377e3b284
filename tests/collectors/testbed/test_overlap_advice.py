"""`logpost whatif --overlap` against a simulated truth: the program is run again as advised."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif.overlap import overlap_advice
from logpost.analyzer.run.directory import Run
from logpost.testbed import run_on_testbed

MACHINE = Path(__file__).parents[2] / "benchmarks" / "network_programs" / "cluster.toml"
VOLUME = 1 << 18


def simulated(size: int, burst: int, folder: Path) -> Run:
    """Two-sided template C of OVL: init a burst, then for each piece sync and compute."""
    folder.mkdir()
    words = ("--mechanism", "two-sided", "--pattern", "C", "--volume", VOLUME, "--work", 4, "--repeat", 3)
    archive = run_on_testbed(
        MACHINE,
        workload="overlap",
        arguments=[*map(str, words), "--size", str(size), "--burst", str(burst)],
        ranks=4,
        settings={"topology": "crossbar:4"},
        output=folder,
    ).archive
    return Run.open(analyze(Request(str(archive / "traces.otf2"), f"{folder}.run")))


def test_the_program_gains_what_the_advice_says(tmp_path: Path) -> None:
    whole = simulated(VOLUME, 1, tmp_path / "whole")
    (advice,) = overlap_advice(whole)
    assert advice.pieces > 1
    parted = simulated(round(advice.size), advice.burst, tmp_path / "parted")
    gain = 1 - parted.manifest.clock.length_ps / whole.manifest.clock.length_ps
    assert advice.gain[0] - 0.01 <= gain <= advice.gain[1]
    assert gain == pytest.approx(advice.gain[0], abs=0.02)
