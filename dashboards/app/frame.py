"""The frame around the pages: the header with runs, search and theme, and the places of selection and page."""

from __future__ import annotations

from typing import Any

import dash
from dash import ClientsideFunction, Input, Output, State, dcc, html

from logpost.dashboards.app import named
from logpost.dashboards.app.panels import aria
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State as ViewState
from logpost.dashboards.app.state import read
from logpost.dashboards.figures import palette
from logpost.errors import InputError


def layout(runs: Runs) -> html.Div:
    """The page around every page's content, which callbacks fill."""
    names = runs.names
    return html.Div(
        [
            dcc.Location(id="url", refresh="callback-nav"),
            dcc.Interval(id="again", interval=500, disabled=True),
            dcc.Store(id="theme"),
            dcc.Store(id="requested"),
            dcc.Store(id="select-request"),
            dcc.Store(id="selection-shown"),
            dcc.Store(id="colours", data=palette.theme()),
            html.A("Skip to the page", className="skip", href="#page"),
            html.Header(
                html.Div(
                    [
                        html.Div("logpost", className="brand"),
                        html.Nav(id="nav", **aria("Pages")),
                        dcc.Dropdown(
                            id="run",
                            options=[{"label": name, "value": name} for name in names],
                            value=names[0],
                            clearable=False,
                            searchable=False,
                            className="runs" if len(names) > 1 else "none",
                        ),
                        dcc.Dropdown(
                            id="search",
                            options=[],
                            placeholder="Region or finding …",
                            maxHeight=420,
                            className="search",
                        ),
                        html.Button("Dark", id="theme-button", className="plain", n_clicks=0),
                    ],
                    className="wrap",
                ),
                className="top",
            ),
            html.Main(
                [
                    html.Div(
                        [html.Div(id="selection", className="selection"), *named.layout()], className="selection-row"
                    ),
                    html.Div(id="page", tabIndex=-1),
                ],
                className="wrap",
            ),
        ],
        className="app",
    )


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """The theme, and the choice of another run."""
    app.clientside_callback(
        ClientsideFunction("logpost", "theme"),
        Output("theme", "data"),
        Output("theme-button", "children"),
        Input("theme-button", "n_clicks"),
    )

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("run", "value"),
        State("url", "pathname"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def other_run(name: str, pathname: str | None, query: str | None) -> Any:
        """Another run, whole: ranks and times of one mean nothing in another."""
        try:
            state = read(pathname, query)
            if name == runs[state.run].name:
                return dash.no_update
        except InputError:
            state = ViewState()
        return ViewState(state.page, name if name != runs.names[0] else "").search
