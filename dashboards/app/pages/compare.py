"""Compare: this run against another, or repeats against repeats: by category, by rank, over time, by region, and by
finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dash
from dash import Input, State, dcc, html

from logpost.dashboards.app import panels
from logpost.dashboards.app.pages import compare_repeats
from logpost.dashboards.app.pages.compared import Sides, joined, sides_of
from logpost.dashboards.app.picking import having, into_wanted, wanted
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import read
from logpost.dashboards.app.view import ChartMaker, View
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import prose
from logpost.dashboards.figures.rank_changes import most_changed, rank_changes
from logpost.dashboards.report.comparison import ComparisonPage, build_comparison
from logpost.dashboards.report.findings import FindingRow
from logpost.dashboards.report.page import Caps
from logpost.dashboards.report.tables import Grid
from logpost.dashboards.selection.selected_run import common_names
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
    """The verdict, the changes, both timelines on one scale, the tables, and the findings that are new or gone; where a
    side has several runs, the changes with their noise."""
    if len(view.runs.names) < 2:
        return [panels.section("Compare", panels.empty("Start the dashboard with two runs: logpost dashboard A B"))]
    sides = sides_of(view.runs, view.state)
    if several(sides):
        return [
            panels.section(f"A: {_said(sides[0])}, B: {_said(sides[1])}", _picker(view, sides)),
            *compare_repeats.layout(view, sides),
            *_over_time(_comparison(view), [f" ({one.name})" for one in compare_repeats.medians(view, sides)]),
        ]
    page = _comparison(view)
    return [
        *panels.warnings(page.comparison.warnings),
        panels.section(
            f"A: {sides[0][0]}, B: {sides[1][0]}",
            _picker(view, sides),
            html.P(prose(page.verdict), className="lead"),
            panels.facts(page.facts),
            *panels.notes(*page.comparison.notes),
        ),
        html.Div(
            [
                panels.section("What changed", *_chart(page, "changes", "Change by category", 260)),
                panels.section(
                    "By rank",
                    panels.chart("compare.ranks", "Change of each rank's time", height=260, drag="select2d"),
                ),
            ],
            className="two",
        ),
        *_over_time(page, ["", ""]),
        *(panels.section(title, panels.table(_cut(page.grids[name]), title)) for name, title in TABLES),
        panels.section("Findings", *_findings(page)),
    ]


def several(sides: Sides) -> bool:
    """Whether a side has repeats."""
    return len(sides[0]) + len(sides[1]) > 2


def _said(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} runs"


def _picker(view: View, sides: Sides) -> html.Div:
    """Which runs are on which side."""
    a, b = sides

    def field(name: str, label: str, chosen: tuple[str, ...], taken: tuple[str, ...], hint: str) -> list[Any]:
        return [
            html.Label(label, htmlFor=name),
            dcc.Dropdown(
                id=name,
                options=[one for one in view.runs.names if one not in taken],
                value=list(chosen),
                multi=True,
                placeholder=hint,
                className="several",
            ),
        ]

    return html.Div(
        [
            wanted(NAME),
            *(field("repeats", "repeats of A", a[1:], (a[0], *b), "none") if len(view.runs.names) > 2 else []),
            *field("other", "with", b, a, "a run"),
        ],
        className="selection",
    )


def _over_time(page: ComparisonPage, names: list[str]) -> list[html.Section]:
    present = panels.legend(page.present)
    return [
        panels.section(f"A over time{names[0]}", present, *_chart(page, "timeline_a", "Timeline of A", 300)),
        panels.section(
            f"B over time{names[1]}", *_chart(page, "timeline_b", "Timeline of B", 300), about="On A's scale."
        ),
    ]


def _chart(page: ComparisonPage, name: str, label: str, height: int) -> list[Any]:
    if name not in page.charts:
        return [panels.empty("Nothing to compare.")]
    made = page.charts[name]
    return [panels.chart(f"compare.{name}", label, [one.label for one in made.views], made.first, height)]


def _cut(grid: Grid) -> Grid:
    return Grid(grid.headings, grid.rows[:20], grid.numeric, grid.left_out)


def _findings(page: ComparisonPage) -> list[Any]:
    words = {"gone": "Gone in B", "new": "New in B", "stayed": "In both"}
    parts: list[Any] = []
    for kind, pairs in page.pairs.items():
        if pairs:
            items = [html.Li(_finding(a, b)) for a, b in pairs]
            parts += [html.H3(words.get(kind, kind)), html.Ul(items)]
            if kind == "gone":
                parts.append(panels.note(page.measured_without))
    return parts or [panels.empty("Neither run has a finding.")]


def _finding(row: FindingRow, other: FindingRow | None) -> str:
    said = row.said if other is None else f"{row.said} in A, {other.found.between_text} in B"
    return prose(f"{row.found.title}; {said}")


def _comparison(view: View) -> ComparisonPage:
    """Of the two runs; where a side has several, of those of median length."""
    sides = sides_of(view.runs, view.state)
    a, b = compare_repeats.medians(view, sides) if several(sides) else (view.runs[one[0]] for one in sides)
    found = view.in_background(("compare", a.name, b.name), lambda _report: build_comparison(a.run, b.run, CAPS))
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
    a, b = (view.runs.scoped(names[0], Selection()) for names in sides_of(view.runs, view.state))
    ranks = common_names([a, b])
    if ranks is None:
        raise InputError("the runs have different ranks, so single ranks cannot be compared")
    if (a.by_rank == b.by_rank).all():
        raise InputError("the ranks' times are the same in both runs")
    made = rank_changes(a.by_rank, b.by_rank, [one.text for one in ranks])
    drawn = [ranks[i].rank for i in most_changed(a.by_rank, b.by_rank)]
    return panels.selectable(made, {"rows": panels.picked(drawn), "pick": "rows"})


def _repeated(make: Callable[[View, Sides], Chart]) -> ChartMaker:
    return lambda view: make(view, sides_of(view.runs, view.state))


CHARTS = {
    **{f"compare.{name}": _made(name) for name in ("changes", "timeline_a", "timeline_b")},
    "compare.ranks": _ranks,
    "compare.runs": _repeated(compare_repeats.runs_chart),
    "compare.repeated": _repeated(compare_repeats.categories_chart),
    "compare.repeated_ranks": _repeated(compare_repeats.ranks_chart),
    "compare.repeated_regions": _repeated(compare_repeats.regions_chart),
}


def callbacks(app: dash.Dash, runs: Runs) -> None:
    """Other runs to compare, on either side."""

    @app.callback(
        into_wanted(NAME),
        Input("repeats", "value", allow_optional=True),
        Input("other", "value"),
        State("url", "pathname"),
        State("url", "search"),
        prevent_initial_call=True,
    )
    def choose(repeats: list[str] | None, other: list[str] | None, pathname: Any, query: Any) -> Any:
        try:
            a, b = sides_of(runs, read(pathname, query))
        except InputError:
            return dash.no_update
        # What the fields show first is no choice: the URL need not state it.
        if tuple(repeats or ()) == a[1:] and tuple(other or ()) == b:
            return dash.no_update
        return having(pathname, query, repeats=joined(repeats or ()), other=joined(other or ()))
