"""Every page stays on this machine: no foreign host in its code, no button that sends, no request."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.browser.pages import PAGES
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

NAMESPACES = {
    "http://www.w3.org/2000/svg",
    "http://www.w3.org/1999/xlink",
    "http://www.w3.org/2000/xmlns/",
    "http://www.w3.org/1999/xhtml",
    "http://www.w3.org/XML/1998/namespace",
}
"""Identifiers of XML namespaces, which nothing fetches."""
ADDRESS = re.compile(r"(?:https?|wss?|ftp):(?:\\?/){2}[^\s\"'`<>\\)]*|[\"'`(]//[\w-]+\.[\w.-]+")
STAYS_HERE = {"toImage", "zoom2d", "pan2d", "resetScale2d"}


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest, pages: dict[str, Path]) -> Path:
    return pages[request.param]


def test_code_names_no_host(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    scripts = re.findall(r'<script type="application/octet-stream" id="\w+">([^<]*)</script>', text)
    assert len(scripts) == 2
    code = [text, *(gzip.decompress(base64.b64decode(script)).decode() for script in scripts)]
    found = {address for part in code for address in ADDRESS.findall(part)}
    assert found <= NAMESPACES


def test_no_button_leaves_the_machine_and_no_request_is_made(page: Path, visit: Callable[..., Visit]) -> None:
    seen = visit(page)
    assert seen.drawn() == "drawn"
    buttons = seen.page.eval_on_selector_all(".modebar-btn", "all => all.map(b => [b.dataset.title, b.dataset.attr])")
    titles = {title for title, _ in buttons}
    assert buttons
    assert titles <= {"Download plot as a SVG", "Download plot as a PNG", "Download plot", "Zoom", "Pan", "Reset axes"}
    assert not seen.page.locator(".modebar a[href]").count()
    buttons = seen.page.eval_on_selector_all(
        ".js-plotly-plot", "all => all.flatMap(p => p._context.modeBarButtons.flat().map(b => b.name || b))"
    )
    assert set(buttons) <= STAYS_HERE
    assert [url for url in seen.requests if not url.startswith(("file:", "data:", "blob:"))] == []


def test_the_upload_of_the_library_does_nothing(page: Path, visit: Callable[..., Visit]) -> None:
    seen = visit(page)
    assert seen.drawn() == "drawn"
    opened = seen.page.evaluate(
        """() => { let opened = 0; window.open = () => { opened += 1; return null; };
        const plot = document.querySelector('.js-plotly-plot');
        window.Plotly.Plots.sendDataToCloud(plot, 'http://localhost:9'); return opened; }"""
    )
    assert opened == 0


def test_the_policy_stops_the_requests_of_a_script(pages: dict[str, Path], visit: Callable[..., Visit]) -> None:
    seen = visit(pages["report"])
    assert seen.drawn() == "drawn"
    stopped = seen.page.evaluate("() => fetch('data:text/plain,x').then(() => 'sent', error => error.name)")
    assert stopped == "TypeError"
    blocked = seen.page.evaluate(
        """() => new Promise(done => { document.addEventListener('securitypolicyviolation',
        e => done(e.effectiveDirective)); const i = new Image(); i.src = 'http://localhost:9/x.png'; })"""
    )
    assert blocked == "img-src"
