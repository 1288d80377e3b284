"""Charts in the cache arrive with their page: the browser does not request them, and draws them like requested ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.browser.served import DRAWN, go, opened, served
from tests.dashboards.synthetic import make_run

pytestmark = pytest.mark.browser

DRAWN_AS = """() => [...document.querySelectorAll('#page figure.chart')].map(one => [
  one.dataset.chart, one.querySelectorAll('.main-svg .point, .main-svg .trace, .main-svg .hm, .main-svg .slice').length,
  one.querySelector('.switch input:checked')?.nextSibling?.textContent, one.querySelector('figcaption').innerText,
  getComputedStyle(one.querySelector('.main-svg')).backgroundColor,
])"""


def test_a_page_that_was_seen_brings_its_charts(chromium: Any, tmp_path: Path) -> None:
    with served(make_run(tmp_path / "a.run").path) as address:
        seen = opened(chromium, address)
        requests: list[str] = []
        seen.page.on("request", lambda one: requests.append(one.post_data or "") if one.method == "POST" else None)

        def charts(title: str) -> list[list[Any]]:
            requests.clear()
            go(seen, title)
            return list(seen.page.evaluate(DRAWN_AS))

        def payloads() -> int:
            return sum('"payload"' in one.partition('"inputs"')[0] for one in requests)

        first = {title: charts(title) for title in ("Regions", "Messages")}
        assert payloads() >= 3
        again = {title: (charts(title), payloads()) for title in first}
        assert again == {title: (drawn, 0) for title, drawn in first.items()}
        # They follow the theme and their switch as all others.
        chart = seen.page.locator("figure[data-chart='messages.matrix']")
        for press, of, what in (
            (seen.page.locator("#theme-button"), ".ytick text", "getComputedStyle(one).fill"),
            (chart.locator(".switch label").nth(1), ".cbtitle", "one.textContent"),
        ):
            before = chart.locator(of).first.evaluate(f"one => {what}")
            press.click()
            now = f"document.querySelector(`figure[data-chart='messages.matrix'] {of}`)"
            seen.page.wait_for_function(f"() => (one => one && {what} !== {before!r})({now})")
        assert seen.console == []
        seen.page.context.close()


def test_fields_and_buttons_that_come_with_a_page_ask_for_nothing(chromium: Any, tmp_path: Path) -> None:
    runs = [make_run(tmp_path / name).path for name in ("a.run", "b.run")]
    with served(*runs) as address:
        seen = opened(chromium, address)
        requests: list[dict[str, Any]] = []
        seen.page.on("request", lambda one: requests.append(one.post_data_json) if one.method == "POST" else None)
        for title in ("What if", "Compare", "Network", "What if"):
            go(seen, title)
        outputs = [str(one["output"]) for one in requests]
        assert sum('"payload"' in str(one) or "payload" in one for one in outputs) >= 3
        causes = {str(change) for one in requests for change in one["changedPropIds"]}
        assert not [one for one in outputs if "wanted" in one or one.startswith("url.search")]
        assert not [one for one in causes if "pressed" in one]
        # A mapping that is none of the Network page's stays until somebody picks another one there.
        requests.clear()
        seen.page.goto(f"{address}/network?mapping=best")
        seen.page.wait_for_function(DRAWN)
        seen.page.wait_for_selector("#network-mapping")
        assert not [one for one in requests if "wanted" in str(one["output"])]
        seen.page.locator("#network-mapping").get_by_text("cyclic").click()
        seen.page.wait_for_url("**mapping=cyclic**")
        go(seen, "What if")
        # A value that a user enters is requested once.
        requests.clear()
        seen.page.locator("#also").fill("other_node.L=5us")
        seen.page.locator("#also").press("Enter")
        seen.page.wait_for_url("**set=other_node.L**")
        assert sum("wanted" in str(one["output"]) for one in requests) == 1
        assert seen.console == []
        seen.page.context.close()
