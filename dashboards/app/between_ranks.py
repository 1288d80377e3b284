"""Traffic between ranks. For a stretch of time of a large run, the sum costs more time than a page waits for."""

from __future__ import annotations

import polars as pl

from logpost.dashboards.app import panels
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.load import load
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.errors import InputError


def pairs(view: View, scoped: SelectedRun) -> pl.DataFrame:
    """Messages and transfers of a selection of the view's run, by sender and receiver.

    Raises:
        WorkingError: they are being added up.
        InputError: there are none.
    """
    found = view.in_background(("pairs", scoped.selection), lambda _report: scoped.pairs())
    assert isinstance(found, pl.DataFrame)
    if found.is_empty():
        raise InputError("no message or transfer in the selection")
    return found


def endpoints(view: View, scoped: SelectedRun, rows: int, columns: int) -> Chart:
    """The load of each rank's endpoint over time, in which a rectangle selects.

    Args:
        view: of the run.
        scoped: it through a selection.
        rows, columns: how many there are, at most.

    Raises:
        WorkingError: it is being added up.
        InputError: there is none.
    """

    def work(_report: object) -> Chart:
        if scoped.load().head(1).collect().is_empty():
            raise InputError("no message or transfer in the selection, so no endpoint has a load")
        on = scoped.rows(rows)
        return panels.brushable(load(scoped.load(), scoped.queues(), on, scoped.columns(columns)), on, scoped)

    found = view.in_background(("endpoints", scoped.selection, rows, columns), work)
    assert isinstance(found, Chart)
    return found
