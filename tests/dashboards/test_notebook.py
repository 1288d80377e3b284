"""A run in a notebook: tables are frames, and figures draw without a page."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.two_phases import two_phases
from tests.analyzer.whole_machine import write_whole_machine
from tests.archives import DATA, unpacked
from tests.dashboards.synthetic import make_run

import logpost
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.units import time_text
from logpost.dashboards.figures.palette import INKS, label
from logpost.dashboards.notebook import Findings
from logpost.errors import InputError


def test_times_are_picoseconds_seconds_or_durations(tmp_path: Path) -> None:
    run = logpost.open_run(two_phases().write(tmp_path / "a.run").path)
    # Rank 0 enters its first send after 2 ms.
    first = {
        times: run.table("calls", times).filter(pl.col("location") == 0).collect().row(0, named=True)
        for times in ("ps", "s", "duration")
    }
    assert first["ps"]["enter_ps"] == 2 * 10**9
    assert first["s"]["enter_s"] == pytest.approx(0.002)
    assert first["duration"]["enter"] == timedelta(milliseconds=2)
    assert len({len(row) for row in first.values()}) == 1
    assert [name for name in first["duration"] if name.endswith("_ps")] == []


def test_tables_are_frames_and_a_selection_scopes_figures(tmp_path: Path) -> None:
    run = logpost.open_run(make_run(tmp_path / "a.run").path)
    assert isinstance(run.findings, pl.DataFrame)
    assert run.pairs["messages"].sum() == 84  # 12 iterations of 4 halos and 3 blocks
    assert {"findings", "calls"} <= set(dir(run))
    assert repr(run).endswith("a.run: 4 ranks, 84 messages>")
    with pytest.raises(AttributeError, match="has no nothing; its tables are locations"):
        _ = run.nothing
    with pytest.raises(InputError, match="has no table x; use one of locations"):
        run.table("x")
    assert len(run.plot.breakdown().data[0].y) == 4
    assert len(run.select(ranks=[1, 2]).plot.breakdown().data[0].y) == 2


@pytest.mark.parametrize(
    "name",
    [
        "categories",
        "breakdown",
        "timeline",
        "efficiencies",
        "matrix",
        "load",
        "sizes",
        "model",
        "tree",
        "critical_path",
    ],
)
def test_a_figure_draws_without_a_page(name: str, tmp_path: Path) -> None:
    run = logpost.open_run(make_run(tmp_path / "a.run").path)
    figure = getattr(run.plot, name)()
    assert figure.data
    assert figure.layout.paper_bgcolor == "white"
    if name == "timeline":
        colours = {colour for _, colour in figure.data[0].colorscale}
        assert colours == {INKS[category].light for category in SHOWN} or colours >= {"#0a2f5c"}
    if name == "tree":
        assert set(figure.data[0].marker.colors) <= {ink.light for ink in INKS.values()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("breakdown", True), ("timeline", True), ("tree", True), ("matrix", False), ("categories", False)],
)
def test_a_figure_alone_says_what_the_colours_of_categories_are(name: str, expected: bool, tmp_path: Path) -> None:
    figure = getattr(logpost.open_run(make_run(tmp_path / "a.run").path).plot, name)()
    assert bool(figure.layout.showlegend) is expected
    if not expected:
        return
    named = {trace.name for trace in figure.data if trace.name}
    assert named
    assert named <= {label(category) for category in INKS}
    if name == "tree":
        assert named == {label(category) for category in figure.data[0].meta["categories"]}
    if name == "timeline":
        values = np.asarray(figure.data[0].z, dtype=np.float64)
        assert named == {label(SHOWN[int(value)]) for value in np.unique(values[~np.isnan(values)])}


def test_lines_have_the_colours_of_the_pages(tmp_path: Path) -> None:
    figure = logpost.open_run(make_run(tmp_path / "a.run").path).plot.model()
    inks = {trace.name: trace.meta["ink"]["light"] for trace in figure.data if "ink" in (trace.meta or {})}
    assert inks
    assert {trace.name: trace.line.color for trace in figure.data if trace.name in inks} == inks


def test_links_need_a_machine_with_a_network(tmp_path: Path) -> None:
    run = logpost.open_run(make_run(tmp_path / "a.run").path)
    with pytest.raises(InputError, match=r"no traffic between nodes .* selected time"):
        run.plot.links()


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        logpost.open_run(tmp_path)


def test_top_call_sites_are_those_of_the_report(tmp_path: Path) -> None:
    run = logpost.open_run(make_run(tmp_path / "a.run").path)
    sites = run.top_call_sites(2)
    assert sites["path"].to_list() == [one.path for one in run.report().places[:2]]
    assert sites["time_s"].to_list() == [one.exposed_ps / 1e12 for one in run.report().places[:2]]
    assert sites["time_s"].is_sorted(descending=True)
    assert run.top_call_sites(10**6)["time_s"].sum() == pytest.approx(
        sum(one.exposed_ps for one in run.report().breakdown if one.category != "compute") / 1e12
    )
    longest = run.report().places[0].exposed_ps
    assert run.top_call_sites(1, "ps")["time_ps"].to_list() == [longest]
    assert run.top_call_sites(1, "duration")["time"].to_list() == [timedelta(microseconds=longest // 10**6)]
    with pytest.raises(InputError, match=r"times are no us.* duration"):
        run.top_call_sites(1, "us")


def test_findings_and_predictions_have_tables_in_which_names_are_text(tmp_path: Path) -> None:
    run = logpost.open_run(two_phases().write(tmp_path / "a.run").path)
    first, *_ = run.top_findings(1)
    hostile = Findings([replace(first, title="<script>alert(1)</script>")])._repr_html_()
    assert "<script>" not in hostile
    assert "&lt;script&gt;" in hostile
    assert first.between_text in hostile
    assert len(run.top_findings(1)) == 1


def test_a_prediction_shows_both_lengths(tmp_path: Path) -> None:
    archive = unpacked(DATA / "archives" / "pipit-ping-pong.tar.xz", tmp_path)
    machine = write_whole_machine(tmp_path)
    run = logpost.open_run(analyze(Request(str(archive), str(tmp_path / "a.run"), machine=machine)))
    same, twice = run.whatif(), run.whatif("L=x2")
    assert same.predicted_ps == same.measured_ps < twice.predicted_ps
    shown = twice._repr_html_()
    assert all(f"<td>{time_text(one)}</td>" in shown for one in (twice.measured_ps, twice.predicted_ps))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"rank": 0}, r"did you mean ranks=\[0\]\?"),
        ({"rank": [0, 3]}, r"did you mean ranks=\[0, 3\]\?"),
        ({"ranks": 2}, r"did you mean ranks=\[2\]\?"),
        ({"begin": 2}, r"select has no begin; .* begin_ps, .*did you mean begin_ps\?"),
    ],
)
def test_a_selection_by_another_name_says_what_was_meant(arguments: dict[str, Any], said: str, tmp_path: Path) -> None:
    run = logpost.open_run(make_run(tmp_path / "a.run").path)
    with pytest.raises(TypeError, match=said):
        run.select(**arguments)


def test_what_a_run_has_not_is_suggested(tmp_path: Path) -> None:
    run = logpost.open_run(make_run(tmp_path / "a.run").path)
    with pytest.raises(AttributeError, match=r"did you mean findings\?"):
        _ = run.finding
    with pytest.raises(InputError, match=r"did you mean messages\?"):
        run.table("message")


def test_sql_reads_the_tables(tmp_path: Path) -> None:
    run = logpost.open_run(make_run(tmp_path / "a.run").path)
    assert run.sql("select sum(messages) as n from pairs")["n"].to_list() == [84]
