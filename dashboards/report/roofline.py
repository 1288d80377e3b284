"""Content of the roofline's page: the figure, and every region as a row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from logpost.analyzer.predict.roofline import Roofline
from logpost.analyzer.render.roofline.text import cells
from logpost.analyzer.run.directory import Run
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.roofline import roofline_chart
from logpost.dashboards.report.html import fill
from logpost.dashboards.report.page import title_of
from logpost.dashboards.report.tables import Grid
from logpost.whole_file import write_whole

HEADINGS = ("region", "where", "messages", "mean size", "rate of a rank", "time", "roof", "limit", "distance")


@dataclass(frozen=True)
class RooflinePage:
    """Everything the template needs."""

    title: str
    machine: str
    charts: dict[str, Chart]
    grid: Grid
    notes: tuple[str, ...]


def write_roofline(run: Run, found: Roofline, path: Path) -> None:
    """Write the roofline of a run as one HTML file.

    Raises:
        InputError: the file cannot be written.
    """
    page = RooflinePage(
        title=title_of(run.manifest),
        machine=found.machine,
        charts={"roofline": roofline_chart(found)},
        grid=Grid(HEADINGS, [cells(roof) for roof in found.roofs], frozenset({2, 3, 4, 5, 6, 8})),
        notes=found.notes,
    )
    write_whole(path, fill("roofline.html.j2", page.charts, page=page))
