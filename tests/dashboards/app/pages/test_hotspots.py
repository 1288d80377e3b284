"""The page of findings: the charts next to them show every rank, and say so where a selection has some of the ranks."""

from __future__ import annotations

import time
from pathlib import Path

import polars as pl
from tests.dashboards.synthetic import make_run

from logpost.dashboards.app.jobs import WorkingError
from logpost.dashboards.app.pages import hotspots
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart


def test_charts_of_all_ranks_say_so_under_a_selection(tmp_path: Path) -> None:
    runs = Runs([make_run(tmp_path / "a.run").path])

    def said(query: str) -> int:
        return str(hotspots.layout(View(runs, read("/hotspots", query)))).count("Of all ranks, also those")

    assert said("") == 0
    assert said("?from=1000&to=2000000000") == 0
    assert said("?finding=0&ranks=0") == 2
    assert said("?path=3") == 2


def test_the_selected_finding_is_next_to_the_traffic_between_ranks(tmp_path: Path) -> None:
    runs = Runs([make_run(tmp_path / "a.run").path])
    _, detail, loads = hotspots.layout(View(runs, read("/hotspots", "?finding=0")))
    assert "Evidence" in str(detail)
    assert "hotspots.matrix" in str(detail)
    assert "hotspots.load" in str(loads)
    _, charts = hotspots.layout(View(runs, read("/hotspots", "")))
    assert all(name in str(charts) for name in ("hotspots.matrix", "hotspots.load"))


def test_a_run_without_findings_shows_its_traffic_and_says_why(tmp_path: Path) -> None:
    quiet = make_run(tmp_path / "quiet.run").path
    table = quiet / "findings.parquet"
    pl.read_parquet(table).clear().write_parquet(table)
    view = View(Runs([quiet]), read("/hotspots", ""))
    assert not view.report.findings
    said, charts = hotspots.layout(view)
    assert "No finding applies; " in str(said)
    assert all(name in str(charts) for name in ("hotspots.matrix", "hotspots.load"))
    for name in ("hotspots.matrix", "hotspots.load"):
        assert drawn(view, name).figure.data


def drawn(view: View, name: str) -> Chart:
    """The chart, once the work on it has ended, which a page polls."""
    for _ in range(600):
        try:
            return hotspots.CHARTS[name](view)
        except WorkingError:
            time.sleep(0.1)
    raise AssertionError(f"{name} is not drawn within a minute")
