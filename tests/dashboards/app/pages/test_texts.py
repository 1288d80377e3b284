"""What pages say around their charts."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.dashboards.synthetic import make_run
from tests.said import says

from logpost.analyzer.report.data import Delays
from logpost.dashboards.app import panels
from logpost.dashboards.app.content import shown_page
from logpost.dashboards.app.pages import PAGES, network, regions, whatif
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.dashboards.figures import prediction
from logpost.dashboards.figures.chart import Chart, figure
from logpost.dashboards.report.findings import finding_rows
from logpost.machines.topologies.parse import parse_topology


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """A run whose ranks outnumber the cores."""
    return Runs([make_run(tmp_path_factory.mktemp("pages") / "a.run", oversubscribed=True).path])


@pytest.mark.parametrize("page", [page for page in PAGES if page.NAME != "compare"], ids=lambda page: page.TITLE)
def test_every_page_begins_with_the_warnings(page: Any, runs: Runs) -> None:
    view = View(runs, read(f"/{page.NAME}", ""))
    assert view.report.warnings
    shown, _ = shown_page(view)
    banners = [str(part) for part in shown if getattr(part, "className", "") == "banner loud"]
    assert len(banners) >= len(view.report.warnings)
    assert "outnumber cores" in banners[0]


def test_a_card_has_the_interval_and_the_confidence(runs: Runs) -> None:
    view = View(runs, read("/", ""))
    found = replace(view.report.findings[0], gain_low=0.05, gain_high=0.25, gain=0.2)
    text = str(panels.card(finding_rows([found])[0], "/", "/")).replace("\\xa0", " ")
    assert says(text, "20.0 %", "5.0", "25.0 %")
    assert found.confidence_text.partition(" ")[0] in text.partition("Confidence: ")[2]


def test_a_curve_offers_its_tolerances_in_the_words_of_its_page(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure says what is left open; the page, what its URL is to have for it."""
    unsearched = Chart(figure(), "Length over g.", open="Search which g makes the run 1, 2, 5 and 10 % longer")
    found: Any = SimpleNamespace(sweep=[], after=None, measured_ps=1)
    replay = SimpleNamespace(predict=lambda _ask: found)
    monkeypatch.setattr(whatif, "_predicted", lambda _view: found)
    monkeypatch.setattr(whatif, "_replay", lambda _view: replay)
    monkeypatch.setattr(View, "in_background", lambda _view, _key, work: work(lambda *_: None))
    for name, made in (("machine_of", "here"), ("sweep", unsearched)):
        monkeypatch.setattr(prediction, name, lambda *_, made=made, **__: made)

    def drawn(search: str) -> Chart:
        return whatif.CHARTS["whatif.sweep"](View(runs, read("/whatif", search)))

    assert (drawn("?sweep=g").open, drawn("?sweep=g").offered) == (unsearched.open, {"search": "1"})
    for searching in ("?sweep=g&search=1", "?sweep=bisection"):
        assert (drawn(searching).open, drawn(searching).offered) == ("", {})


def test_waiting_that_no_code_explains_has_no_empty_table(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    view = View(runs, read("/regions", ""))
    delays = Delays(waits_ps=5, split_waits_ps=5, split_undivided_ps=0, unexplained_ps=5, places=())
    unexplained = replace(view.report, delays=delays)
    monkeypatch.setattr(View, "report", property(lambda _view: unexplained))
    assert regions.NO_DELAY in str(regions.layout(view))


@pytest.mark.parametrize(
    ("text", "around", "planes"),
    [("mesh:8x4", False, False), ("torus:8x4", True, False), ("torus:4x4x2", True, True), ("ring:8", True, False)],
)
def test_a_map_says_how_its_network_is_drawn(
    text: str, around: bool, planes: bool, monkeypatch: pytest.MonkeyPatch, runs: Runs
) -> None:
    monkeypatch.setattr(network, "_topology", lambda _view: parse_topology(text, "test"))
    said = network._how_drawn(View(runs, read("/network", "")))
    assert ("leads around to the other end" in said, "Planes of the third dimension" in said) == (around, planes)
