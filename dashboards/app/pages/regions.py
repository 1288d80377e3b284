"""Regions: the calling-context tree with the use of its time, and the code that makes other ranks wait."""

from __future__ import annotations

from typing import Any

import polars as pl
from dash import html

from logpost.analyzer.findings.evidence.places import NOWHERE, Place, places_of
from logpost.analyzer.render.report.causes import DELAY_HEADINGS, PATH_HEADINGS, delay_rows, delays_summary, path_rows
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.labels import distinct_ends
from logpost.dashboards.app import panels
from logpost.dashboards.app.call_site import call_site
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.callpaths import callpaths
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.icicle import MOST_HEIGHT, icicle, icicle_height
from logpost.dashboards.report.tables import Grid
from logpost.dashboards.selection.tree import tree
from logpost.errors import InputError

NAME, TITLE = "regions", "Regions"
NO_DELAY = "No code is known that makes other ranks wait: none lasted longer than in the ranks that waited for it."
MOST_PATHS = 14
"""Call paths drawn, each in another colour: the palette has no more that differ."""


def layout(view: View) -> list[Any]:
    """The tree, the calls that cost, and the tables of causes."""
    report, scoped = view.report, view.scoped
    present = view.present
    timed = scoped.selection.timed
    causes: list[Any] = []
    if report.delays:
        grid = Grid(DELAY_HEADINGS, delay_rows(report.delays), frozenset({0, 1, 2, 3}))
        causes.append(
            panels.section(
                "Which code makes others wait",
                panels.table(grid, "Delay costs") if grid.rows else panels.empty(NO_DELAY),
                panels.note(delays_summary(report.delays)),
                about="Delay costs of the whole program: waits that are passed on are paid where they began.",
            )
        )
    if report.critical_path:
        grid = Grid(PATH_HEADINGS, path_rows(report.critical_path), frozenset({0, 1, 2}))
        causes.append(
            panels.section(
                "Which code is on the critical path",
                panels.table(grid, "Places on the critical path"),
                about="Only activities on it make the program longer; of the whole program.",
            )
        )
    site = call_site(view, view.state.selection.callpath)
    return [
        panels.section(
            "Call tree",
            panels.legend(present),
            panels.chart("regions.tree", "Call paths by inclusive time", height=_height(view)),
            None if timed else _start_up(view),
            about="A box is as wide as the time of its call path; its colour is the largest use of that time. "
            "Click one to select it, or drag over some to select what calls them."
            + (" In a stretch of time only communication calls count." if timed else ""),
        ),
        *([panels.section("", site)] if site else []),
        panels.section(
            "Calls that cost",
            panels.chart("regions.calls", "Exposed time by call path", height=320, drag="select2d"),
            about="Click a bar to select its call path; drag over some to select what they have in common.",
        ),
        *([html.Div(causes)] if causes else []),
    ]  # fmt: skip


def _start_up(view: View) -> html.P:
    """What is left out of the tree, and the link that changes it."""
    if view.state.more.get("startup"):
        return html.P(["With start-up and shut-down. ", panels.go(view.state.having(startup=""), "Leave them out")],
                      className="note")  # fmt: skip
    return html.P(["Without start-up and shut-down. ", panels.go(view.state.having(startup="1"), "Show them")],
                  className="note")  # fmt: skip


def _by_callpath(view: View) -> pl.DataFrame:
    """What calls expose by call path: a stretch of time of a large run has millions of them."""
    found = view.in_background(("by_callpath", view.state.selection), lambda _report: view.scoped.by_callpath)
    assert isinstance(found, pl.DataFrame)
    return found


def _nodes(view: View) -> tuple[pl.DataFrame, tuple[int, ...]]:
    """The tree, and where it is to begin."""
    start_up = bool(view.state.more.get("startup"))
    key = ("tree", view.state.selection, start_up)
    nodes = view.cached(key, lambda: tree(view.scoped, start_up=start_up))
    root = view.state.selection.callpath
    return nodes, () if root is None else (root,)


def _height(view: View) -> int:
    """Of the tree: a page with the final height does not jump when the tree is drawn."""
    if view.state.selection.timed:
        return MOST_HEIGHT
    nodes, roots = _nodes(view)
    return icicle_height(nodes, roots=roots)


def _tree(view: View) -> Chart:
    by_callpath = _by_callpath(view)
    nodes, roots = _nodes(view)
    if not nodes["time_ps"].sum():
        raise InputError("no call path has time in the selection")
    return icicle(nodes, by_callpath, roots=roots)


def _calls(view: View) -> Chart:
    scoped = view.scoped
    rows = _by_callpath(view).filter(pl.col("exposed_ps") > 0)
    if scoped.callpaths is not None:
        rows = rows.filter(pl.col("callpath").is_in(scoped.callpaths))
    if rows.is_empty():
        raise InputError("no communication call in the selection")
    top = rows.group_by("callpath").agg(wide_sum("exposed_ps").alias("all")).top_k(MOST_PATHS, by="all")
    places = places_of({name: scoped.run.table(name) for name in ("callpaths", "regions")})
    ends = distinct_ends({c: places.get(c, NOWHERE).path for c in top["callpath"]})
    named = {c: _sited(end, places.get(c, NOWHERE)) for c, end in ends.items()}
    label = pl.col("callpath").replace_strict(named, return_dtype=pl.String)
    made = callpaths(rows.join(top.select("callpath"), on="callpath").with_columns(label=label), totals=True)
    callers = dict(scoped.run.table("callpaths").select("callpath", "parent").collect().iter_rows())
    paths = [_chain(callpath, callers) for callpath in made.figure.layout.meta["callpaths"]]
    return panels.selectable(made, {"paths": paths, "pick": "path"})


def _chain(callpath: int, callers: dict[int, int]) -> list[int]:
    """The call path behind those that call it, the outermost first."""
    found: list[int] = []
    while callpath in callers:
        found.append(callpath)
        callpath = callers[callpath]
    return found[::-1]


def _sited(end: str, place: Place) -> str:
    """The last functions of a path, which say most, and the call's place in the source."""
    return f"{end} ({place.source})" if place.is_site and place.source else end


CHARTS = {"regions.tree": _tree, "regions.calls": _calls}
