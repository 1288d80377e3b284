"""Messages: senders and receivers, sizes and durations, measured against the model, down to one message's partition."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import dash
import dash_ag_grid
import polars as pl
from dash import html

from logpost.analyzer.explain.cause_chain import causes_of
from logpost.analyzer.explain.messages import Explanation, candidates, explain
from logpost.analyzer.words.units import bytes_text, span_text
from logpost.dashboards.app import between_ranks, panels
from logpost.dashboards.app.call_site import call_site
from logpost.dashboards.app.causes import chain
from logpost.dashboards.app.picking import on_row
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.view import View
from logpost.dashboards.figures import palette, sizes
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.heat import Measure
from logpost.dashboards.figures.labels import visible
from logpost.dashboards.figures.matrix import MEASURES, matrix, of_parts
from logpost.dashboards.figures.partition import partition
from logpost.dashboards.selection import messages
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.errors import InputError

NAME, TITLE = "messages", "Messages"
MOST_ROWS = 128
WORST = 30
"""Messages listed: a screen of 1,080 pixels has no room for more."""
FITTED = (
    "Time without waits. The band holds the middle half of the messages of a size; where the dashed line leaves it, "
    "the machine's values do not fit."
)
UNFITTED = (
    "Time without waits. The part above the dashed line belongs to transport, not divided further: this estimated "
    "machine does not distinguish it. Where the line is above the measured time, the model predicts too much."
)


def layout(view: View) -> list[Any]:
    """The message that is chosen first; the matrix next to the distributions; the messages that fit worst."""
    some = view.manifest.messages > 0
    measures, first = _measures(view)
    left = panels.section(
        "Traffic by sender and receiver",
        panels.chart(
            "messages.matrix",
            "Sender by receiver",
            [measure.label for measure, _ in measures],
            first,
            height=420,
            drag="select2d",
        ),
        _parts_of_time(view),
        about="A click selects sender and receiver; a rectangle all senders and receivers in it.",
    )
    what = _counted_as(view).capitalize()
    right = panels.section(
        "Sizes and times",
        panels.chart("messages.sizes", f"{what} by size", [what, "Bytes", "Time"], height=300),
        panels.chart("messages.times", f"{what} by time in flight", [what, "Time"], height=300),
    )
    both = html.Div([left, right], className="two")
    if not some:
        return [both, panels.empty("The trace has no matched messages: what is shown are one-sided transfers.")]
    return [
        *chosen(view),
        both,
        panels.section(
            "Measured against model",
            panels.chart("messages.model", "Measured and modelled time over size", height=320),
            about=FITTED if "residual" not in view.manifest.machine.undivided else UNFITTED,
        ),
        panels.section(
            "Messages that the model explains worst",
            _worst(view),
            about="Pick one to see its partition under each model.",
        ),
    ]  # fmt: skip


def _parts(view: View) -> dict[str, tuple[Measure, tuple[str, ...]]]:
    return of_parts(view.manifest.machine.undivided)


def _measures(view: View) -> tuple[list[tuple[Measure, tuple[str, ...]]], int]:
    """What the matrix can show, and which of it first: one part of the messages' time, where the URL names one."""
    named = _parts(view).get(view.state.more.get("part", ""))
    return ([*MEASURES, named], len(MEASURES)) if named else (list(MEASURES), 0)


def _parts_of_time(view: View) -> html.P:
    """A link to the matrix of every part of the messages' time."""
    links: list[Any] = []
    for category in _parts(view):
        links += [", " if links else "", panels.go(view.state.having(part=category), palette.label(category))]
    return html.P(["Time of one part: ", *links], className="note")


def _counted_as(view: View) -> str:
    return "messages" if view.manifest.messages else "transfers"


def chosen(view: View) -> list[html.Section]:
    """The message that the URL names; nothing where it names none."""
    name = view.state.more.get("message", "")
    if not name:
        return []
    return [
        panels.section(
            f"Message {visible(name, 40)}",
            panels.chart("messages.partition", "One message's time under each model", height=200),
            *_sites(view, name),
            *_causes(view, name),
            panels.go(view.state.having(message=""), "Close"),
            about=_ends(view, name),
        )
    ]


def _ends(view: View, chosen: str) -> str:
    """The message's size, sender, receiver and times; empty for a message that is not in the run."""
    end = _end(chosen)
    if end is None:
        return ""
    here = (pl.col("recv_location") == end[0]) & (pl.col("recv_number") == end[1])
    found = view.opened.run.table("messages").filter(here).collect()
    if found.is_empty():
        return ""
    row, names = found.row(0, named=True), view.scoped.names
    ranks = f"from {visible(names[row['send_location']], 40)} to {visible(names[row['recv_location']], 40)}"
    when = span_text(row["send_enter_ps"], row["recv_leave_ps"])
    return f"{bytes_text(row['bytes'])} {ranks}; its calls: {when}."


def _end(chosen: str) -> tuple[int, int] | None:
    """Receiving location and number of a message's name; None: it is none."""
    matched = re.fullmatch(r"(\d{1,9}):(\d{1,9})", chosen)
    return (int(matched[1]), int(matched[2])) if matched else None


def _causes(view: View, chosen: str) -> list[Any]:
    """The chain of waits that delayed the message."""
    end, run = _end(chosen), view.opened.run
    found = causes_of(run, *end) if end else []
    if not found:
        return []
    return [html.H3("What it waited for"), chain(view, found)]


def _sites(view: View, chosen: str) -> list[Any]:
    """Where the message is sent and where it is received, as far as the trace says."""
    end = _end(chosen)
    if end is None:
        return []
    location, number = end
    here = (pl.col("recv_location") == location) & (pl.col("recv_number") == number)
    found = view.opened.run.table("messages").filter(here).select("send_callpath", "recv_callpath").collect()
    if found.is_empty():
        return []
    sent, received = found.row(0)
    return [call_site(view, sent, "Sent at"), call_site(view, received, "Received at")]


def _worst(view: View) -> Any:
    try:
        found = view.cached(
            ("worst", view.state.selection), lambda: candidates(view.opened.run, WORST, view.scoped.messages())
        )
    except InputError:
        return panels.empty("No message in the selection.")
    rows = [
        {
            "id": str(number),
            "message": one.name,
            "sender": visible(one.sender, 40),
            "receiver": visible(one.receiver, 40),
            "region": visible(one.region, 80),
            "size": bytes_text(one.bytes),
            "envelope": one.envelope_ps / 1e6,
            "residual": None if one.residual_ps is None else one.residual_ps / 1e6,
            "deficit": one.deficit_ps / 1e6,
        }
        for number, one in enumerate(found)
    ]
    number: dict[str, Any] = {
        "filter": "agNumberColumnFilter",
        "type": "rightAligned",
        "width": 145,
        "valueFormatter": {"function": "params.value == null ? '–' : d3.format(',.3~r')(params.value)"},
    }
    columns = [
        {"field": "message", "headerName": "message", "width": 110},
        {"field": "sender", "headerName": "sender", "width": 110, "filter": "agTextColumnFilter"},
        {"field": "receiver", "headerName": "receiver", "width": 110, "filter": "agTextColumnFilter"},
        {
            "field": "region",
            "headerName": "received in",
            "flex": 1,
            "minWidth": 180,
            "wrapText": True,
            "autoHeight": True,
            "filter": "agTextColumnFilter",
        },
        {"field": "size", "headerName": "size", "width": 110, "type": "rightAligned"},
        {"field": "envelope", "headerName": "envelope (µs)", **number},
        {"field": "residual", "headerName": "residual (µs)", **number},
        {"field": "deficit", "headerName": "deficit (µs)", **number},
    ]
    made = dash_ag_grid.AgGrid(
        id="worst",
        rowData=rows,
        columnDefs=columns,
        defaultColDef={"sortable": True, "resizable": True},
        getRowId="params.data.id",
        dashGridOptions={
            "rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True},
            "animateRows": False,
        },
        style={"height": "300px"},
        className="grid",
        dangerously_allow_code=False,
    )
    return panels.grid(made, "300px")


def _matrix(view: View) -> Chart:
    scoped = view.scoped
    pairs = between_ranks.pairs(view, scoped)
    # With some ranks selected the others stay in the picture: each message has an end that is selected.
    whole = view.runs.scoped(view.state.run, type(scoped.selection)())
    on = whole.rows(MOST_ROWS if whole.locations.height <= MOST_ROWS else 64)
    measures, first = _measures(view)
    return panels.brushable(replace(matrix(pairs, on, measures), first=first), on, whole, "pair")


def _partition(view: View) -> Chart:
    run, target = view.opened.run, view.state.more.get("message", "")
    if ":" not in target:
        raise InputError("a message is RECEIVER:NUMBER; pick one in the table below")
    found: Explanation = view.in_background(("explain", target), lambda report: explain(run, target, report=report))
    return partition(found.messages[0])


def _model(view: View) -> Chart:
    found = view.in_background(
        ("model", view.state.selection), lambda _report: messages.measured_and_modelled(view.scoped)
    )
    return sizes.measured_and_modelled(_none(found))


def _counted(view: View, count: Callable[[SelectedRun], Any]) -> Any:
    return _none(view.in_background((count.__name__, view.state.selection), lambda _report: count(view.scoped)))


def _none(classes: Any) -> Any:
    if classes.is_empty():
        raise InputError("no message or transfer in the selection")
    return classes


CHARTS = {
    "messages.matrix": _matrix,
    "messages.sizes": lambda view: sizes.by_size(_counted(view, messages.by_size), _counted_as(view)),
    "messages.times": lambda view: sizes.by_time(_counted(view, messages.by_time), _counted_as(view)),
    "messages.model": _model,
    "messages.partition": _partition,
}


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """The URL states the selected message."""
    on_row(app, "worst", lambda state, row: state.having(message=str(row["message"])))
