"""The experiments' page in a real browser: it draws offline in both themes, and requests nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.browser.visit import Visit

from logpost.dashboards.figures.bars import Part, stacked
from logpost.dashboards.figures.curves import INKS, Axis, Curve, curves
from logpost.dashboards.report.experiments import (
    ClaimRow,
    Comparison,
    ExperimentsPage,
    Plot,
    Section,
    write_experiments,
)

pytestmark = pytest.mark.browser


def page(tmp_path: Path) -> Path:
    """Two charts, a table, a claim; names with markup in them."""
    lines = curves(
        [
            Curve(
                "<b>testbed</b>", [1, 2, 4], [1.0, 1.5, 4.0], "testbed", 1, low=[0.9, 1.4, 3.0], high=[1.1, 1.6, 5.0]
            ),
            Curve("formula", [1, 2, 4], [1.0, 1.4, 3.0], "formula", 1),
            Curve("paper", [4], [3.5], "paper", 1),
        ],
        Axis("size (B)", log=True),
        Axis("time (cycles)"),
        "It rises.",
    )
    bars = stacked(["LogP", "LoPC"], [Part("free", [316, 316], 6), Part("C_r", [0, 137], 0)], "cycles", "Two bars.")
    section = Section(
        name="story",
        title="A <i>story</i>",
        paper="LOGPC",
        paper_title="LoGPC",
        where="Table 4",
        summary="It rises.",
        claims=(ClaimRow("it falls", "−70 %", "−65 %", False, "does not hold"),),
        plots=(Plot("story-0", "Lines", lines), Plot("story-1", "Bars", bars)),
        grids=(
            Comparison(
                title="Cost",
                headings=(("what", ""), ("LogP", "formula, alewife")),
                rows=((("sync", ""), ("316 cycles", "−35 %")),),
                numeric=frozenset({1}),
            ),
        ),
    )
    path = tmp_path / "experiments.html"
    write_experiments(ExperimentsPage(command="c", quick=False, host=("h",), sections=(section,)), path)
    return path


def test_it_draws_offline_and_requests_nothing(visit: Callable[..., Visit], tmp_path: Path) -> None:
    seen = visit(page(tmp_path))
    assert seen.drawn() == "drawn"
    assert [url for url in seen.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert not seen.console
    assert not seen.dialogs
    assert seen.page.locator(".plot .main-svg").count() > 0
    assert "<b>testbed</b>" in seen.page.locator('[data-chart="story-0"] .legend').text_content()


def test_lines_take_the_ink_of_the_theme(visit: Callable[..., Visit], tmp_path: Path) -> None:
    light, dark = INKS[1]
    for theme, ink in (("light", light), ("dark", dark)):
        seen = visit(page(tmp_path), color_scheme=theme)
        assert seen.drawn() == "drawn"
        drawn = seen.page.eval_on_selector('[data-chart="story-0"]', "plot => plot.data.map(t => t.line.color)")
        assert drawn == [ink] * 3
