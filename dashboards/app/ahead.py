"""What somebody is likely to look at next is made while nobody asks: the first page before the browser is open, the
other pages of the whole run while a page is read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import NoReturn

import flask
from werkzeug.serving import BaseWSGIServer

from logpost.dashboards.app.jobs import StoppedError, give_way
from logpost.dashboards.app.pages import PAGES
from logpost.dashboards.app.panels import charts
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State, read
from logpost.dashboards.app.view import View

REST_S = 1.0
"""Nobody asks if the last answer is so long ago: on a small machine the browser draws until then."""
FORMS = ("whatif", "compare")
"""Pages whose charts answer what somebody has to ask first."""
CALLBACK = "/_dash-update-component"


class _ShortWork(View):
    """A view for which no long work is begun: it would take the processors from whoever looks at something else."""

    def in_background(self, key: Hashable, *_work: object, **_how: object) -> NoReturn:
        raise StoppedError(key)


class Ahead:
    """Makes it, in a thread that begins at once."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._changed = threading.Condition()
        self._asked = 0
        self._answered_at: float | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def watch(self, server: BaseWSGIServer) -> None:
        """Give way to the callbacks of a server that has not begun to serve; until one is answered, nothing but the
        first page is made."""
        app = server.app
        assert isinstance(app, flask.Flask)
        app.before_request(self._asking)
        app.teardown_request(self._answered)

    def _asking(self) -> None:
        if flask.request.path.endswith(CALLBACK):
            with self._changed:
                self._asked += 1

    def _answered(self, _error: BaseException | None) -> None:
        if flask.request.path.endswith(CALLBACK):
            with self._changed:
                self._asked -= 1
                self._answered_at = time.monotonic()
                self._changed.notify()

    def _until_nobody_asks(self) -> None:
        with self._changed:
            while True:
                rest = None
                if self._answered_at is not None and self._asked == 0:
                    rest = self._answered_at + REST_S - time.monotonic()
                    if rest <= 0:
                        return
                self._changed.wait(rest)

    def _run(self) -> None:
        for make in self._first():
            _tried(make)
        give_way()
        for make in self._then():
            self._until_nobody_asks()
            _tried(make)

    def _first(self) -> Iterator[Callable[[], object]]:
        """What the first page of each run shows, and the machines that What if offers, which take as long."""
        for name in self._runs.names:
            yield partial(self._shown_first, name)
        yield self._machines

    def _shown_first(self, name: str) -> None:
        page, view = PAGES[0], _ShortWork(self._runs, State(run="" if name == self._runs.names[0] else name))
        for chart, _ in charts(page.layout(view)):
            self._runs.made.of(chart, page.CHARTS[chart], view)
        self._runs.made.stands(view)

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
                    yield partial(self._runs.made.of, name, make, view)


def _tried(make: Callable[[], object]) -> None:
    """What fails here, fails again where it is shown, and is said there."""
    try:
        make()
    except Exception:
        return
