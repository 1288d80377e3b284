"""Example: the run's wait states. A page places charts and tables, and computes nothing itself."""

from __future__ import annotations

from typing import Any

from logpost.dashboards.app import panels
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.wait_states import wait_states
from logpost.errors import InputError

NAME, TITLE = "example", "Example"
"""In the URL, and in the navigation."""


def layout(view: View) -> list[Any]:
    """One section, with a place for a chart of `CHARTS`."""
    chart = panels.chart("example.waits", "Time by wait state")
    return [panels.section("Wait states", chart, about="Of the whole program.")]


def _waits(view: View) -> Chart:
    """Computed when the page shows it; an InputError is the line in its place."""
    found = view.report.wait_states
    if not any(one.wait_ps for one in found):
        raise InputError("no rank waits for another")
    return wait_states(found)


CHARTS = {"example.waits": _waits}
