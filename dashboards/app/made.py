"""Charts that were made once: whoever comes back to a view need not wait for them again."""

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
"""The latest views that are known to have been made: what these took is kept as well."""
Offer = tuple[str, Mapping[str, str]]
"""What a chart leaves open, and what the page's state is to have for it; empty where it leaves nothing open."""
Drawn = tuple[Any, str, Offer]
"""Payload and summary of a chart, and what it offers to find out."""


class Made:
    """The latest charts as the browser takes them, by name and view; safe to use from several threads."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._charts: dict[tuple[str, str], Drawn] = {}
        self._pages: dict[str, None] = {}
        self._lock = threading.Lock()

    def known(self, name: str, view: View) -> Drawn | None:
        """The chart, where it was made; it is not made here."""
        with self._lock:
            return self._used(_key(name, view))

    def of(self, name: str, make: ChartMaker, view: View) -> Drawn:
        """The chart, made where it was not.

        Raises:
            WorkingError: the work on it goes on; ask again.
            Exception: what the maker raised; it is tried again the next time.
        """
        key = _key(name, view)
        with self._lock:
            found = self._used(key)
        if found is None:
            chart = make(view)
            found = chart.payload(), chart.summary, (chart.open, chart.asks)
        with self._lock:
            _keep(self._charts, key, found, self.most)
        return found

    def stands(self, view: View) -> None:
        """The view's page was made."""
        with self._lock:
            _keep(self._pages, view.state.href, None, MOST_PAGES)

    def stood(self, view: View) -> bool:
        """Whether the view's page was made before: what it takes is at hand."""
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
