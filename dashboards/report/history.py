"""Content of a history's page: the trend, and every run as a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from logpost.analyzer.compare.history import Entry
from logpost.analyzer.render.history.text import HEADINGS, NUMERIC, notes, rows
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.history import trend
from logpost.dashboards.report.html import fill
from logpost.dashboards.report.tables import Grid
from logpost.whole_file import write_whole


@dataclass(frozen=True)
class HistoryPage:
    """Everything the template needs."""

    title: str
    charts: dict[str, Chart]
    grid: Grid
    notes: Sequence[str]


def write_history(name: str, found: Sequence[Entry], path: Path) -> None:
    """Write the history as one HTML file.

    Raises:
        InputError: the file cannot be written.
    """
    names = (*HEADINGS, "first finding")
    cells = [(*row, one.finding or "none") for row, one in zip(rows(found), found, strict=True)]
    page = HistoryPage(name, {"trend": trend(found)}, Grid(names, cells, NUMERIC), notes(found))
    write_whole(path, fill("history.html.j2", page.charts, page=page))
