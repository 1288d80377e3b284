"""The dashboard in a browser: time until the first page is complete, time of every interaction, and bytes per figure.

The bars are for a run of 10^7 messages: 2 s, 0.3 s, and 2 MB. `--events N` sets how large the ring exchange is (44
events and 3 messages a step; 147,000,000 events are 10^7 messages). The best of several rounds counts: what others do
on the machine can only add. An interaction begins when the browser has the event of the mouse: before a
click, the driver waits until its target no longer moves (30 to 60 ms).

Work of over a second reports its progress; its duration is in the table of figures. Replays of a whole program of this
size start only after a user has seen their price. They are measured last, and their memory is listed apart from that
of all else.

The first page, in a browser with an empty cache, is complete when plotly is loaded and has drawn its charts.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.browser.conftest import ARGUMENTS
from tests.browser.served import DRAWN, WORKING, served

from logpost.analyzer.pipeline.memory_limit import peak_bytes
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.supervise import analyze
from logpost.analyzer.run.directory import Run
from logpost.dashboards.app.jobs import StoppedError, WorkingError
from logpost.dashboards.app.pages import PAGES
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.errors import InputError

ROUNDS = 3
FIRST_S, INTERACTION_S, MOST_BYTES = 2.0, 0.3, 2_000_000
MOST_MEMORY = 1.5e9
"""Bytes of the server, with the driver of the browser, after all pages and figures."""
FIRST = "first page"
QUIET_S = 0.1
SETTLED = f"""async () => {{
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  await frame();
  return ({WORKING})();
}}"""
HALO = Path(__file__).resolve().parents[2] / "build" / "dev" / "benchmarks" / "halo_archive"


def main(options: Sequence[str] = ()) -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="dashboard")
    parser.add_argument("--events", type=int, default=147_000_000)
    parser.add_argument("--locations", type=int, default=32)
    parser.add_argument("--run", type=Path, help="a run that is there already")
    chosen = parser.parse_args(list(options))
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        print("not measured: no Chromium here")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        run = chosen.run or _run(Path(folder), chosen.events, chosen.locations)
        print(f"{Run.open(run).manifest.messages:,} messages on {Run.open(run).manifest.ranks} ranks")
        runs = Runs([run])
        missed, priced = _figures(runs)
        missed += _browser(run, program)
        peak = peak_bytes()
        print(f"{'memory of the server':24} {peak / 1e6:7.0f} MB   bar {MOST_MEMORY / 1e6:.0f}", flush=True)
        missed += peak > MOST_MEMORY
        if priced:
            missed += _figures(runs, priced)[0]
            print(f"{'with priced replays':24} {peak_bytes() / 1e6:7.0f} MB")
    return 1 if missed else 0


def _run(folder: Path, events: int, locations: int) -> Path:
    command = [str(HALO), str(folder / "halo"), str(locations), str(events)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    archive = next((folder / "halo").glob("*.otf2"))
    return analyze(Request(str(archive), str(folder / "halo.run")), lambda _phase, _done, _total: None)


def _figures(runs: Runs, chosen: Sequence[str] = ()) -> tuple[int, list[str]]:
    """Bytes and processor time of each figure, made by the server: how many missed the bar, and the names of those that
    have a price, which are made where they are `chosen`, without the others."""
    missed, priced = 0, []
    for page in PAGES:
        for name, make in page.CHARTS.items():
            if chosen and name not in chosen:
                continue
            view = View(runs, read(f"/{page.NAME}", ""))
            started = time.process_time()
            try:
                size = len(json.dumps(_made(make, view, pay=bool(chosen))))
            except InputError:
                continue
            except StoppedError:
                priced.append(name)
                continue
            missed += size > MOST_BYTES
            print(f"{name:24} {size / 1e6:6.2f} MB   bar 2   {time.process_time() - started:6.2f} s of the processor")
    return missed, priced


def _made(make: Any, view: View, *, pay: bool) -> Any:
    while True:
        try:
            return make(view).payload()
        except WorkingError:
            continue
        except StoppedError as stopped:  # it has a price
            if not pay:
                raise
            view.runs.jobs.again(stopped.key)


def _browser(run: Path, program: str) -> int:
    from playwright.sync_api import sync_playwright

    with served(run) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=ARGUMENTS)
        times: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            page = _opened(browser)
            for name, took in _visit(page, address):
                times.setdefault(name, []).append(took)
            page.context.close()
        browser.close()
    for _ in range(ROUNDS):  # a server each: work that is requested there runs for long
        with served(run) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, headless=True, args=ARGUMENTS)
            page = _opened(browser)
            page.goto(address)
            page.wait_for_function(DRAWN)
            for name, took in _pages(page, ["whatif"]):
                times.setdefault(name, []).append(took)
            browser.close()
    missed = 0
    for name, several in times.items():
        took, bar = min(several), FIRST_S if name == FIRST else INTERACTION_S
        missed += took > bar
        print(f"{name:24} {took * 1e3:7.0f} ms   bar {bar * 1e3:.0f}")
    return missed


def _visit(page: Any, address: str) -> list[tuple[str, float]]:
    """Name and seconds of each step."""
    found = []
    started = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_function(DRAWN)
    found.append((FIRST, time.perf_counter() - started))
    found += _pages(page, [one.NAME for one in PAGES[1:] if one.NAME not in ("compare", "whatif")])
    _pages(page, ["timeline"])
    for name, left, right in (("drag a quarter", 0.3, 0.55), ("drag to calls", 0.4, 0.401)):
        box, mouse = page.locator("#page .nsewdrag").first.bounding_box(), page.mouse
        mouse.move(box["x"] + left * box["width"], box["y"] + 20)
        mouse.down()
        mouse.move(box["x"] + max(right * box["width"], left * box["width"] + 12), box["y"] + 20, steps=2)
        said = page.inner_text("#selection")
        found.append(_step(page, name, mouse.up, f"() => document.querySelector('#selection').innerText !== {said!r}"))
    return found


def _pages(page: Any, names: Sequence[str]) -> list[tuple[str, float]]:
    """To each page; with the second round the server has its tables at hand."""
    found = []
    for one in (one for one in PAGES if one.NAME in names):
        link = page.get_by_role("navigation").get_by_role("link", name=one.TITLE, exact=True)
        here = f"() => document.querySelector('nav a.here')?.textContent === '{one.TITLE}'"
        found.append(_step(page, f"to {one.TITLE}", link.click, here))
    return found


def _step(page: Any, name: str, act: Any, ready: str) -> tuple[str, float]:
    """Seconds from the event until the browser's requests have ended and it shows the results, two frames later."""
    act()
    started = time.perf_counter() - (time.time() - page.evaluate("window.acted") / 1e3)
    page.wait_for_function(ready)
    since = None
    while since is None or time.perf_counter() - since < QUIET_S:
        settled = page.evaluate(SETTLED) and not page.requests
        since = (since or time.perf_counter()) if settled else None
    return name, since - started


def _opened(browser: Any) -> Any:
    """A page that keeps the callbacks in progress."""
    page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
    page.add_init_script(
        "addEventListener('mouseup', (one) => { window.acted = performance.timeOrigin + one.timeStamp; }, true)"
    )
    page.requests = set()
    page.on("request", lambda one: page.requests.add(one) if "_dash-update" in one.url else None)
    for end in ("requestfinished", "requestfailed"):
        page.on(end, lambda one: page.requests.discard(one))
    return page


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
