"""Content of a prediction's page: before and after, the requested curve or grid, places that change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from logpost.analyzer.predict.whatif import Grid as Cells
from logpost.analyzer.predict.whatif import Prediction, Sweep
from logpost.analyzer.run.directory import Run
from logpost.analyzer.words.units import time_text
from logpost.dashboards.figures import palette, prediction
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.prediction_grid import prediction_grid
from logpost.dashboards.report.html import fill
from logpost.dashboards.report.page import title_of
from logpost.dashboards.report.tables import Grid
from logpost.whole_file import write_whole


@dataclass(frozen=True)
class WhatifPage:
    """Everything the template needs."""

    title: str
    settings: str
    machine: str
    charts: dict[str, Chart]
    grids: dict[str, Grid]
    inks: tuple[str, ...]
    """categories on the paths"""
    notes: tuple[str, ...]


def write_whatif(run: Run, found: Prediction, path: Path) -> None:
    """Write a prediction as one HTML file.

    Raises:
        InputError: the file cannot be written.
    """
    charts = {"path": prediction.before_and_after(found)}
    grids = {}
    if found.sweep is not None:
        charts["sweep"] = prediction.sweep(found.sweep, found.measured_ps, machine=prediction.machine_of(found))
        grids["sweep"] = _points(found.sweep, found.measured_ps)
    if found.grid is not None:
        charts["grid"] = prediction_grid(found.grid, prediction.machine_of(found))
        grids["grid"] = _cells(found.grid)
    if any(one.gain_ps for one in found.regions):
        charts["regions"] = prediction.regions(found.regions)
    page = WhatifPage(
        title_of(run.manifest),
        ", ".join(found.settings),
        found.machine,
        charts,
        grids,
        _inks(found),
        tuple(found.notes),
    )
    write_whole(path, fill("whatif.html.j2", charts, page=page))


def _inks(found: Prediction) -> tuple[str, ...]:
    parts = [part for one in (found.before, found.after) for part, time in one.path_ps.items() if time]
    present = {str(prediction.INK_OF_PART.get(part, part)) for part in parts}
    return tuple(ink for ink in palette.INKS if ink in present)


def _points(found: Sweep, measured_ps: int) -> Grid:
    rows = [
        (
            point.text,
            time_text(point.makespan_ps),
            f"{time_text(point.interval_ps[0])} to {time_text(point.interval_ps[1])}",
            f"{100 * (point.makespan_ps / max(measured_ps, 1) - 1):+.2f} %",
        )
        for point in found.points
    ]
    return Grid((found.name, "predicted", "between", "against measured"), rows, frozenset({0, 1, 3}))


def _cells(found: Cells) -> Grid:
    down, across = found.axes
    rows = [
        (shown, *(f"{100 * found.grown(i, j):+.1f} %" for j in range(len(across.values))))
        for i, shown in enumerate(down.shown)
    ]
    headings = (f"{down.name} \\ {across.name}", *across.shown)
    return Grid(headings, rows, frozenset(range(len(headings))))
