"""A drag in plotly changes the URL alone: only the page of the selection is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.browser.served import drawn, opened, served
from tests.dashboards.synthetic import make_run

pytestmark = pytest.mark.browser

COUNTED = """() => {
  window.reacted = 0;
  const plain = Plotly.react;
  Plotly.react = function (graph) {
    if (graph.isConnected && graph._fullLayout) window.reacted++;
    return plain.apply(this, arguments);
  };
}"""
"""Counts how often a chart on the page is drawn again."""


@pytest.mark.parametrize(("page", "chart"), [("/timeline", "timeline.timeline"), ("/messages", "messages.matrix")])
def test_a_chart_that_was_dragged_in_is_not_drawn_once_more(
    page: str, chart: str, chromium: Any, tmp_path: Path
) -> None:
    with served(make_run(tmp_path / "a.run").path) as address:
        seen = opened(chromium, address + page)
        seen.page.wait_for_timeout(500)
        seen.page.evaluate(COUNTED)
        area = seen.page.locator(f"figure[data-chart='{chart}'] .nsewdrag").first
        area.scroll_into_view_if_needed()
        box, mouse = area.bounding_box(), seen.page.mouse
        mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
        mouse.down()
        mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.7 * box["height"], steps=4)
        mouse.up()
        seen.page.wait_for_url("**ranks=**")
        seen.page.wait_for_selector("#selection a.part")
        drawn(seen)
        assert seen.page.evaluate("window.reacted") == 0
        assert "ranks" in parse_qs(urlsplit(seen.page.url).query)
        assert seen.console == []
        seen.page.context.close()
