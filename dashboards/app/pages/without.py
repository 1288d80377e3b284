"""What-if of a finding: one click removes its cause, and the replay is shown next to the measured program."""

from __future__ import annotations

import polars as pl
from dash import html

from logpost.analyzer.findings.cured import Cured, cured
from logpost.dashboards.app import panels
from logpost.dashboards.app.jobs import Report as Progress
from logpost.dashboards.app.state import State
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.cured import SAID_OF, both_paths, ranks_before_and_after
from logpost.dashboards.figures.labels import visible
from logpost.errors import InputError

MOST_ROWS = 32
"""Ranks, each with two bars: so many fit on a screen."""
FIRST_COMPLETED = ("MPI_Waitany", "MPI_Waitsome", "MPI_Testany", "MPI_Testsome")
"""Calls whose order of completions depends on when messages arrive."""


def without(state: State, number: int) -> State:
    """The what-if page without the cause of a finding."""
    return state.at("whatif").having(without=str(number))


def section(view: View) -> list[html.Section]:
    """The finding that is removed and what that changes; nothing where none is."""
    number = _number(view)
    if number is None:
        return []
    found = view.report.findings[number]
    return [
        panels.section(
            "Without a finding's cause",
            html.P(
                [
                    html.B(visible(found.title, 200)),
                    " ",
                    panels.go(view.state.having(without=""), "Put it back"),
                ],
            ),
            html.Div(
                [
                    html.Div(
                        [
                            panels.key([("compute", SAID_OF["code"]), ("send_overhead", SAID_OF["work"]),
                                        ("late_sender", SAID_OF["wait"])]),
                            panels.chart(
                                "whatif.without_path", "Critical path with and without it", height=150, spoken=True
                            ),
                        ]
                    ),
                    panels.chart("whatif.without_ranks", "Each rank with and without it", height=260, spoken=True,
                        drag="select2d",
                    ),
                ],
                className="two",
            ),
            *panels.notes(_order_kept(view)),
            about="The recorded calls and messages replayed, with what the finding blames taken away.",
        )
    ]  # fmt: skip


def _order_kept(view: View) -> str:
    """What the replay keeps of calls that complete the first message to arrive; empty for a program without them."""
    run = view.opened.run
    used = run.table("profile").select("callpath").unique().join(run.table("callpaths"), on="callpath")
    names = (
        used.join(run.table("regions"), on="region")
        .filter(pl.col("name").is_in(FIRST_COMPLETED))
        .select("name")
        .unique()
    )
    found = names.collect()["name"].sort().to_list()
    if not found:
        return ""
    kept = "the replay keeps the recorded order of completions; without the cause, others may complete first."
    return f"{', '.join(found)}: {kept}"


def _number(view: View) -> int | None:
    text = view.state.more.get("without", "")
    return int(text) if text.isdecimal() and int(text) < len(view.report.findings) else None


def _cured(view: View) -> Cured:
    number, run = _number(view), view.opened.run
    if number is None:
        raise InputError("no finding is removed")

    def work(report: Progress) -> Cured:
        report("replaying the program without it", 0, 0)
        return cured(run, number)

    found = view.in_background(("without", number), work)
    assert isinstance(found, Cured)
    return found


def _ranks(view: View) -> Chart:
    on = view.scoped.rows(MOST_ROWS)
    return panels.brushable(ranks_before_and_after(_cured(view), on), on, view.scoped, "rows")


CHARTS = {
    "whatif.without_path": lambda view: both_paths(_cured(view)),
    "whatif.without_ranks": _ranks,
}
