"""A long replay is stopped from the page, and begins again from there."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.analyzer.in_process import analyze
from tests.browser.served import DRAWN, WORKING, served

from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.predict.whatif import Replay
from logpost.dashboards.app.pages import whatif

pytestmark = pytest.mark.browser

CHARTS = 3
"""Of what-if's page, that wait for the replay in sight of a high window."""


def test_work_is_stopped_and_begun_again_from_the_page(
    chromium: Any, traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, slow, predict = [], threading.Event(), Replay.predict
    slow.set()

    def predicted(self: Replay, *arguments: Any, **settings: Any) -> Any:
        began.append(arguments)
        while slow.is_set():
            time.sleep(0.01)
        return predict(self, *arguments, **settings)

    monkeypatch.setattr(Replay, "predict", predicted)
    run = tmp_path / "a.run"
    analyze(Request(str(traces / "pipit-ping-pong"), str(run)))
    with served(run) as at:
        context = chromium.new_context(viewport={"width": 1280, "height": 1400})
        page = context.new_page()
        page.goto(f"{at}/whatif")
        page.wait_for_selector("figcaption .working:has-text('replaying the program'):has-text('s so far')")
        page.get_by_role("button", name="Stop", exact=True).first.click()
        page.wait_for_function(
            f"() => document.querySelectorAll('figcaption .working').length === {CHARTS} && "
            "[...document.querySelectorAll('figcaption .working')].every(one => one.textContent.includes('Stopped'))"
        )
        assert len(began) == 1
        slow.clear()
        for left in reversed(range(CHARTS)):
            page.locator("figcaption button:has-text('Begin')").first.click()
            page.wait_for_function(
                f"() => [...document.querySelectorAll('figcaption button')]"
                f".filter(one => one.textContent === 'Begin').length <= {left}"
            )
        page.wait_for_function(DRAWN)
        assert len(began) >= 2
        context.close()


def test_the_price_of_a_replay_comes_with_the_page(
    chromium: Any, traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whatif, "MOST_UNASKED", 0)
    run = tmp_path / "a.run"
    analyze(Request(str(traces / "pipit-ping-pong"), str(run)))
    with served(run) as at:
        context = chromium.new_context(viewport={"width": 1280, "height": 1400})
        page = context.new_page()
        requests: list[str] = []
        page.on("request", lambda one: requests.append(one.post_data or "") if one.method == "POST" else None)
        page.goto(f"{at}/whatif")
        page.wait_for_selector("figure[data-chart='whatif.path'] figcaption :text('needs minutes')")
        page.wait_for_function(WORKING)
        assert not [one for one in requests if any(f'"{name}"' in one for name in whatif.OF_REPLAY)]
        page.locator("figure[data-chart='whatif.path'] button:has-text('Begin')").click()
        page.wait_for_selector("figure[data-chart='whatif.path'] .main-svg")
        context.close()
