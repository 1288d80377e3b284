"""Charts of every page: each is computed when the browser requests it, drawn there, and its work can be stopped."""

from __future__ import annotations

import traceback
from html import unescape
from typing import Any

import dash
import polars as pl
from dash import MATCH, ClientsideFunction, Input, Output, State, html

from logpost.dashboards.app import pages
from logpost.dashboards.app.figure_cache import Drawn
from logpost.dashboards.app.jobs import StoppedError, WorkingError
from logpost.dashboards.app.panels import go
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.errors import InputError


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """What the server computes of a chart, and what the browser draws of it."""
    _on_server(app, runs)
    _in_browser(app)


def _on_server(app: dash.Dash, runs: Runs) -> None:
    makers = pages.chart_makers()

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
            drawn = runs.figures.of(place["chart"], makers[place["chart"]], view)
        except WorkingError as working:
            return dash.no_update, working_text(working), False
        except StoppedError as stopped:
            return dash.no_update, stopped_text(stopped), True
        except Exception as error:
            return None, html.Span(said(error), className="trouble"), True
        return drawn[0], below(drawn, view), True

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
            runs.figures.of(place["chart"], makers[place["chart"]], View(runs, read(pathname, query)))
        except WorkingError as working:
            if not pressed.get("again"):  # else another chart that waits for it has begun it again
                runs.jobs.stop(working.key)
        except StoppedError as stopped:
            if pressed.get("again"):
                runs.jobs.again(stopped.key)
        except Exception:
            pass  # the chart says why
        return False, (ticks or 0) + 1


def _in_browser(app: dash.Dash) -> None:
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


def below(drawn: Drawn, view: View) -> list[Any]:
    """The caption below a chart."""
    _, summary, (left_open, offered) = drawn
    # A summary is made for plotly, where names are escaped; here React escapes it.
    said: list[Any] = [html.Span(unescape(summary), className="said")]
    if left_open and offered:
        said += [" ", go(view.state.having(**offered), unescape(left_open))]
    return said


def working_text(working: WorkingError) -> html.Span:
    """How far the work is, and the button that stops it."""
    button = html.Button("Stop", className="plain", **_pressed(again=False))
    return html.Span([f"Working: {working} … ", button], className="working")


def stopped_text(stopped: StoppedError) -> html.Span:
    """That the work was stopped, or its price, with the button that starts it."""
    button = html.Button("Begin", className="plain", **_pressed(again=True))
    return html.Span([f"{stopped} ", button], className="working")


def _pressed(*, again: bool) -> dict[str, Any]:
    """What the page's script reads of a button: by its clicks Dash would lose one that comes with the next line of how
    far the work is, which brings a new button."""
    return {"data-again": "1" if again else ""}


def said(error: Exception) -> str:
    """One line; a bug is printed to the terminal with its traceback."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, (pl.exceptions.PolarsError, OSError)):
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        return f"a table of the run cannot be read: {first}; analyze the archive again"
    traceback.print_exception(error)
    return f"a bug in logpost: {type(error).__name__}; the terminal has the details"
