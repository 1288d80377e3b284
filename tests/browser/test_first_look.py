"""The first HTML is shown until the page itself is complete, looks the same, and is then removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.browser.served import DRAWN, SEEN, opened, served
from tests.dashboards.synthetic import make_run

pytestmark = pytest.mark.browser

SHOWN = """(place) => [...document.querySelectorAll(place + ' :is(h1, h2, dd, .finding)')].map(one => [
  one.innerText, ...['left', 'width', 'top'].map(side => Math.round(one.getBoundingClientRect()[side]))])"""
PICTURES = """(place) => [...document.querySelectorAll(place + ' figure.chart')].map(one => [
  one.querySelector('.sketch img').naturalWidth > 100, one.getBoundingClientRect().height])"""
SHIFT_PX = 12
"""The page's own fields are not as high as those that stand for them."""
GONE = "() => !document.getElementById('first-look')"


def test_a_page_is_visible_before_its_scripts_and_does_not_move_afterwards(chromium: Any, tmp_path: Path) -> None:
    with served(make_run(tmp_path / "a.run").path, ahead=True) as address:
        first = opened(chromium, address)
        first.page.wait_for_function(DRAWN)  # now its charts are known, too
        first.page.context.close()
        page = chromium.new_context(viewport={"width": 1280, "height": 720}).new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        held: list[Any] = []
        page.route("**/dash-renderer/**", lambda route: held.append(route))
        page.goto(address, wait_until="commit")
        page.wait_for_function(SEEN)
        shown, pictures = page.evaluate(SHOWN, "#first-look"), page.evaluate(PICTURES, "#first-look")
        assert len(shown) > 5
        assert all(drawn for drawn, _ in pictures)
        focused = "one => { one.focus(); return document.activeElement === one; }"
        assert not page.locator("#first-look a").first.evaluate(focused)
        for one in held:
            one.continue_()
        page.wait_for_function(GONE)
        for (*was, top), (*now, now_top) in zip(shown, page.evaluate(SHOWN, "#page"), strict=True):
            assert now == was
            assert now_top == pytest.approx(top, abs=SHIFT_PX)
        for (drawn, high), (_, was_high) in zip(page.evaluate(PICTURES, "#page"), pictures, strict=True):
            assert drawn
            assert high == pytest.approx(was_high, abs=SHIFT_PX)
        page.wait_for_function(DRAWN)
        assert errors == []
        page.context.close()


def test_a_page_whose_scripts_fail_is_not_covered_for_ever(chromium: Any, tmp_path: Path) -> None:
    with served(make_run(tmp_path / "a.run").path, ahead=True) as address:
        first = opened(chromium, address)
        first.page.wait_for_function(DRAWN)
        first.page.context.close()
        page = chromium.new_context().new_page()
        page.clock.install()
        page.route("**/_dash-layout", lambda route: route.abort())
        page.goto(address)
        assert not page.evaluate(GONE)
        page.clock.run_for(11_000)
        page.wait_for_function(GONE)
        page.context.close()
