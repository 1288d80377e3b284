"""Overview: what ran where, where the time went, how far to trust it, and the findings that gain most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from dash import html

from logpost.analyzer.compare.change import Change
from logpost.analyzer.render.report.files import files_text
from logpost.analyzer.render.report.threads import HEADINGS, thread_rows
from logpost.analyzer.report.data import NO_FINDING
from logpost.analyzer.report.efficiencies import efficiencies
from logpost.analyzer.report.sens_view import NOT_ASSIGNED, TITLES
from logpost.analyzer.words.units import bytes_text, percent_text, time_text
from logpost.dashboards.app import panels
from logpost.dashboards.app.pages.compared import joined
from logpost.dashboards.app.pages.without import without
from logpost.dashboards.app.search import picked
from logpost.dashboards.app.view import View
from logpost.dashboards.figures.breakdown import (
    BY_PART,
    PARTS_IN_CATEGORIES,
    Stacked,
    breakdown,
    lowest_compute,
    present,
)
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.labels import grouped, visible
from logpost.dashboards.figures.overview import overview, shares
from logpost.dashboards.figures.thread_times import thread_times
from logpost.dashboards.report.comparison import relative
from logpost.dashboards.report.findings import finding_rows
from logpost.dashboards.report.page import efficiency_fact, model_error, title_of, unexplained_fact
from logpost.dashboards.report.tables import Grid, machine_grids

NAME, TITLE = "", "Overview"
FIRST_FINDINGS = 3
MOST_ROWS = 64
MOST_RUNS = 3
"""Other runs of a kind that the overview names; the comparison has all of them."""


def layout(view: View) -> list[Any]:
    """The conclusion and the facts first, then the findings next to the categories, then each rank."""
    report, scoped = view.report, view.scoped
    found = finding_rows(report.findings, view.opened.sites)
    numbers = {id(one): number for number, one in enumerate(report.findings)}
    cards = [
        panels.card(
            row,
            picked(view.opened, view.state, numbers[id(row.found)]).href,
            without(view.state, numbers[id(row.found)]).href,
        )
        for row in found[:FIRST_FINDINGS]
    ]
    more = len(found) - len(cards)
    quality = machine_grids(view.manifest)["quality"]
    return [
        panels.section(
            "",
            html.H1(visible(title_of(view.manifest), 120)),
            *([] if cards else [html.P(panels.sentence(report.conclusion), className="lead")]),
            panels.facts(_facts(view)),
            *_other_runs(view),
            className="tight",
        ),
        html.Div(
            [
                panels.section(
                    "Findings",
                    *([panels.covered(report.coverage)] if report.coverage.lost_ps else []),
                    html.Ol(cards, className="findings") if cards else panels.empty(NO_FINDING),
                    panels.go(view.state.at("hotspots"), f"{more} more findings") if more > 0 else None,
                ),
                panels.section(
                    "Where the time went",
                    panels.chart("overview.categories", "Share of all ranks' time by category"),
                    *panels.notes(files_text(report.files) if report.files else ""),
                ),
            ],
            className="two wide-left",
        ),
        panels.section(
            "Each rank",
            panels.key([(one.ink, _title(one)) for one in present(scoped.by_rank, _stacks(view))]),
            panels.chart(
                "overview.breakdown",
                "Time of each rank by category",
                _views(view),
                height=240,
                drag="select2d",
            ),
            *panels.notes(view.scoped.behaving(MOST_ROWS).note),
            _other_stacks(view),
            about="Click a bar, or drag over some, to select their ranks.",
        ),
        *_threads(view),
        panels.section(
            "How far to trust it",
            html.P(
                [
                    html.Span(
                        visible(view.manifest.machine.label, 120), className=f"chip {view.manifest.machine.origin}"
                    ),
                    panels.sentence(model_error(report)),
                ]
            ),
            panels.table(quality, "Quality of the trace")
            if quality.rows
            else panels.empty("Nothing unusual was counted."),
            html.Ul([html.Li(panels.sentence(limit)) for limit in report.limits]),
        ),
    ]


def _stacks(view: View) -> Sequence[Stacked]:
    """The categories, as on every page; on demand SENS's parts, in whose order they are."""
    return BY_PART if view.state.more.get("parts") else PARTS_IN_CATEGORIES


def _title(one: Stacked) -> str:
    """With what belongs to no part: "not assigned" alone says nothing."""
    return f"{one.title}: MPI other, residual, undivided" if one.title == TITLES[NOT_ASSIGNED] else one.title


def _other_stacks(view: View) -> html.P:
    """What the bars consist of, and the link that changes it."""
    if view.state.more.get("parts"):
        return html.P(["By the parts of SENS (Chong et al.). ",
                       panels.go(view.state.having(parts=""), "Show the categories")], className="note")  # fmt: skip
    return html.P(["By category, in the order of SENS's parts. ",
                   panels.go(view.state.having(parts="1"), "Show these parts only")], className="note")  # fmt: skip


def _threads(view: View) -> list[Any]:
    """Threads and accelerators, where there are any: of the whole run, and the threads of the selected ranks."""
    rows = thread_rows(view.report)
    if not rows:
        return []
    chart = panels.chart("overview.threads", "Time of each thread by category", drag="select2d")
    return [
        panels.section(
            "Threads and accelerators",
            *([chart] if view.report.threads is not None else []),
            panels.table(Grid(HEADINGS, rows, frozenset({1, 2})), "Threads and accelerators"),
            about="OpenMP's threads, in addition to the ranks' accounts, over the whole program.",
        )
    ]


def _other_runs(view: View) -> list[html.Ul]:
    """How long the other runs of this program are, each with a link to what changed; runs of other programs are named,
    and not compared."""
    parts: list[Any] = []
    mine = view.report.program_ps
    alike = view.runs.of_same_program(view.opened.name)
    for name in alike[:MOST_RUNS]:
        try:
            other = view.runs[name].report.program_ps
        except Exception:  # a damaged run says so on its own page
            continue
        change = f" ({relative(Change(name, mine, other))})" if mine else ""
        changed = panels.go(view.state.at("compare").having(other=joined([name])), "What changed")
        parts.append(html.Li([html.B(visible(name, 60)), f" lasts {time_text(other)}{change}. ", changed]))
    others = [name for name in view.runs.names if name not in (view.opened.name, *alike)]
    if others:
        named = ", ".join(visible(name, 60) for name in others[:MOST_RUNS])
        more = f" and {len(others) - MOST_RUNS} more" if len(others) > MOST_RUNS else ""
        parts.append(html.Li(f"Not compared, since most call paths differ: {named}{more}."))
    return [html.Ul(parts, className="note plain")] if parts else []


def _views(view: View) -> list[str]:
    return [one.label for one in _breakdown(view).views]


def _facts(view: View) -> list[tuple[str, str, str]]:
    report, scoped = view.report, view.scoped
    times = view.by_rank
    total = float(times.sum())
    begin, end = scoped.span
    length = float(times.sum(axis=1).max(initial=0.0))
    chosen = not view.state.selection.everything
    known = {one.name: one.value for one in efficiencies(times[:, 0].astype(int).tolist(), round(length))}
    if view.state.selection.callpath is not None:
        known = {}
    counted, whole = report.counted
    placed = (report.nodes_text, ", ".join(report.paradigms))
    ranks = len({one.rank for one in scoped.named}) if report.ranks else scoped.locations.height
    traffic = (
        _traffic(view) if not chosen else ("Selected", time_text(end - begin), f"of {time_text(report.program_ps)}")
    )
    return [
        ("Program", time_text(report.program_ps), report.program_text),
        (
            f"{counted.capitalize()}s",
            grouped(ranks) if not chosen else f"{grouped(ranks)} of {grouped(whole)}",
            ": ".join(part for part in placed if part),
        ),
        traffic,
        ("Outside compute", percent_text(1 - times[:, 0].sum() / total) if total else "–", "of the ranks' time"),
        efficiency_fact(known),
        unexplained_fact(report),
    ]


def _traffic(view: View) -> tuple[str, str, str]:
    """Messages; one-sided transfers where the program has no others."""
    messages = view.report.messages
    if not messages.count:
        count, size = view.scoped.transfers().select(pl.len(), pl.col("bytes").sum()).collect().row(0)
        if count:
            return "One-sided transfers", grouped(count), f"{bytes_text(size)} in all"
    return "Messages", grouped(messages.count), f"{bytes_text(messages.bytes)} in all"


def _overview(view: View) -> Chart:
    return overview(shares(view.by_rank))


def _breakdown(view: View) -> Chart:
    """Computed once for a selection: the page names the chart's views before the chart is requested."""
    made: Chart = view.cached(("breakdown", view.state.selection), lambda: _broken_down(view))
    return made


def _broken_down(view: View) -> Chart:
    scoped = view.scoped
    ranks, on, alike = scoped.rows(max(1, scoped.locations.height)), scoped.rows(MOST_ROWS), scoped.behaving(MOST_ROWS)
    grouped = alike if alike.grouping else None
    made = breakdown(scoped.by_rank, ranks, on, grouped, _stacks(view))
    singly = panels.rank_spans(ranks, scoped)
    views = {number: panels.rank_spans(on, scoped) for number, one in enumerate(made.views) if one.label == "By rank"}
    if ranks.count > 1:
        views[len(made.views) - 1] = [singly[rank] for rank in lowest_compute(scoped.by_rank)]
    return panels.brushable(made, alike, scoped, "rows", views)


def _thread_times(view: View) -> Chart:
    each, named = view.scoped.threads(MOST_ROWS)
    made = thread_times(each, [one.short for one in named])
    return panels.selectable(made, {"rows": panels.picked(one.rank for one in named), "pick": "rows"})


CHARTS = {
    "overview.categories": _overview,
    "overview.breakdown": _breakdown,
    "overview.threads": _thread_times,
}
