"""A run in a notebook: tables are frames, and figures draw without a page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.dashboards.synthetic import make_run

import logpost
from logpost.analyzer.run.undivided import SHOWN
from logpost.dashboards.figures.palette import INKS, label
from logpost.errors import InputError


def test_tables_are_frames_and_a_selection_scopes_figures(tmp_path: Path) -> None:
    run = logpost.open_run(make_run(tmp_path / "a.run").path)
    assert isinstance(run.findings, pl.DataFrame)
    assert run.pairs["messages"].sum() == 84  # 12 iterations of 4 halos and 3 blocks
    assert {"findings", "calls"} <= set(dir(run))
    assert repr(run).endswith("a.run: 4 ranks, 84 messages>")
    with pytest.raises(AttributeError, match="a run has no nothing; its tables are locations"):
        _ = run.nothing
    with pytest.raises(InputError, match="a run has no table x; use one of locations"):
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
    with pytest.raises(InputError, match="no traffic between nodes in the selected time"):
        run.plot.links()


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        logpost.open_run(tmp_path)
