"""Compare, where a side has several runs: what changes by more than the runs' own noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from dash import html

from logpost.analyzer.compare.repeats.compare import RepeatedChange, Repeats, compare_repeats, median_run
from logpost.analyzer.report.data import PlacedFinding
from logpost.analyzer.run.undivided import SHOWN
from logpost.dashboards.app import panels
from logpost.dashboards.app.pages.compared import Sides
from logpost.dashboards.app.runs import Opened
from logpost.dashboards.app.view import View
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import prose
from logpost.dashboards.figures.repeated_changes import Row, repeated_changes, runs_by_category
from logpost.dashboards.report.repeats import name_of, repeats_grids, verdict
from logpost.dashboards.report.tables import Grid
from logpost.dashboards.selection.selected_run import common_names
from logpost.dashboards.selection.selection import Selection
from logpost.errors import InputError

MOST_ROWS = 20
"""Of a table: a screen of 1,080 pixels has no room for more."""
TABLES = (
    ("lengths", "Lengths, of the slowest rank"),
    ("regions", "Regions, those first whose change is certain"),
    ("categories", "Categories and groups, over all ranks"),
    ("efficiencies", "Efficiencies"),
)


def layout(view: View, sides: Sides) -> list[Any]:
    """The verdict over every run, then the changes with their noise, then the tables and the findings."""
    repeats = repeats_of(view, sides)
    grids, means = repeats_grids(repeats), np.array(_means(view, sides))
    return [
        *panels.warnings(repeats.warnings),
        panels.section(
            "Every run",
            html.P(prose(verdict(repeats.changes(["wall"])[0])), className="lead"),
            panels.legend([c for c in palette.INKS if means[:, SHOWN.index(c)].any()]),
            panels.chart("compare.runs", "Each run's time by category", height=240, spoken=True),
            *panels.notes(*repeats.notes),
            about="The mean of the ranks' time, run by run.",
        ),
        html.Div(
            [
                panels.section(
                    "What changed",
                    panels.chart("compare.repeated", "Change by category with its noise", height=300, spoken=True),
                    about="Whiskers are 95 % intervals; what is pale is within the noise of the runs.",
                ),
                panels.section(
                    "By rank",
                    panels.chart(
                        "compare.repeated_ranks", "Change of each rank with its noise", height=300, spoken=True,
                        drag="select2d",
                    ),
                    about="Of the time outside compute.",
                ),
            ],
            className="two",
        ),
        panels.section(
            "By region",
            panels.chart("compare.repeated_regions", "Change by region with its noise", height=300, spoken=True),
        ),
        *(panels.section(title, panels.table(_cut(grids[name]), title)) for name, title in TABLES),
        panels.section(
            "Findings in all runs of one side and in none of the other's", *_findings(repeats.gone, repeats.appeared)
        ),
    ]  # fmt: skip


def repeats_of(view: View, sides: Sides) -> Repeats:
    """Both sides compared.

    Raises:
        WorkingError: the comparison continues.
    """
    a, b = ([view.runs[name].run for name in names] for names in sides)
    found = view.in_background(("repeats", sides), lambda _report: compare_repeats(a, b))
    assert isinstance(found, Repeats)
    return found


def medians(view: View, sides: Sides) -> tuple[Opened, Opened]:
    """The run of median length of each side, which stands for it over time."""
    found = []
    for names in sides:
        opened = [view.runs[name] for name in names]
        run = median_run([one.run for one in opened], [one.report.program_ps for one in opened])
        found.append(next(one for one in opened if one.run is run))
    return found[0], found[1]


def _cut(grid: Grid) -> Grid:
    return Grid(grid.headings, grid.rows[:MOST_ROWS], grid.numeric, grid.left_out)


def _findings(gone: list[PlacedFinding], new: list[PlacedFinding]) -> list[Any]:
    parts: list[Any] = []
    for heading, found in (("Gone in B", gone), ("New in B", new)):
        if found:
            items = [html.Li(prose(f"{one.title}; {one.gain_text}")) for one in found]
            parts += [html.H3(heading), html.Ul(items)]
    return parts or [panels.empty("None.")]


def runs_chart(view: View, sides: Sides) -> Chart:
    """Every run as a bar."""
    names = [f"{side}: {name}" for side, runs in zip("AB", sides, strict=True) for name in runs]
    return runs_by_category(names, np.array(_means(view, sides)))


def _means(view: View, sides: Sides) -> list[np.ndarray]:
    """Of each run the mean time of its ranks by category, A's first; ps."""
    return [view.runs.scoped(name, Selection()).by_rank.mean(axis=0) for runs in sides for name in runs]


def categories_chart(view: View, sides: Sides) -> Chart:
    """Categories that changed."""
    changes = repeats_of(view, sides).changes(SHOWN)
    return repeated_changes(_some([Row(name_of(one), one, one.name) for one in changes]), "time over all ranks")


def regions_chart(view: View, sides: Sides) -> Chart:
    """Regions that changed."""
    return repeated_changes(_some([Row(name_of(one), one) for one in repeats_of(view, sides).regions()]), "all ranks")


def ranks_chart(view: View, sides: Sides) -> Chart:
    """Ranks by what changes outside computation."""
    scoped = [[view.runs.scoped(name, Selection()) for name in names] for names in sides]
    ranks = common_names([one for some in scoped for one in some])
    if ranks is None:
        raise InputError("the runs have different ranks, so single ranks cannot be compared")
    outside = [np.array([one.by_rank[:, 1:].sum(axis=1) for one in some]) for some in scoped]
    changes = [
        RepeatedChange(one.text, tuple(outside[0][:, i].tolist()), tuple(outside[1][:, i].tolist()))
        for i, one in enumerate(ranks)
    ]
    made = repeated_changes(_some([Row(one.name, one) for one in changes]), "outside compute", sort=False)
    of_label = {one.text: one.rank for one in ranks}
    drawn = [of_label[str(label)] for label in made.figure.layout.yaxis.ticktext]
    return panels.selectable(made, {"rows": panels.picked(drawn), "pick": "rows"})


def _some(rows: list[Row]) -> list[Row]:
    found = [row for row in rows if any(row.change.a) or any(row.change.b)]
    if not found:
        raise InputError("the runs do not differ here: there is nothing to draw")
    return found
