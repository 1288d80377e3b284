"""A cache of charts: a user who returns to a view does not wait for them again."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from logpost.dashboards.app.view import ChartMaker, View

MOST = 48
"""Charts that are kept: of at most 2 MB each."""
Offer = tuple[str, Mapping[str, str]]
"""A question that a chart leaves open, and the page state that settles it; empty without one."""
Drawn = tuple[Any, str, Offer]
"""Payload and summary of a chart, and its offer."""


class FigureCache:
    """The latest charts in the browser's form, by name and view; safe to use from several threads."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._charts: dict[tuple[str, str], Drawn] = {}
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
            self._charts.pop(key, None)
            self._charts[key] = found
            while len(self._charts) > self.most:
                del self._charts[next(iter(self._charts))]
        return found

    def _used(self, key: tuple[str, str]) -> Drawn | None:
        """The chart, which from now on is the latest."""
        found = self._charts.pop(key, None)
        if found is not None:
            self._charts[key] = found
        return found


def _key(name: str, view: View) -> tuple[str, str]:
    return name, replace(view.state, page="").href
