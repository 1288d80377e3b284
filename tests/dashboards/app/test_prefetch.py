"""The pages that a user is likely to open next are computed while the server is idle, after its first request."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import flask
import pytest
from tests.dashboards.synthetic import make_run

from logpost.dashboards.app.prefetch import CALLBACK, REST_S, Prefetch
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.server import listening
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View

pytestmark = pytest.mark.slow

LONG_S = 120.0


def _in_time(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + LONG_S
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


def test_pages_are_computed_while_the_server_is_idle(tmp_path: Path) -> None:
    runs = Runs([make_run(tmp_path / "a.run").path])
    prefetch = Prefetch(runs)
    server = listening(runs, "127.0.0.1", 0, None)
    prefetch.watch(server)
    app = server.app
    assert isinstance(app, flask.Flask)
    held, inside = threading.Event(), threading.Event()

    def hold() -> None:
        inside.set()
        held.wait(LONG_S)

    app.before_request(hold)

    whole = View(runs, read("/", ""))

    def made(*names: str) -> bool:
        return all(runs.figures.known(name, whole) is not None for name in names)

    assert _in_time(lambda: made("overview.categories", "overview.breakdown"))
    # that is, before the first request
    client = app.test_client()
    asking = threading.Thread(target=client.post, args=(CALLBACK,), kwargs={"json": {}})
    asking.start()
    assert inside.wait(LONG_S)
    time.sleep(2 * REST_S)
    assert not made("timeline.efficiency")  # somebody asks
    held.set()
    asking.join()
    wanted = ("timeline.timeline", "timeline.efficiency")
    assert _in_time(lambda: made(*wanted))
    assert not made("messages.sizes")  # long work
    assert not made("whatif.path")  # an answer
    server.server_close()
    runs.jobs.close()
