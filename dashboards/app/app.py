"""The Dash application: the frame around the pages, and the few callbacks that all of them share."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from html import unescape
from typing import Any

import dash
import flask
import polars as pl
from dash import MATCH, ClientsideFunction, Input, Output, State, dcc, html

from logpost.dashboards.app import named, picking, search, selection_bar
from logpost.dashboards.app.figure_cache import Drawn
from logpost.dashboards.app.first_look import first_look
from logpost.dashboards.app.guard import guard
from logpost.dashboards.app.jobs import StoppedError, WorkingError
from logpost.dashboards.app.pages import PAGES
from logpost.dashboards.app.panels import aria, charts, empty, fill, go, say
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.scripts import compress, tables_on_demand
from logpost.dashboards.app.state import State as ViewState
from logpost.dashboards.app.state import read
from logpost.dashboards.app.style import INDEX, before_js, stand_in_js, style
from logpost.dashboards.app.view import View
from logpost.dashboards.figures import palette
from logpost.errors import InputError

CHARTS = {name: make for page in PAGES for name, make in page.CHARTS.items()}
BY_NAME = {page.NAME: page for page in PAGES}


def make_app(runs: Runs, token: str | None = None) -> dash.Dash:
    """The application over the runs; with a token, only requests that have the token are served."""
    tables_on_demand()
    app = _Dash(
        runs,
        __name__,
        title="logpost",
        update_title=None,
        serve_locally=True,
        suppress_callback_exceptions=True,
        index_string=INDEX,
        add_log_handler=False,
        enable_mcp=False,
    )
    server: flask.Flask = app.server
    for file, made, kind in (
        ("style.css", style, "text/css"),
        ("before.js", before_js, "text/javascript"),
        ("stand_in.js", stand_in_js, "text/javascript"),
    ):
        server.add_url_rule(f"/_logpost/{file}", file, partial(_text, made, kind))
    guard(server, token, app.csp_hashes)
    compress(server)
    app.layout = _frame(runs)
    _callbacks(app, runs)
    selection_bar.callbacks(app, runs)
    named.callbacks(app, runs)
    search.callbacks(app, runs)
    picking.callbacks(app)
    for page in PAGES:
        if hasattr(page, "callbacks"):
            page.callbacks(app, runs)
    return app


def _text(made: Callable[[], str], kind: str) -> flask.Response:
    return flask.Response(made(), mimetype=kind)


class _Dash(dash.Dash):
    """The application, whose first HTML shows the page of the URL where that has been made."""

    def __init__(self, runs: Runs, *args: Any, **more: Any) -> None:
        self._runs = runs
        super().__init__(*args, **more)

    def interpolate_index(self, **parts: str) -> str:  # type: ignore[override]
        request = flask.request
        entry = _first_look(self._runs, request.path, request.query_string.decode()) + parts.pop("app_entry")
        # Otherwise the browser reads all scripts before it draws the elements above them.
        parts["scripts"] = parts["scripts"].replace("<script src=", "<script defer src=")
        parts["renderer"] = parts["renderer"].replace('type="application/javascript"', 'type="module"')
        return str(super().interpolate_index(**parts, app_entry=entry))  # type: ignore[no-untyped-call]


def _first_look(runs: Runs, pathname: str, query: str) -> str:
    """HTML of the URL's page before its scripts run; empty for a page that is not computed yet."""
    try:
        state = read(pathname, query)
        view = View(runs, state)
        if not runs.figures.was_shown(view):
            return ""
        page, ready = _shown(view)
        filled = {"page": page, "nav": _links(state, runs), "selection": _bar(view)}
        return first_look(_frame(runs), filled) if ready else ""
    except Exception:  # the page itself says what is wrong
        return ""


def _frame(runs: Runs) -> html.Div:
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


def _callbacks(app: dash.Dash, runs: Runs) -> None:
    @app.callback(
        Output("page", "children"),
        Output("nav", "children"),
        Output("selection", "children"),
        Output("selection-shown", "data"),
        Output("run", "value"),
        Output("again", "disabled"),
        Input("again", "n_intervals"),
        Input("url", "pathname"),
        Input("url", "search"),
        State("run", "value"),
        State("selection-shown", "data"),
    )
    def show(
        _again: int | None, pathname: str | None, query: str | None, chosen: str | None, selection: str | None
    ) -> Any:
        """The page of the URL."""

        def nothing(text: str) -> Any:
            return [_trouble(text, ViewState())], _links(ViewState(), runs), [], None, dash.no_update, True

        try:
            state = read(pathname, query)
        except InputError as error:
            return nothing(str(error))
        page = BY_NAME.get(state.page)
        if page is None:
            return nothing("there is no such page")
        view = View(runs, state)
        try:
            run = view.opened.name
        except InputError as error:
            return nothing(str(error))
        # What stays is not sent: other callbacks wait for a change of the run, and a form is drawn as long as a page.
        selected = selection_bar.key(state)
        bar = _bar(view) if selected != selection else dash.no_update
        shown, ready = _shown(view)
        return shown, _links(state, runs), bar, selected, dash.no_update if run == chosen else run, ready

    @app.callback(
        Output({"part": "payload", "chart": MATCH}, "data"),
        Output({"part": "caption", "chart": MATCH}, "children"),
        Output({"part": "tick", "chart": MATCH}, "disabled"),
        Input({"part": "tick", "chart": MATCH}, "n_intervals"),
        State({"part": "tick", "chart": MATCH}, "id"),
        State("url", "pathname"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def compute(_ticks: int | None, place: dict[str, str], pathname: str | None, query: str | None) -> Any:
        """A chart's data."""
        try:
            view = View(runs, read(pathname, query))
            drawn = runs.figures.of(place["chart"], CHARTS[place["chart"]], view)
        except WorkingError as working:
            return dash.no_update, _working(working), False
        except StoppedError as stopped:
            return dash.no_update, _stopped(stopped), True
        except Exception as error:
            return None, html.Span(_said(error), className="trouble"), True
        return drawn[0], _below(drawn, view), True

    @app.callback(
        Output({"part": "tick", "chart": MATCH}, "disabled", allow_duplicate=True),
        Output({"part": "tick", "chart": MATCH}, "n_intervals"),
        Input({"part": "pressed", "chart": MATCH}, "data"),
        State({"part": "tick", "chart": MATCH}, "id"),
        State({"part": "tick", "chart": MATCH}, "n_intervals"),
        State("url", "pathname"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def stop(pressed: Any, place: dict[str, str], ticks: int | None, pathname: str | None, query: str | None) -> Any:
        """Stop what a chart waits for, or begin what was stopped or has a price; the chart then requests its state."""
        if not isinstance(pressed, dict):
            return dash.no_update, dash.no_update
        try:
            runs.figures.of(place["chart"], CHARTS[place["chart"]], View(runs, read(pathname, query)))
        except WorkingError as working:
            if not pressed.get("again"):  # else another chart that waits for it has begun it again
                runs.jobs.stop(working.key)
        except StoppedError as stopped:
            if pressed.get("again"):
                runs.jobs.again(stopped.key)
        except Exception:
            pass  # the chart says why
        return False, (ticks or 0) + 1

    app.clientside_callback(
        ClientsideFunction("logpost", "draw"),
        Output({"part": "graph", "chart": MATCH}, "figure"),
        Input({"part": "view", "chart": MATCH}, "value"),
        Input("theme", "data"),
        State({"part": "payload", "chart": MATCH}, "data"),
        State("colours", "data"),
        State({"part": "graph", "chart": MATCH}, "id"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("logpost", "ask"), Output("requested", "data"), Input("page", "children")
    )
    app.clientside_callback(
        ClientsideFunction("logpost", "sketch"),
        Output({"part": "sketch", "chart": MATCH}, "children"),
        Input({"part": "payload", "chart": MATCH}, "data"),
        Input({"part": "view", "chart": MATCH}, "value"),
        State("colours", "data"),
        State({"part": "sketch", "chart": MATCH}, "id"),
    )
    app.clientside_callback(
        ClientsideFunction("logpost", "later"),
        Output({"part": "graph-place", "chart": MATCH}, "children"),
        Input({"part": "payload", "chart": MATCH}, "data"),
        State({"part": "view", "chart": MATCH}, "value"),
        State({"part": "later", "chart": MATCH}, "data"),
        State("colours", "data"),
    )
    app.clientside_callback(
        ClientsideFunction("logpost", "started"),
        Output({"part": "view", "chart": MATCH}, "value"),
        Input({"part": "payload", "chart": MATCH}, "data"),
        State({"part": "view", "chart": MATCH}, "value"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        ClientsideFunction("logpost", "grid"),
        Output({"part": "grid-place", "grid": MATCH}, "children"),
        Input({"part": "grid", "grid": MATCH}, "data"),
    )
    app.clientside_callback(
        ClientsideFunction("logpost", "height"),
        Output({"part": "place", "chart": MATCH}, "style"),
        Input({"part": "payload", "chart": MATCH}, "data"),
        State({"part": "place", "chart": MATCH}, "style"),
    )
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

    @app.callback(
        Output("search", "options"),
        Input("search", "search_value"),
        Input("run", "value"),
    )
    def options(text: str | None, name: str) -> Any:
        """Regions and findings that hold the text."""
        try:
            return search.options(runs[name], text or "")
        except Exception:
            return []


def _shown(view: View) -> tuple[list[Any], bool]:
    """The content of the page, and whether it is complete."""
    page = BY_NAME[view.state.page]
    try:
        shown = page.layout(view)
        _fill(shown, view, page.priced(view) if hasattr(page, "priced") else {})
    except WorkingError as working:
        return [empty(f"Working: {working} …")], False
    except StoppedError as stopped:  # by a chart of another page
        view.runs.jobs.again(stopped.key)
        return [empty("Working …")], False
    except Exception as error:
        return [_trouble(_said(error), view.state)], True
    view.runs.figures.mark_shown(view)
    return shown, True


def _bar(view: View) -> Any:
    """What says the selection."""
    return _guarded(lambda: selection_bar.layout(view))


def _links(state: ViewState, runs: Runs) -> list[dcc.Link]:
    return [
        dcc.Link(page.TITLE, href=state.at(page.NAME).href, className="here" if page.NAME == state.page else "")
        for page in PAGES
        if page.NAME != "compare" or len(runs.names) > 1
    ]


def _fill(shown: Iterable[Any], view: View, priced: Mapping[str, StoppedError]) -> None:
    """Give a page the charts in the cache, and the price of those that a user must start."""
    for name, place in charts(shown):
        drawn = view.runs.figures.known(name, view)
        if drawn is not None:
            fill(place, drawn[0], _below(drawn, view))
        elif name in priced:
            say(place, _stopped(priced[name]))


def _below(drawn: Drawn, view: View) -> list[Any]:
    """What a chart says below it."""
    _, summary, (left_open, offered) = drawn
    # A summary is made for plotly, where names are escaped; here React escapes it.
    said: list[Any] = [html.Span(unescape(summary), className="said")]
    if left_open and offered:
        said += [" ", go(view.state.having(**offered), unescape(left_open))]
    return said


def _guarded(make: Any) -> Any:
    """What `make` returns, or nothing."""
    try:
        return make()
    except Exception:
        # The page says it, too.
        return []


def _trouble(text: str, state: ViewState) -> html.P:
    whole = ViewState(state.page if state.page in BY_NAME else "", state.run)
    return html.P([text, " · ", dcc.Link("show the whole run", href=whole.href)], className="banner loud", role="alert")


def _working(working: WorkingError) -> html.Span:
    """How far the work is, and the button that stops it."""
    button = html.Button("Stop", className="plain", **_pressed(again=False))
    return html.Span([f"Working: {working} … ", button], className="working")


def _stopped(stopped: StoppedError) -> html.Span:
    """That the work was stopped, or its price, with the button that starts it."""
    button = html.Button("Begin", className="plain", **_pressed(again=True))
    return html.Span([f"{stopped} ", button], className="working")


def _pressed(*, again: bool) -> dict[str, Any]:
    """What the page's script reads of a button: by its clicks Dash would lose one that comes with the next line of how
    far the work is, which brings a new button."""
    return {"data-again": "1" if again else ""}


def _said(error: Exception) -> str:
    """One line; a bug is printed to the terminal with its traceback."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, (pl.exceptions.PolarsError, OSError)):
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        return f"a table of the run cannot be read: {first}; analyze the archive again"
    traceback.print_exception(error)
    return f"a bug in logpost: {type(error).__name__}; the terminal has the details"
