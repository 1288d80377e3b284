"""Content of the page of a program's growth: the figure, and every category as a row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from logpost.analyzer.predict.scale import Scaling
from logpost.analyzer.render.scale.text import cells, dominating_lines, headings, structure_lines, total_cells
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.scaling import scaling_chart
from logpost.dashboards.report.html import fill
from logpost.dashboards.report.tables import Grid
from logpost.whole_file import write_whole


@dataclass(frozen=True)
class ScalingPage:
    """Everything the template needs."""

    title: str
    charts: dict[str, Chart]
    grid: Grid
    facts: tuple[str, ...]
    notes: tuple[str, ...]


def write_scaling(found: Scaling, path: Path) -> None:
    """Write how a program grows as one HTML file.

    Raises:
        InputError: the file cannot be written.
    """
    names = headings(found)
    page = ScalingPage(
        title=f"{Path(found.runs[-1]).name} on {found.target:,} ranks",
        charts={"scaling": scaling_chart(found)},
        grid=Grid(
            tuple(names),
            [*(tuple(cells(one)) for one in found.categories), tuple(total_cells(found))],
            frozenset(range(1, len(names))) - {len(names) - 2},
        ),
        facts=(*structure_lines(found), *dominating_lines(found)),
        notes=found.notes,
    )
    write_whole(path, fill("scaling.html.j2", page.charts, page=page))
