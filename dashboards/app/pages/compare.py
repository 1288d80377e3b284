"""Compare: this run against another: by category, by rank, over time, by region, and by finding."""

from __future__ import annotations

from typing import Any

import dash
from dash import Input, Output, State, dcc, html

from logpost.dashboards.app import panels
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import prose
from logpost.dashboards.figures.rank_changes import most_changed, rank_changes
from logpost.dashboards.report.comparison import ComparisonPage, build_comparison
from logpost.dashboards.report.findings import FindingRow
from logpost.dashboards.report.page import Caps
from logpost.dashboards.report.tables import Grid
from logpost.dashboards.selection.selection import Selection
from logpost.errors import InputError

NAME, TITLE = "compare", "Compare"
CAPS = Caps(rows=32, matrix=32, columns=96)
TABLES = (
    ("regions", "Regions that changed most"),
    ("categories", "Categories and groups"),
    ("efficiencies", "Efficiencies"),
)


def layout(view: View) -> list[Any]:
    """The verdict, the changes, both timelines on one scale, the tables, and the findings that came and went."""
    others = [name for name in view.runs.names if name != view.opened.name]
    if not others:
        return [panels.section("Compare", panels.empty("Start the dashboard with two runs: logpost dashboard A B"))]
    other = _other(view)
    picker = html.Div(
        [
            html.Label("with", htmlFor="other"),
            dcc.Dropdown(id="other", options=others, value=other, clearable=False, searchable=False, className="runs"),
        ],
        className="selection",
    )
    page = _comparison(view)
    present = panels.legend(page.present)
    return [
        panels.section(
            f"A: {view.opened.name}, B: {other}",
            picker,
            html.P(prose(page.verdict), className="lead"),
            panels.facts(page.facts),
            *panels.notes(*page.comparison.notes),
        ),
        html.Div(
            [
                panels.section("What changed", *_chart(page, "changes", "Change by category", 260)),
                panels.section(
                    "By rank", panels.chart("compare.ranks", "Change of each rank's time", height=260, drag="select2d"),
                ),
            ],
            className="two",
        ),
        panels.section("A over time", present, *_chart(page, "timeline_a", "Timeline of A", 300)),
        panels.section("B over time", *_chart(page, "timeline_b", "Timeline of B", 300), about="On A's scale."),
        *(panels.section(title, panels.table(_cut(page.grids[name]), title)) for name, title in TABLES),
        panels.section("Findings", *_findings(page)),
    ]  # fmt: skip


def _chart(page: ComparisonPage, name: str, label: str, height: int) -> list[Any]:
    if name not in page.charts:
        return [panels.empty("Nothing to compare.")]
    made = page.charts[name]
    return [panels.chart(f"compare.{name}", label, [one.label for one in made.views], made.first, height)]


def _cut(grid: Grid) -> Grid:
    return Grid(grid.headings, grid.rows[:20], grid.numeric, grid.left_out)


def _findings(page: ComparisonPage) -> list[Any]:
    words = {"gone": "Gone in B", "came": "New in B", "stayed": "In both"}
    parts: list[Any] = []
    for kind, pairs in page.pairs.items():
        if pairs:
            items = [html.Li(_finding(a, b)) for a, b in pairs]
            parts += [html.H3(words.get(kind, kind)), html.Ul(items)]
    return parts or [panels.empty("Neither run has a finding.")]


def _finding(row: FindingRow, other: FindingRow | None) -> str:
    said = row.said if other is None else f"A {row.said}, B {other.said}"
    return prose(f"{row.found.title} ({said})")


def _other(view: View) -> str:
    others = [name for name in view.runs.names if name != view.opened.name]
    asked = view.state.more.get("other", "")
    if asked:
        return view.runs[asked].name
    if not others:
        raise InputError("there is one run only: logpost dashboard A B compares two")
    return others[0]


def _comparison(view: View) -> ComparisonPage:
    a, b = view.opened, view.runs[_other(view)]
    found = view.in_background(("compare", b.name), lambda _report: build_comparison(a.run, b.run, CAPS))
    assert isinstance(found, ComparisonPage)
    return found


def _made(name: str) -> Any:
    def make(view: View) -> Chart:
        found = _comparison(view).charts.get(name)
        if found is None:
            raise InputError("the runs do not differ here: there is nothing to draw")
        return found

    return make


def _ranks(view: View) -> Chart:
    a, b = (view.runs.scoped(name, Selection()) for name in (view.opened.name, _other(view)))
    if a.locations["rank"].to_list() != b.locations["rank"].to_list():
        raise InputError("the runs have different ranks, so single ranks cannot be compared")
    if (a.by_rank == b.by_rank).all():
        raise InputError("the ranks' times are the same in both runs")
    ranks = a.locations["rank"].to_list()
    made = rank_changes(a.by_rank, b.by_rank, [f"rank {rank}" for rank in ranks])
    drawn = [ranks[i] for i in most_changed(a.by_rank, b.by_rank)]
    return panels.selectable(made, {"rows": [[rank, rank] for rank in drawn], "pick": "rows"})


CHARTS = {
    **{f"compare.{name}": _made(name) for name in ("changes", "timeline_a", "timeline_b")},
    "compare.ranks": _ranks,
}


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """Another run to compare with."""

    @app.callback(
        Output("url", "search", allow_duplicate=True),
        Input("other", "value"),
        State("url", "pathname"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def other(name: str | None, pathname: str | None, query: str | None) -> Any:
        try:
            state = read(pathname, query)
        except InputError:
            return dash.no_update
        names = [one for one in runs.names if one != runs[state.run].name]
        if not name or name == (state.more.get("other") or names[0]):
            return dash.no_update
        return state.having(other=name).search
