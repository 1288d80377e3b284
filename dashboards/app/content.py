"""The content of the page that the URL names, with the links to the other pages and the line of the selection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import dash
from dash import Input, Output, State, dcc, html

from logpost.dashboards.app import pages, selection_bar
from logpost.dashboards.app.charts import below, said, stopped_text
from logpost.dashboards.app.jobs import StoppedError, WorkingError
from logpost.dashboards.app.panels import charts, empty, fill, say, warnings
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State as ViewState
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.errors import InputError


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """The page follows the URL."""
    by_name = pages.by_name()

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
            return [trouble(text, ViewState())], links(ViewState(), runs), [], None, dash.no_update, True

        try:
            state = read(pathname, query)
        except InputError as error:
            return nothing(str(error))
        page = by_name.get(state.page)
        if page is None:
            return nothing("there is no such page")
        view = View(runs, state)
        try:
            run = view.opened.name
        except InputError as error:
            return nothing(str(error))
        # What stays is not sent: other callbacks wait for a change of the run, and a form is drawn as long as a page.
        selected = selection_bar.key(state)
        bar = selection_of(view) if selected != selection else dash.no_update
        shown, ready = shown_page(view)
        return shown, links(state, runs), bar, selected, dash.no_update if run == chosen else run, ready


def shown_page(view: View) -> tuple[list[Any], bool]:
    """The content of the page, and whether it is complete."""
    page = pages.by_name()[view.state.page]
    try:
        # They are about every figure of the run; the page of comparisons has those of both runs.
        warned = [] if page.NAME == "compare" else warnings(view.report.warnings)
        shown = [*warned, *page.layout(view)]
        _fill(shown, view, page.priced(view) if hasattr(page, "priced") else {})
    except WorkingError as working:
        return [empty(f"Working: {working} …")], False
    except StoppedError as stopped:  # by a chart of another page
        view.runs.jobs.again(stopped.key)
        return [empty("Working …")], False
    except Exception as error:
        return [trouble(said(error), view.state)], True
    return shown, True


def selection_of(view: View) -> Any:
    """The parts of the page that state the selection."""
    return _guarded(lambda: selection_bar.layout(view))


def links(state: ViewState, runs: Runs) -> list[dcc.Link]:
    return [
        dcc.Link(page.TITLE, href=state.at(page.NAME).href, className="here" if page.NAME == state.page else "")
        for page in pages.PAGES
        if page.NAME != "compare" or len(runs.names) > 1
    ]


def _fill(shown: Iterable[Any], view: View, priced: Mapping[str, StoppedError]) -> None:
    """Give a page the charts in the cache, and the price of those that a user must start."""
    for name, place in charts(shown):
        drawn = view.runs.figures.known(name, view)
        if drawn is not None:
            fill(place, drawn[0], below(drawn, view))
        elif name in priced:
            say(place, stopped_text(priced[name]))


def _guarded(make: Any) -> Any:
    """What `make` returns, or nothing."""
    try:
        return make()
    except Exception:
        # The page says it, too.
        return []


def trouble(text: str, state: ViewState) -> html.P:
    whole = ViewState(state.page if state.page in pages.by_name() else "", state.run)
    return html.P([text, " · ", dcc.Link("show the whole run", href=whole.href)], className="banner loud", role="alert")
