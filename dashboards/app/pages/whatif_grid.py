"""What-if over two parameters: the run's length for all pairs of their values, where somebody asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dash import Input, dcc, html

from logpost.analyzer.predict.whatif import Ask, Prediction, Replay
from logpost.analyzer.predict.whatif.grid import parse_grid
from logpost.dashboards.app import panels
from logpost.dashboards.app.jobs import Report as Progress
from logpost.dashboards.app.view import View
from logpost.dashboards.figures import prediction
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.prediction_grid import prediction_grid
from logpost.errors import InputError

LONGEST = 200
"""Characters of a grid; a URL holds it."""
MOST_CELLS = 256
"""A page waits for them."""


def section(view: View) -> html.Section:
    """The field for the grid, and the map."""
    values = _values(view)
    return panels.section(
        "Length over two parameters",
        html.Div(
            [
                html.Label("values", htmlFor="grid"),
                dcc.Input(id="grid", type="text", value=values, debounce=True, style={"width": "340px"},
                          placeholder="L=1us:100us:8,G=0.1ns/B:10ns/B:8"),
            ],
            className="fields",
        ),
        panels.chart("whatif.grid", "Predicted length over two parameters", height=360, spoken=True)
        if values
        else None,
        about="All pairs of two parameters' values, on top of what is set above; lines join where the program is "
        "5 and 10 % longer.",
    )  # fmt: skip


def over(view: View, replay: Replay, ask: Ask) -> Chart:
    """The map.

    Raises:
        InputError: the grid is not understood, or has too many cells for a page.
    """
    first, second = parse_grid(_values(view))
    cells = len(first.values) * len(second.values)
    if cells > MOST_CELLS:
        raise InputError(f"{cells:,} cells; the page shows at most {MOST_CELLS}: use logpost whatif --grid --html")
    ask = replace(ask, grid=_values(view))

    def work(report: Progress) -> Prediction:
        report("replaying each pair", 0, 0)
        return replay.predict(ask)

    found: Prediction = view.in_background(("grid", ask), work)
    assert found.grid is not None
    return prediction_grid(found.grid, prediction.machine_of(found))


def _values(view: View) -> str:
    return view.state.more.get("grid", "").strip()[:LONGEST]


FIELDS = {"grid": Input("grid", "value")}
"""What changes the URL."""


def query(grid: Any) -> dict[str, str]:
    """The URL's query for the values of `FIELDS`."""
    return {"grid": str(grid or "")[:LONGEST]}
