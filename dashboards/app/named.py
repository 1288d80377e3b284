"""Selections that were given a name: they stay in this browser, a row of links above every page; and the step back.

A name with its selection is `{name: query}` under the name of the run, as the URL has it; what the browser kept is read
as carefully as a URL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import dash
from dash import ClientsideFunction, Input, Output, State, dcc, html

from logpost.dashboards.app.panels import aria
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State as ViewState
from logpost.dashboards.app.state import read
from logpost.dashboards.figures.labels import visible
from logpost.dashboards.selection.selection import Selection, parse
from logpost.errors import InputError

MOST, LONGEST = 20, 60
"""Names of a run, and characters of one."""

Kept = dict[str, dict[str, str]]
"""Run to name to query."""


def layout() -> list[Any]:
    """The stores, and the places of the links and of the button."""
    return [
        dcc.Store(id="named", storage_type="local"),
        dcc.Store(id="forgotten"),
        html.Button("Step back", id="step-back", className="plain", n_clicks=0, disabled=True),
        html.Div(id="named-links", className="named", **aria("Named selections")),
    ]


def kept_of(stored: Any) -> Kept:
    """What a browser kept, as far as it can be read."""
    if not isinstance(stored, dict):
        return {}
    return {
        str(run): {
            str(name)[:LONGEST]: query for name, query in names.items() if isinstance(query, str) and _read(query)
        }
        for run, names in stored.items()
        if isinstance(names, dict)
    }


def keep(stored: Any, run: str, name: str, selection: Selection) -> Kept:
    """With one more name; the oldest ones are dropped."""
    kept = kept_of(stored)
    names = {old: query for old, query in kept.get(run, {}).items() if old != name}
    names[name[:LONGEST]] = urlencode(selection.query())
    return {**kept, run: dict(list(names.items())[-MOST:])}


def links(kept: Mapping[str, str], state: ViewState) -> list[Any]:
    """A link for each name, and a button that forgets it."""
    parts: list[Any] = []
    for name, query in kept.items():
        selection = _read(query)
        if selection is None:
            continue
        here = selection == state.selection
        parts.append(
            html.Span(
                [
                    dcc.Link(
                        visible(name, LONGEST),
                        href=state.selecting(selection).having(name=name).href,
                        className="here" if here else "",
                    ),
                    html.Button("✕", title="Forget this name", **aria("Forget") | {"data-name": name}),
                ],
                className="part",
            )
        )
    return [html.Span("Named", className="soft"), *parts] if parts else []


def _read(query: str) -> Selection | None:
    try:
        return parse(dict(parse_qsl(query)))
    except InputError:
        return None


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """Links follow the store; a name is forgotten; a step back returns to the previous selection."""

    @app.callback(
        Output("named-links", "children"),
        Input("named", "data"),
        Input("url", "pathname"),
        Input("url", "search"),
    )
    def show(stored: Any, pathname: Any, query: Any) -> Any:
        try:
            state = read(pathname, query)
            return links(kept_of(stored).get(runs[state.run].name, {}), state)
        except InputError:
            return []

    @app.callback(
        Output("named", "data", allow_duplicate=True),
        Input("forgotten", "data"),
        State("named", "data"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def forget(forgotten: Any, stored: Any, query: Any) -> Any:
        try:
            run = runs[read("/", query).run].name
        except InputError:
            return dash.no_update
        kept = kept_of(stored)
        return {**kept, run: {name: q for name, q in kept.get(run, {}).items() if name != forgotten["name"]}}

    app.clientside_callback(
        ClientsideFunction("logpost", "first"), Output("step-back", "disabled"), Input("url", "search")
    )
    app.clientside_callback(
        ClientsideFunction("logpost", "back"),
        Output("url", "search", allow_duplicate=True),
        Input("step-back", "n_clicks"),
        State("url", "search"),
        prevent_initial_call=True,
    )
