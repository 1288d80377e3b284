"""What a page is given: the state of its URL, the run through its selection, and the report."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from logpost.analyzer.report.data import Report
from logpost.analyzer.run.manifest import Manifest
from logpost.analyzer.run.undivided import SHOWN
from logpost.dashboards.app.jobs import PATIENCE_S, StoppedError
from logpost.dashboards.app.jobs import Report as Progress
from logpost.dashboards.app.runs import Opened, Runs
from logpost.dashboards.app.state import State
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.folding import Columns, Rows
from logpost.dashboards.selection.selected_run import Cube, SelectedRun


@dataclass(frozen=True)
class View:
    """A page's view of the runs."""

    runs: Runs
    state: State

    @functools.cached_property
    def opened(self) -> Opened:
        """The run that the URL names."""
        return self.runs[self.state.run]

    @functools.cached_property
    def scoped(self) -> SelectedRun:
        """It, through the selection."""
        return self.runs.scoped(self.state.run, self.state.selection)

    @property
    def report(self) -> Report:
        """Of the whole run."""
        return self.opened.report

    @property
    def manifest(self) -> Manifest:
        """Of the run."""
        return self.opened.run.manifest

    @property
    def by_rank(self) -> Cube:
        """Time of the selection by (location, category), ps; see `SelectedRun.by_rank`.

        Raises:
            WorkingError: many calls are being read for it.
        """
        if self.scoped.reads_calls:
            self.in_background(("by rank", self.state.selection), lambda _report: self.scoped.by_rank)
        return self.scoped.by_rank

    @property
    def present(self) -> list[str]:
        """Categories with time in the selection, in the order of their inks.

        Raises:
            WorkingError: as `by_rank`.
        """
        taken = self.by_rank.sum(axis=0)
        return [category for category in palette.INKS if taken[SHOWN.index(category)] > 0]

    def cube(self, on: Rows, bins: int) -> tuple[Cube, Columns]:
        """Time of the selection by (row, bin, category), ps, and the bins; see `SelectedRun.cube`.

        Raises:
            WorkingError: many calls are being read for it.
        """
        if self.scoped.callpaths is None:
            return self.scoped.cube(on, bins)
        key = ("cube", self.state.selection, on.count, bins, self.state.more.get("rows", ""))
        made: tuple[Cube, Columns] = self.in_background(key, lambda _report: self.scoped.cube(on, bins))
        return made

    def in_background(
        self, key: Hashable, work: Callable[[Progress], Any], price: str = "", patience_s: float = PATIENCE_S
    ) -> Any:
        """The result of long work on the run; work with a price starts when a user accepts it. Work that is known to
        outlast any patience needs none.

        Raises:
            WorkingError: it continues; the page polls.
            StoppedError: it was stopped, or has a price.
        """
        return self.runs.jobs.result((self.opened.name, key), work, patience_s=patience_s, price=price)

    def priced(self, key: Hashable, price: str) -> StoppedError | None:
        """What `in_background` would raise because the work has a price; nothing is begun."""
        return self.runs.jobs.priced((self.opened.name, key), price)

    def cached(self, key: Hashable, work: Callable[[], Any]) -> Any:
        """The result of short work on the run, which is kept like that of long work; the caller waits for it."""
        return self.runs.jobs.result((self.opened.name, key), lambda _report: work(), patience_s=None)


ChartMaker = Callable[[View], Chart]


class Page(Protocol):
    """A module of `pages`."""

    NAME: str
    """Its path in the URL."""
    TITLE: str
    CHARTS: Mapping[str, ChartMaker]
    """By name: that of the page, a dot, and its own."""

    def layout(self, view: View) -> list[Any]:
        """The content of the page."""
        ...
