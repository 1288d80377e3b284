"""Hotspots: the findings as a table; a selected one sets every page to its ranks, its time and its call path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import dash
import dash_ag_grid
from dash import html

from logpost.analyzer.findings.wording.numbers import TIME_SAVED, span_of
from logpost.analyzer.report.data import NO_FINDING, PlacedFinding
from logpost.analyzer.words.units import percent_text, span_text, time_text
from logpost.dashboards.app import between_ranks, panels
from logpost.dashboards.app.call_site import call_site
from logpost.dashboards.app.pages.without import without
from logpost.dashboards.app.picking import on_row
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.search import picked
from logpost.dashboards.app.state import State as ViewState
from logpost.dashboards.app.view import View
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import prose, tied, visible
from logpost.dashboards.figures.load import MEASURES as LOADS
from logpost.dashboards.figures.matrix import MEASURES, matrix
from logpost.dashboards.figures.queueing import first_view
from logpost.dashboards.report.findings import cure_rows
from logpost.dashboards.selection.selected_run import SelectedRun

NAME, TITLE = "hotspots", "Hotspots"
ELSEWHERE = (("timeline", "Timeline"), ("messages", "Messages"), ("regions", "Regions"), ("whatif", "What if"))

TALL, LOW = 320, 190
"""Pixels of a long table: before a finding is selected, and with the selected finding below it."""


def layout(view: View) -> list[Any]:
    """The table, the selected finding, and the traffic around it; without findings why, and the traffic."""
    found = view.report.findings
    number = _chosen(view)
    kind = found[number or 0].kind if found else ""
    of_pairs = [measure for measure, _ in MEASURES]
    chosen = view.state.selection
    scope = "Of all ranks, also those that are not selected." if chosen.ranks or chosen.callpath is not None else ""
    pairs = panels.section(
        "Traffic by sender and receiver",
        panels.chart(
            "hotspots.matrix",
            "Sender by receiver",
            [m.label for m in of_pairs],
            first_view(of_pairs, kind),
            420,
            drag="select2d",
        ),
        about=scope,
    )
    loads = panels.section(
        "Load of each rank over time",
        panels.chart(
            "hotspots.load",
            "Load of each rank over time",
            [m.label for m in LOADS],
            first_view(LOADS, kind),
            420,
            drag="zoom2d",
        ),
        about=scope,
    )
    if not found:
        why = f"{NO_FINDING} The traffic is below."
        table = panels.section("Hotspots", panels.empty(why), panels.note(view.report.conclusion))
    else:
        table = panels.section(
            "Hotspots",
            *([panels.covered(view.report.coverage)] if number is None and view.report.coverage.lost_ps else []),
            _grid(view, number),
            about="The largest gain first. A picked row selects its time, call path, ranks and those that wait for "
            "them." + (f" {TIME_SAVED}" if number is None else ""),
        )
    if number is None:
        return [table, html.Div([pairs, loads], className="two")]
    # The details of the selected rank are next to the traffic, below a shorter table: one screen shows all three.
    return [table, html.Div([_detail(view, found[number]), pairs], className="two"), loads]


def _chosen(view: View) -> int | None:
    text = view.state.more.get("finding", "")
    return int(text) if text.isdecimal() and int(text) < len(view.report.findings) else None


def _detail(view: View, found: PlacedFinding) -> html.Section:
    evidence = [html.Div(panels.sentence(f"{what}: {value}")) for what, value in found.evidence_rows]
    rows: list[tuple[str, Any]] = [
        ("Evidence", html.Div(evidence, className="evidence") if evidence else ""),
        ("Try", found.advice),
        ("Gain", found.gain_text),
        *[("Cures", one) for one in panels.cures(cure_rows(found))],
        ("Critical path", "" if found.path_share is None else f"{percent_text(found.path_share)} of it is there"),
        ("Confidence", found.confidence_text),
    ]
    number = view.report.findings.index(found)
    shown = [(label, panels.sentence(text) if isinstance(text, str) else text) for label, text in rows if text]
    pairs = [part for label, text in shown for part in (html.Dt(label), html.Dd(text))]
    return panels.section(
        "",
        html.H3(prose(found.title), style={"marginTop": "0"}),
        html.P(panels.where(found, view.opened.sites.get(number, "")), className="where"),
        html.Dl(pairs, className="pairs"),
        call_site(view, view.opened.finding_callpaths[number]),
        html.P(
            [
                panels.go(without(view.state, number), "Replay without its cause", className="act"),
                *(panels.go(view.state.at(page), f" · {title}") for page, title in ELSEWHERE),
            ]
        ),
    )


def _grid(view: View, number: int | None) -> Any:
    rows = [
        {
            "id": str(i),
            "gain": round(100 * one.gain, 1),
            "interval": "" if one.gain_low is None or one.gain_high is None else span_of(one.gain_low, one.gain_high),
            "kind": palette.label(one.kind),
            "title": tied(visible(one.title, 300)),
            "ranks": one.ranks_text or "all",
            "region": visible(one.region, 120),
            "site": visible(view.opened.sites.get(i, ""), 80),
            "when": span_text(one.begin_ps, one.end_ps) if one.first_window >= 0 else "",
            "exposed": one.exposed_ps / 1e9,
            "exposed_text": time_text(one.exposed_ps),
            "confidence": round(one.confidence, 2),
        }
        for i, one in enumerate(view.report.findings)
    ]
    few = len(rows) <= (5 if number is None else 2)
    height = f"{TALL if number is None else LOW}px"
    text: dict[str, Any] = {"filter": "agTextColumnFilter"}
    figure: dict[str, Any] = {"filter": "agNumberColumnFilter", "type": "rightAligned"}
    columns = [
        {"field": "gain", "headerName": "time saved (%)", "width": 120, **figure},
        *([{"field": "interval", "headerName": "between", "width": 120, "wrapText": True}]
          if any(row["interval"] for row in rows) else []),
        {"field": "title", "headerName": "finding", "flex": 3, "minWidth": 260, "wrapText": True, "autoHeight": True,
         **text},
        {"field": "kind", "headerName": "kind", "width": 120, "wrapText": True, **text},
        {"field": "ranks", "headerName": "ranks", "width": 100, "wrapText": True, **text},
        {"field": "region", "headerName": "region", "flex": 1, "minWidth": 190, "wrapText": True,
         "cellStyle": {"overflowWrap": "anywhere"}, **text},
        *([{"field": "site", "headerName": "call site", "width": 140, "wrapText": True, **text}]
          if any(row["site"] for row in rows) else []),
        {"field": "exposed", "headerName": "exposed (ms)", "width": 120,
         "valueFormatter": {"function": "d3.format(',.3~r')(params.value)"}, **figure},
        {"field": "confidence", "headerName": "confidence (0 to 1)", "width": 140, **figure},
    ]  # fmt: skip
    made = dash_ag_grid.AgGrid(
        id="findings",
        rowData=rows,
        columnDefs=columns,
        defaultColDef={"sortable": True, "resizable": True, "wrapHeaderText": True, "autoHeaderHeight": True},
        selectedRows=[] if number is None else {"ids": [str(number)]},
        scrollTo=None if number is None else {"rowId": str(number)},
        getRowId="params.data.id",
        dashGridOptions={
            "rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True},
            "domLayout": "autoHeight" if few else "normal",
            "animateRows": False,
            "enableCellTextSelection": True,
        },
        style={"height": None if few else height},
        className="grid",
        dangerously_allow_code=False,
    )
    return panels.grid(made, f"{55 + 42 * len(rows)}px" if few else height)


def _around(view: View) -> SelectedRun:
    """The time of the selection on all ranks: a hot rank shows only in comparison with the others."""
    return view.runs.scoped(view.state.run, replace(view.state.selection, ranks=(), callpath=None))


def _matrix(view: View) -> Chart:
    scoped = _around(view)
    on = scoped.rows(64)
    return panels.brushable(matrix(between_ranks.pairs(view, scoped), on), on, scoped, "pair")


def _load(view: View) -> Chart:
    return between_ranks.endpoints(view, _around(view), 48, 96)


CHARTS = {"hotspots.matrix": _matrix, "hotspots.load": _load}


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """The selection of a finding changes the URL."""

    def after(state: ViewState, row: Mapping[str, Any]) -> ViewState | None:
        number = str(row["id"])
        if state.more.get("finding") == number or not number.isdecimal():
            return None
        return picked(runs[state.run], state, int(number))

    on_row(app, "findings", after)
