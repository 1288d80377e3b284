"""`logpost scale` against a simulated truth: a wave through two numbers of ranks predicts the time of a third one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.scale import scale
from logpost.analyzer.predict.scale.observed import observed
from logpost.analyzer.run.directory import Run
from logpost.testbed import run_on_testbed

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "network_programs"


def simulated(ranks: int, folder: Path) -> Run:
    folder.mkdir()
    archive = run_on_testbed(
        PROGRAMS / "cluster.toml",
        sources=[PROGRAMS / "traffic.c"],
        arguments=("pipeline", "2048", "5", "20"),
        ranks=ranks,
        settings={"topology": f"crossbar:{ranks}"},
        output=folder,
    ).archive
    return Run.open(analyze(Request(str(archive / "traces.otf2"), f"{folder}.run")))


def test_a_wave_on_more_ranks_is_predicted(tmp_path: Path) -> None:
    runs = {ranks: simulated(ranks, tmp_path / str(ranks)) for ranks in (6, 12, 32)}
    found = scale([runs[6], runs[12]], 32)
    times = observed(runs[32], []).times
    truth = sum(time.mean for time in times.values())
    assert found.pattern == "messages to neighbours on a chain of 12 ranks"
    assert found.total[-1].mean == pytest.approx(truth, rel=0.02)
    assert found.categories[0].name == max(times, key=lambda name: times[name].mean)
