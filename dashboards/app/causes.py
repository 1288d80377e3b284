"""The chain of causes behind a message or a call that waited, in words that lead on; and what a call's place costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from dash import html

from logpost.analyzer.explain.cause_chain import Cause, causes_of_call
from logpost.analyzer.findings.evidence.places import NOWHERE, places_of
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.units import percent_text, time_text
from logpost.dashboards.app import panels
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.labels import visible


def chain(view: View, causes: Sequence[Cause]) -> html.Ol:
    """What each rank did while the one before waited for it, the nearest first."""
    run = view.opened.run
    places = places_of({name: run.facts(name) for name in ("callpaths", "regions")})
    names = view.scoped.names
    items = []
    for cause in causes:
        place = visible(places.get(cause.callpath, NOWHERE).named or "a call that is not known", 120)
        took = f"for {time_text(cause.spent_ps)} of the {time_text(cause.waited_ps)} that were waited"
        said = f"{visible(names[cause.location], 40)} {'computed before' if cause.computes else 'was in'} "
        parts: list[Any] = [said, html.Code(place), f" {took}"]
        if cause.message is not None:
            parts += [", where it waited for ", message_link(view, cause.message)]
        elif cause.in_collective:
            parts.append(", where it waited for the last member of a collective operation")
        items.append(html.Li(parts))
    return html.Ol(items, className="chain")


def message_link(view: View, message: tuple[int, int]) -> Any:
    """A link to a message's parts, instead of the selected call or message."""
    name = f"{message[0]}:{message[1]}"
    return panels.go(view.state.having(call="", message=name), f"message {name}")


def causes_panel(view: View, call: Mapping[str, Any]) -> list[Any]:
    """What a call waited for, its part on the critical path, and the waits of other ranks that its call path causes.

    Args:
        view: of the run.
        call: its row of the table `calls`.
    """
    found = causes_of_call(view.opened.run, call["call"])
    parts: list[Any] = [html.H3("What it waited for")]
    if found is None:
        parts.append(html.P("It waited for no other rank.", className="note"))
    else:
        what: Any = "the last member of its collective operation"
        if found.message is not None:
            what = message_link(view, found.message)
        parts.append(html.P([f"For {time_text(found.waited_ps)}, longest for ", what, "."]))
        if found.causes:
            parts.append(chain(view, found.causes))
    return [html.Div([*parts, html.P(_on_path(view, call), className="note"), *_delays(view, call)])]


def _on_path(view: View, call: Mapping[str, Any]) -> str:
    """How much of the call is on the critical path."""
    path = view.opened.run.facts("critical_path")
    begin, end = call["enter_ps"], call["leave_ps"]
    inside = pl.min_horizontal("end_ps", pl.lit(end)) - pl.max_horizontal("begin_ps", pl.lit(begin))
    mine = path.filter(pl.col("location") == call["location"], pl.col("begin_ps") < end, pl.col("end_ps") > begin)
    known, spent = path.head(1).collect().height, mine.select(inside.sum()).collect().item() or 0
    if not known:
        return "The run has no critical path."
    if not spent:
        return "It is not on the critical path: shorter, it would not make the program shorter."
    return (
        f"{time_text(spent)} of it ({percent_text(spent / max(1, end - begin))}) are on the critical path: as much "
        "shorter the program could be, at most."
    )


def _delays(view: View, call: Mapping[str, Any]) -> list[html.P]:
    """The waits of other ranks that the calls of its call path cause, on its rank, over the whole program."""
    rows = view.opened.run.table("delay_costs").filter(
        pl.col("location") == call["location"], pl.col("callpath") == call["callpath"]
    )
    costs = rows.group_by("place").agg(wide_sum("short_term_ps", "long_term_ps")).collect()
    said = {
        "calls": ("The calls of this place", "make"),
        "computation": ("Computation before the calls of this place", "makes"),
    }
    found = []
    for place, direct, passed in costs.select("place", "short_term_ps", "long_term_ps").iter_rows():
        if place in said and direct + passed > 0:
            found.append(
                html.P(
                    f"{said[place][0]}, on this rank and over the whole program, {said[place][1]} others wait for "
                    f"{time_text(direct + passed)}: {time_text(direct)} directly, {time_text(passed)} passed on.",
                    className="note",
                )
            )
    return found
