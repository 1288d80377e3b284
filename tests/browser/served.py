"""A dashboard that is served to a browser, and what the browser does with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.browser.visit import Visit

from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.server import listening

_OUT_OF_SIGHT = "one.getBoundingClientRect().top >= innerHeight"


def _each(*ready: str, at: str = "#page section, #page .banner") -> str:
    """A script: the page is complete, and one of these holds for each chart `one` of it."""
    return (
        f"() => !!document.querySelector('{at}')"
        f" && [...document.querySelectorAll('figure.chart')].every(one => {' || '.join(ready)})"
    )


_DRAWN = (
    "one.querySelector('figcaption .trouble')",
    "one.querySelector('.main-svg .point, .main-svg .trace, .main-svg .hm, .main-svg .slice')",
)
DRAWN = _each(*_DRAWN)
"""Every chart is drawn, or says why it cannot be."""

WORKING = _each(*_DRAWN, "one.querySelector('figcaption .working')", _OUT_OF_SIGHT)
"""Every chart in sight is drawn, or says how far the work on it is."""


@contextmanager
def served(*paths: Path, token: str | None = None) -> Iterator[str]:
    """The address of a dashboard over the runs, while the block lasts."""
    runs = Runs(paths)
    server = listening(runs, "127.0.0.1", 0, token)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
        runs.jobs.close()


def opened(browser: Any, address: str, **settings: Any) -> Visit:
    """A page of a dashboard, watched from its first request on; `requests` are those to other hosts."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, **settings})
    page = context.new_page()
    seen = Visit(page)

    def on_request(request: Any) -> None:
        if not request.url.startswith(("data:", "blob:")) and urlsplit(request.url).netloc != urlsplit(address).netloc:
            seen.requests.append(request.url)

    page.on("request", on_request)
    page.on("console", lambda message: seen.console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: seen.console.append(f"uncaught: {error}"))

    def refuse(dialog: Any) -> None:
        seen.dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    page.goto(address)
    drawn(seen)
    return seen


def drawn(seen: Visit) -> None:
    """Wait until every chart is there."""
    seen.page.wait_for_function(DRAWN, timeout=30_000)


def go(seen: Visit, title: str) -> None:
    """To a page, by its link."""
    seen.page.get_by_role("navigation").get_by_role("link", name=title, exact=True).click()
    seen.page.wait_for_selector(f"nav a.here:text-is('{title}')")
    drawn(seen)
