"""A cache of charts: a user who returns to a view does not wait for them again."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from logpost.dashboards.app.view import ChartMaker, View

Kept = TypeVar("Kept")
Value = TypeVar("Value")
MOST = 48
"""Charts that are kept: of at most 2 MB each."""
MOST_PAGES = 24
"""The latest views whose pages were computed: the results that they need are in memory, too."""
Offer = tuple[str, Mapping[str, str]]
"""A question that a chart leaves open, and the page state that settles it; empty without one."""
Drawn = tuple[Any, str, Offer]
"""Payload and summary of a chart, and its offer."""


class FigureCache:
    """The latest charts in the browser's form, by name and view; safe to use from several threads."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._charts: dict[tuple[str, str], Drawn] = {}
        self._pages: dict[str, None] = {}
        self._lock = threading.Lock()

    def known(self, name: str, view: View) -> Drawn | None:
        """The chart, if the cache has it."""
        with self._lock:
            return self._used(_key(name, view))

    def of(self, name: str, make: ChartMaker, view: View) -> Drawn:
        """The chart, from the cache or computed.

        Raises:
            WorkingError: the work on it continues; call again.
            Exception: what the maker raised; it is tried again the next time.
        """
        key = _key(name, view)
        with self._lock:
            found = self._used(key)
        if found is None:
            chart = make(view)
            found = chart.payload(), chart.summary, (chart.open, chart.offered)
        with self._lock:
            _keep(self._charts, key, found, self.most)
        return found

    def mark_shown(self, view: View) -> None:
        """Record that the view's page was computed."""
        with self._lock:
            _keep(self._pages, view.state.href, None, MOST_PAGES)

    def was_shown(self, view: View) -> bool:
        """Whether the view's page was computed before, so that the results it needs are in memory."""
        with self._lock:
            return view.state.href in self._pages

    def _used(self, key: tuple[str, str]) -> Drawn | None:
        """The chart, which from now on is the latest."""
        found = self._charts.pop(key, None)
        if found is not None:
            self._charts[key] = found
        return found


def _keep(kept: dict[Kept, Value], key: Kept, value: Value, most: int) -> None:
    """Keep the value as the latest of `most`; one that was kept under its key, too, is replaced."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > most:
        del kept[next(iter(kept))]


def _key(name: str, view: View) -> tuple[str, str]:
    return name, replace(view.state, page="").href
