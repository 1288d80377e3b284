"""The line above every page: what is selected, how to change and clear it, without a mouse, too."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import dash
from dash import ClientsideFunction, Input, Output, State, dcc, html

from logpost.analyzer.findings.evidence.places import NOWHERE, places_of
from logpost.analyzer.words.units import span_text, time_text
from logpost.dashboards.app.named import keep
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State as ViewState
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.labels import visible
from logpost.dashboards.selection.selection import Selection, parse
from logpost.errors import InputError

FIELDS = 5
"""What the form sends: the number of its click, begin, end, ranks, name."""
_PS = {"s": 10**12, "ms": 10**9, "us": 10**6, "µs": 10**6, "ns": 10**3, "ps": 1}
_TIME = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(s|ms|us|µs|ns|ps)\s*")


def key(state: ViewState) -> str:
    """Equal for states whose lines are equal: without a selection, that of every page is."""
    return "" if state.selection.everything and not state.more.get("name") else state.href


def layout(view: View) -> list[Any]:
    """The parts of the selection, each with a link that removes it."""
    state, chosen = view.state, view.state.selection
    parts: list[Any] = []
    if chosen.timed:
        begin, end = view.scoped.span
        without = state.selecting(replace(chosen, begin_ps=None, end_ps=None))
        parts.append(_part(f"{span_text(begin, end)} ({time_text(end - begin)})", without))
    if chosen.ranks:
        text = chosen.ranks_text
        one = len(chosen.ranks) == 1 and chosen.ranks[0][0] == chosen.ranks[0][1]
        parts.append(
            _part(f"{'rank' if one else 'ranks'} {visible(text, 40)}", state.selecting(replace(chosen, ranks=())))
        )
    if chosen.callpath is not None:
        place = places_of({name: view.opened.run.facts(name) for name in ("callpaths", "regions")})
        named = place.get(chosen.callpath, NOWHERE).named or f"call path {chosen.callpath}"
        parts.append(_part(visible(named, 70), state.selecting(replace(chosen, callpath=None))))
    if name := state.more.get("name"):
        parts.insert(0, html.B(f"{visible(name, 60)}:"))
    if chosen.everything:
        parts = [
            html.Span("Whole program, all ranks. Drag a rectangle in a chart, or pick a finding.", className="soft")
        ]
    else:
        parts = [html.B("Selected"), *parts, _clear(state)]
    return [*parts, _form(state)]


def _part(text: str, without: ViewState) -> dcc.Link:
    return dcc.Link(f"{text}  ✕", href=without.href, className="part", title="Remove this part of the selection")


def _clear(state: ViewState) -> dcc.Link:
    return dcc.Link("Clear", href=replace(state, selection=Selection(), more={}).href)


def _form(state: ViewState) -> html.Details:
    """Fields for users who select by numbers or by keyboard."""
    chosen = state.selection

    def field(name: str, label: str, value: str) -> list[Any]:
        return [
            html.Label(label, htmlFor=f"select-{name}"),
            dcc.Input(id=f"select-{name}", type="text", value=value, debounce=True, autoComplete="off"),
        ]

    return html.Details(
        [
            html.Summary("Select…"),
            html.Div(
                [
                    *field("from", "from", "" if chosen.begin_ps is None else f"{chosen.begin_ps * 1e-9:.9g}ms"),
                    *field("to", "to", "" if chosen.end_ps is None else f"{chosen.end_ps * 1e-9:.9g}ms"),
                    *field("ranks", "ranks", chosen.ranks_text),
                    *field("name", "name", state.more.get("name", "")),
                    html.Button("Apply", id="select-apply", className="plain", n_clicks=0),
                    html.Span("", id="select-trouble", role="alert", className="soft"),
                ],
                className="form",
            ),
        ]
    )


def moment(text: str | None) -> str | None:
    """A time with its unit as picoseconds in digits; None where nothing is written.

    Raises:
        InputError: it is no time.
    """
    if not (text or "").strip():
        return None
    match = _TIME.fullmatch(text or "")
    if not match:
        raise InputError("write a time with its unit: 1.5s, 200ms, 10us")
    return str(round(float(match[1]) * _PS[match[2]]))


def chosen_by(state: ViewState, begin: str | None, end: str | None, ranks: str | None, name: str | None) -> ViewState:
    """The state with the selection that the fields say.

    Raises:
        InputError: a field cannot be read.
    """
    query = {"from": moment(begin), "to": moment(end), "ranks": (ranks or "").replace(" ", "") or None}
    given = parse({key: text for key, text in query.items() if text is not None})
    more = {**state.more, "name": (name or "").strip()[:60]}
    return replace(state, selection=replace(given, callpath=state.selection.callpath), more=more)


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """The form's button; a selection with a name is kept."""
    # The form is made anew with every page, which counts as a change of its button: that need not reach the server.
    app.clientside_callback(
        ClientsideFunction("logpost", "filled"),
        Output("select-request", "data"),
        Input("select-apply", "n_clicks"),
        State("select-from", "value"),
        State("select-to", "value"),
        State("select-ranks", "value"),
        State("select-name", "value"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Output("select-trouble", "children"),
        Output("named", "data", allow_duplicate=True),
        Input("select-request", "data"),
        State("named", "data"),
        State("url", "pathname"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def apply(request: Any, stored: Any, pathname: Any, query: Any) -> Any:
        if not isinstance(request, list) or len(request) != FIELDS:
            return dash.no_update, "", dash.no_update
        begin, end, ranks, name = request[1:]
        try:
            chosen = chosen_by(read(pathname, query), begin, end, ranks, name)
            called = chosen.more.get("name", "")
            kept = keep(stored, runs[chosen.run].name, called, chosen.selection) if called else dash.no_update
        except InputError as error:
            return dash.no_update, str(error), dash.no_update
        return chosen.search, "", kept
