"""The search field: regions select their call path, findings all that they are about."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import dash
import polars as pl
from dash import Input, Output, State

from logpost.analyzer.words.categories import WAITS_AT_RECEIVER
from logpost.analyzer.words.labels import folded_path
from logpost.analyzer.words.location_names import Rank
from logpost.dashboards.app.runs import Opened, Runs
from logpost.dashboards.app.state import State as ViewState
from logpost.dashboards.app.state import read
from logpost.dashboards.figures.labels import visible
from logpost.dashboards.selection.selection import Selection, spans_of
from logpost.errors import InputError

MOST = 40
"""Results listed; more letters narrow them down."""


def options(opened: Opened, text: str) -> list[dict[str, str]]:
    """At most `MOST` findings and call paths whose words hold the text."""
    wanted = text.casefold()
    found = [
        {"label": f"Finding: {visible(one.title, 90)}", "value": f"finding:{number}"}
        for number, one in enumerate(opened.report.findings)
        if wanted in one.title.casefold()
    ]
    for callpath, path in opened.paths:
        if len(found) >= MOST:
            break
        if wanted in path.casefold():
            shown = folded_path(path)
            found.append({"label": shown if len(shown) <= 90 else "…" + visible(shown[-89:], 90),
                          "value": f"path:{callpath}"})  # fmt: skip
    return found[:MOST]


def picked(opened: Opened, state: ViewState, number: int) -> ViewState:
    """The view with the ranks of a finding and those that wait for them, its time and its call path.

    Raises:
        InputError: there is no such finding.
    """
    if not 0 <= number < len(opened.report.findings):
        raise InputError(f"the run has no finding {number}")
    one = opened.report.findings[number]
    timed = one.first_window >= 0 and one.end_ps > one.begin_ps
    callpath = opened.finding_callpaths[number]
    selection = Selection(
        one.begin_ps if timed else None,
        one.end_ps if timed else None,
        spans_of({*one.ranks, *_waiting_for(opened, one.ranks)}),
        callpath if callpath >= 0 else None,
    )
    return replace(state.selecting(selection).having(finding=str(number)), page="hotspots")


def _waiting_for(opened: Opened, ranks: Collection[Rank]) -> set[Rank]:
    """Receivers of late messages of these ranks, and senders whose messages wait at these ranks."""
    of_rank = opened.run.table("locations").select("location", "rank").filter(pl.col("rank") >= 0)
    sender, receiver = (of_rank.rename({"location": f"{end}_location", "rank": end}) for end in ("send", "recv"))
    queued = pl.sum_horizontal(f"{part}_ps" for part in WAITS_AT_RECEIVER) > 0
    pairs = opened.run.table("pairs").join(sender, on="send_location").join(receiver, on="recv_location")
    waiting = pl.concat(
        [
            pairs.filter(pl.col("late_sender_ps") > 0, pl.col("send").is_in(list(ranks))).select(rank="recv"),
            pairs.filter(queued, pl.col("recv").is_in(list(ranks))).select(rank="send"),
        ]
    )
    return {Rank(rank) for rank in waiting.unique().collect()["rank"]}


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """What the field offers, and what is chosen."""

    @app.callback(
        Output("url", "href"),
        Output("search", "value"),
        Input("search", "value"),
        State("url", "pathname"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def chosen(value: str | None, pathname: str | None, query: str | None) -> Any:
        kind, _, number = (value or "").partition(":")
        if not number.isdecimal():
            return dash.no_update, dash.no_update
        try:
            state = read(pathname, query)
            opened = runs[state.run]
            if kind == "finding":
                return picked(opened, state, int(number)).href, None
        except InputError:
            return dash.no_update, None
        return state.selecting(replace(state.selection, callpath=int(number))).href, None

    @app.callback(
        Output("search", "options"),
        Input("search", "search_value"),
        Input("run", "value"),
    )
    def offered(text: str | None, name: str) -> Any:
        """Regions and findings that hold the text."""
        try:
            return options(runs[name], text or "")
        except Exception:
            return []
