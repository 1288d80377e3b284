"""The token in a real browser, on an address that other machines reach: with it, without it, with a wrong one."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.browser.served import DRAWN, go, opened, served
from tests.dashboards.synthetic import make_run

pytestmark = pytest.mark.browser

NEEDED = "a token is needed: open the whole address that logpost printed"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What `logpost dashboard --host 0.0.0.0` prints, by a name that this machine surely has."""
    run = make_run(tmp_path_factory.mktemp("token") / "a.run").path
    command = [sys.executable, "-c", "from logpost.cli.app import main; main()", "dashboard", str(run)]
    with subprocess.Popen([*command, "--port", "0", "--host", "0.0.0.0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = process.stdout.readline().strip()
        match = re.fullmatch(r"http://[^/:]+:(\d+)/\?token=([0-9a-f]{48})", printed)
        assert match, printed
        try:
            yield f"http://127.0.0.1:{match[1]}/?token={match[2]}"
        finally:
            process.terminate()


def test_the_printed_address_opens_every_page_and_leaves_no_token_in_the_bar(address: str, chromium: Any) -> None:
    seen = opened(chromium, address)
    assert "token" not in seen.page.url
    go(seen, "Timeline")
    seen.page.reload()
    seen.page.wait_for_function(DRAWN)
    assert seen.console == []
    seen.page.context.close()


@pytest.mark.parametrize("wrong", ["", "/?token=", "/?token=" + 48 * "0", "/timeline?token=x", "/_dash-layout"])
def test_without_the_token_one_line_says_what_is_needed(address: str, wrong: str, chromium: Any) -> None:
    page = chromium.new_context().new_page()
    answer = page.goto(address.partition("/?")[0] + wrong)
    assert answer.status == 403
    assert page.inner_text("body").startswith(f"logpost: {NEEDED}")
    assert page.context.cookies() == []
    page.context.close()


def test_a_link_on_another_site_opens_it_too(address: str, chromium: Any) -> None:
    with other_site(f"<a href='{address}'>the dashboard</a>") as site:
        page = chromium.new_context().new_page()
        page.goto(site)
        page.click("a")
        page.wait_for_function(DRAWN)
        page.context.close()


def test_two_dashboards_on_one_machine_do_not_lock_each_other_out(address: str, chromium: Any, tmp_path: Path) -> None:
    with served(make_run(tmp_path / "b.run").path, token=48 * "a") as other:
        context = chromium.new_context()
        first, second = context.new_page(), context.new_page()
        first.goto(address)
        second.goto(f"{other}/?token={48 * 'a'}")
        for page in (first, second):
            page.reload()
            page.wait_for_function(DRAWN)
        context.close()


@contextmanager
def other_site(content: str) -> Iterator[str]:
    """The address of a page of another host."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
