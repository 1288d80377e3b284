"""Computes what a user is likely to open next while the server is idle: the first page before the browser is open, the
other pages of the whole run while a user reads a page."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import NoReturn

import flask
from werkzeug.serving import BaseWSGIServer

from logpost.dashboards.app.jobs import StoppedError, lower_priority
from logpost.dashboards.app.pages import PAGES
from logpost.dashboards.app.panels import charts
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State, read
from logpost.dashboards.app.view import View

REST_S = 1.0
"""The server is idle once its last response is this old: on a small machine the browser draws until then."""
FORMS = ("whatif", "compare")
"""Pages whose charts need values that a user enters first."""
CALLBACK = "/_dash-update-component"


class _ShortWork(View):
    """A view for which no long work is begun: it would slow the page that a user looks at."""

    def in_background(self, key: Hashable, *_work: object, **_how: object) -> NoReturn:
        raise StoppedError(key)


class Prefetch:
    """Computes these pages in a thread, which starts with the object."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._changed = threading.Condition()
        self._requests = 0
        self._answered_at: float | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def watch(self, server: BaseWSGIServer) -> None:
        """Give way to the callbacks of a server that has not begun to serve. Until the first callback is served, only
        the first page is computed."""
        app = server.app
        assert isinstance(app, flask.Flask)
        app.before_request(self._asking)
        app.teardown_request(self._answered)

    def _asking(self) -> None:
        if flask.request.path.endswith(CALLBACK):
            with self._changed:
                self._requests += 1

    def _answered(self, _error: BaseException | None) -> None:
        if flask.request.path.endswith(CALLBACK):
            with self._changed:
                self._requests -= 1
                self._answered_at = time.monotonic()
                self._changed.notify()

    def _until_idle(self) -> None:
        with self._changed:
            while True:
                rest = None
                if self._answered_at is not None and self._requests == 0:
                    rest = self._answered_at + REST_S - time.monotonic()
                    if rest <= 0:
                        return
                self._changed.wait(rest)

    def _run(self) -> None:
        for make in self._first():
            _tried(make)
        lower_priority()
        for make in self._then():
            self._until_idle()
            _tried(make)

    def _first(self) -> Iterator[Callable[[], object]]:
        """The content of each run's first page, then the machines of the What if page, whose load costs as much."""
        for name in self._runs.names:
            yield partial(self._shown_first, name)
        yield self._machines

    def _shown_first(self, name: str) -> None:
        page, view = PAGES[0], _ShortWork(self._runs, State(run="" if name == self._runs.names[0] else name))
        for chart, _ in charts(page.layout(view)):
            self._runs.figures.of(chart, page.CHARTS[chart], view)

    def _machines(self) -> object:
        return self._runs.replaying

    def _then(self) -> Iterator[Callable[[], object]]:
        """The other pages of the first run, as their links lead to them."""
        views = [(page, _ShortWork(self._runs, read(f"/{page.NAME}", ""))) for page in PAGES]
        for page, view in views:
            yield partial(page.layout, view)
        for page, view in views:
            if page.NAME not in FORMS:
                for name, make in page.CHARTS.items():
                    yield partial(self._runs.figures.of, name, make, view)


def _tried(make: Callable[[], object]) -> None:
    """A failure here recurs when the page is opened, which shows it."""
    try:
        make()
    except Exception:
        return
