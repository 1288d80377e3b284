"""A selected row of a grid or the value of a field changes the URL, and with it the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dash
from dash import ALL, ClientsideFunction, Input, Output, State, dcc

from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State as ViewState
from logpost.dashboards.app.state import read
from logpost.errors import InputError

Picked = Callable[[ViewState, Mapping[str, Any]], ViewState | None]
"""The state after the selection of a row. None or an InputError leaves the state as it is."""


def wanted(page: str) -> dcc.Store:
    """Where the fields of a page store their query until the browser has it. The store is created with the fields:
    Dash would report each field as changed for an output that existed before them."""
    return dcc.Store(id=_place(page))


def into_wanted(page: str) -> Output:
    """That as what a callback gives."""
    return Output(_place(page), "data")


def _place(page: str) -> dict[str, str]:
    return {"part": "wanted", "page": page}


def callbacks(app: dash.Dash, _runs: Runs) -> None:
    """The query of the fields of a page becomes the URL's query."""
    app.clientside_callback(
        ClientsideFunction("logpost", "wanted"),
        Output("url", "search", allow_duplicate=True),
        Input({"part": "wanted", "page": ALL}, "data"),
        prevent_initial_call=True,
    )


def having(pathname: str | None, query: str | None, **more: str) -> Any:
    """The URL's query with other values of what pages keep; as it is where they are the same, or it cannot be read."""
    try:
        state = read(pathname, query)
    except InputError:
        return dash.no_update
    chosen = state.having(**more)
    return dash.no_update if chosen.search == state.search else chosen.search


def on_row(app: dash.Dash, grid: str, after: Picked) -> None:
    """Have the rows of a grid change the URL."""

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input(grid, "selectedRows"),
        State("url", "pathname"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def pick(rows: Any, pathname: str | None, query: str | None) -> Any:
        if not rows or not isinstance(rows, list):
            return dash.no_update
        try:
            state = after(read(pathname, query), rows[0])
        except InputError:
            return dash.no_update
        return dash.no_update if state is None else state.search
