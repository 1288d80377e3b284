"""A selected call: its parts, the causes of its waits, its call site, and its messages."""

from __future__ import annotations

from typing import Any

import polars as pl
from dash import html

from logpost.analyzer.explain.collective import ExplainedCollective, rows_of
from logpost.analyzer.explain.messages import ROLES, explain
from logpost.analyzer.explain.transfer import ExplainedTransfer, explain_transfers, transfers_of
from logpost.analyzer.run.undivided import SHOWN, together
from logpost.analyzer.words.units import span_text
from logpost.dashboards.app import panels
from logpost.dashboards.app.call_site import call_site
from logpost.dashboards.app.causes import causes_panel
from logpost.dashboards.app.view import View
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.call_parts import call_parts
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import visible
from logpost.errors import InputError

MOST_MESSAGES = 12
MOST_TRANSFERS = 4
"""One-sided transfers of a call that are drawn: each has a row per model."""
MOST_RANKS = 4_096
"""Members up to which a collective operation is replayed for one call of it."""


def section(view: View) -> list[Any]:
    """The call that the URL names; nothing where it names none."""
    if not view.state.more.get("call"):
        return []
    try:
        call = _call(view)
    except InputError as error:
        return [panels.section("", panels.empty(str(error)))]
    rank_name = view.scoped.names[call["location"]]
    known = view.opened.run.facts("regions").filter(pl.col("region") == call["region"]).select("name").collect()
    name = visible(known.item(), 80) if known.height else "Call"
    moved = together(transfers_of(view.opened.run, call["call"]), view.manifest.machine.undivided)
    inks = [
        (ink, palette.label(ink))
        for ink in palette.INKS
        if call.get(f"{ink}_ps") or (f"{ink}_ps" in moved.columns and (moved[f"{ink}_ps"] > 0).any())
    ]
    return [
        panels.section(
            f"{name} of {visible(rank_name, 40)}",
            panels.key(inks),
            html.Div(
                [
                    panels.chart("timeline.call", "Parts of one call", height=130, spoken=True),
                    html.Div(causes_panel(view, call)),
                ],
                className="two",
            ),
            _transfers(view, call["call"]),
            call_site(view, call["callpath"]),
            _messages(view, call["call"]),
            panels.go(view.state.having(call=""), "Close"),
            about=f"{span_text(call['enter_ps'], call['leave_ps'])}.{_of_collective(view, call['call'])}",
        )
    ]


def _call(view: View) -> dict[str, Any]:
    """The row of the call; undivided parts are one part.

    Raises:
        InputError: there is none.
    """
    text, run = view.state.more.get("call", ""), view.opened.run
    number = int(text) if text.isdecimal() and len(text) <= 18 else -1
    rows = together(run.facts("calls").filter(pl.col("call") == number), run.manifest.machine.undivided).collect()
    if rows.is_empty():
        raise InputError(f"the run has no call {text[:20]}; pick one in the timeline")
    return rows.row(0, named=True)


def _of_collective(view: View, call: int) -> str:
    """A note about the rows of a collective operation; empty for another call."""
    mine = (pl.col("call") == call) | (pl.col("complete_call") == call)
    if view.opened.run.facts("collectives").filter(mine).head(1).collect().is_empty():
        return ""
    return " The parts of a collective operation are those of its replayed messages, under each model."


def _messages(view: View, call: int) -> html.P | None:
    """Links to the messages that the call took part in."""
    mine = pl.any_horizontal(pl.col(role) == call for role in ROLES)
    rows = view.opened.run.facts("messages").filter(mine).select("recv_location", "recv_number")
    names = [f"{location}:{number}" for location, number in rows.head(MOST_MESSAGES + 1).collect().iter_rows()]
    if not names:
        return None
    parts: list[Any] = ["Messages of it: "]
    for name in names[:MOST_MESSAGES]:
        parts += [panels.go(view.state.having(call="", message=name), name), " "]
    return html.P([*parts, "and more" if len(names) > MOST_MESSAGES else ""])


def _transfers(view: View, call: int) -> html.P | None:
    """What the rows of one-sided transfers are, and how many are not drawn."""
    count = transfers_of(view.opened.run, call).height
    if not count:
        return None
    longest = f", the {MOST_TRANSFERS} longest of {count}" if count > MOST_TRANSFERS else ""
    return html.P(
        f"One-sided transfers that it starts or completes{longest}, each under each model, from the enter of the call "
        "that started it to the leave of the call that completed it; the order of their parts in time is unknown.",
        className="note",
    )


def _parts(view: View) -> Chart:
    call, run = _call(view), view.opened.run
    operations: tuple[ExplainedCollective, ...] = ()
    if view.scoped.every_location.height <= MOST_RANKS and not rows_of(run, call["call"]).is_empty():
        operations = view.in_background(
            ("call", call["call"]), lambda report: explain(run, str(call["call"]), most=0, report=report).collectives
        )
    moved = transfers_of(run, call["call"])
    transfers: tuple[ExplainedTransfer, ...] = ()
    if view.scoped.every_location.height <= MOST_RANKS and not moved.is_empty():
        transfers = view.in_background(
            ("transfers", call["call"]), lambda report: explain_transfers(run, moved.head(MOST_TRANSFERS), report)
        )
    exposed = {category: int(call.get(f"{category}_ps") or 0) for category in SHOWN if category != "compute"}
    return call_parts(call["leave_ps"] - call["enter_ps"], exposed, operations, transfers, call["enter_ps"])


CHARTS = {"timeline.call": _parts}
