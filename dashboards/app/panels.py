"""The pieces that pages are made of: charts, tables, facts, legends, links. React escapes their text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import dash_ag_grid
from dash import dcc, html
from dash.development.base_component import Component

from logpost.analyzer.report.coverage import Coverage
from logpost.analyzer.report.data import PlacedFinding
from logpost.analyzer.words.location_names import Rank
from logpost.analyzer.words.units import span_text, time_text
from logpost.dashboards.app.state import State
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.folding import Rows
from logpost.dashboards.figures.labels import prose, tied, visible
from logpost.dashboards.figures.options import pieces
from logpost.dashboards.report.findings import CureRow, FindingRow
from logpost.dashboards.report.tables import SHORT, Grid
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.dashboards.selection.selection import MOST_SPANS, spans_of

CONFIG: Any = {
    "displaylogo": False,
    "responsive": True,
    "displayModeBar": "hover",
    "doubleClick": "autosize",
    # Plotly's hint would cover the controls at the top; the pages say what a double-click does.
    "showTips": False,
    # These and no others, whatever a release of plotly.js offers: nothing may leave the machine.
    "modeBarButtons": [["toImage"]],
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "toImageButtonOptions": {"format": "svg", "filename": "logpost"},
}


UNHEARD: dict[str, Any] = {"aria-hidden": "true"}


def aria(label: str) -> dict[str, Any]:
    """What a screen reader calls the element."""
    return {"aria-label": label}


def chart(
    name: str,
    label: str,
    views: Sequence[str] = (),
    first: int | None = None,
    height: int = 300,
    *,
    spoken: bool = False,
    drag: Literal["", "zoom2d", "select2d"] = "",
) -> html.Figure:
    """A place for a chart of the page's `CHARTS`: the browser requests it when it is in sight or the browser is idle,
    and draws it when it is computed.

    Args:
        name: its key there.
        label: what it shows, for a reader who cannot see it.
        views: names of its views, where it has several.
        first: the view to start with; None: the one that the chart names when it is computed.
        height: pixels kept free until it is drawn.
        spoken: whether its summary is for all to read.
        drag: what a drag does in a chart that is `brushable`; then a button offers the lasso.
    """
    config: Any = {**CONFIG, "modeBarButtons": [[drag, "lasso2d", "toImage"]]} if drag else CONFIG
    graph = dcc.Graph(
        id={"part": "graph", "chart": name},
        config=config,
        clear_on_unhover=True,
        style={"width": "100%"},
        responsive="auto",
    )
    named: dict[str, Any] = {"data-chart": name}
    drawing: list[Any] = [
        dcc.Store(id={"part": "later", "chart": name}, data=graph.to_plotly_json()),
        html.Div(id={"part": "graph-place", "chart": name}, className="drawn"),
    ]
    switch = dcc.RadioItems(
        id={"part": "view", "chart": name},
        options=[{"label": text, "value": number} for number, text in enumerate(views)],
        value=first,
        className="switch" if views else "none",
        inline=True,
    )
    return html.Figure(
        [
            switch,
            dcc.Store(id={"part": "payload", "chart": name}),
            dcc.Interval(id={"part": "tick", "chart": name}, interval=250, disabled=True),
            dcc.Store(id={"part": "pressed", "chart": name}),
            html.Div(
                drawing,
                id={"part": "place", "chart": name},
                className="place",
                style={"height": f"{height}px", "overflow": "hidden"},
            ),
            html.Figcaption(
                "",
                id={"part": "caption", "chart": name},
                className="note" if spoken else "note unspoken",
                role="status",
            ),
        ],
        className="chart",
        tabIndex=0,
        **aria(label),
        **named,
    )


def charts(shown: Iterable[Any]) -> Iterator[tuple[str, html.Figure]]:
    """Name and place of each chart of a page."""
    for part in shown:
        for place in (part, *part._traverse()) if isinstance(part, Component) else ():
            if isinstance(place, html.Figure) and (name := getattr(place, "data-chart", None)):
                yield name, place


def fill(place: html.Figure, payload: Mapping[str, Any], text: list[Any]) -> None:
    """Put a chart of the cache into its place: the browser need not request it.

    Args:
        place: of `chart`.
        payload: of the chart.
        text: below it.
    """
    switch, store, *_rest = place.children
    store.data = payload
    if switch.value is None:
        switch.value = payload["first"]
    say(place, text)


def say(place: html.Figure, text: Any) -> None:
    """Put a known text below a chart: the browser need not request it."""
    place.children[-1].children = text
    setattr(place, "data-made", "1")


def brushable(
    made: Chart,
    on: Rows | None,
    scoped: SelectedRun,
    pick: str = "",
    views: Mapping[int, Sequence[list[int]]] | None = None,
) -> Chart:
    """The chart, in which a rectangle or a lasso may be drawn: the page's script reads time and ranks of it.

    Args:
        made: a chart with rows `on`; where time is its horizontal axis, it says so itself.
        on: the rows; None: its vertical axis has none, and a drag selects time alone.
        scoped: the run.
        pick: what a click selects: "rows", "pair", or nothing.
        views: `rank_spans` of the rows of those views, by number, that show other rows.
    """
    timed = "ps_per_x" in (made.figure.layout.meta or {})
    rows = {} if on is None else {"rows": rank_spans(on, scoped)}
    selectable(made, {"steps_ps": scoped.steps_ps, "few_steps": scoped.few_steps, "pick": pick, **rows})
    if timed:
        meta = {**made.figure.layout.meta, "whole_ps": scoped.run.manifest.clock.length_ps}
        made.figure.update_layout(meta=meta, dragmode="zoom", xaxis_fixedrange=False, yaxis_fixedrange=on is None)
    meta = made.figure.layout.meta
    for number, spans in (views or {}).items():
        made.views[number].layout["meta"] = {**meta, "rows": list(spans)}
    return made


def selectable(made: Chart, meta: Mapping[str, Any]) -> Chart:
    """The chart, in which what is drawn selects: `meta` says what its places are, as `brush.js` reads it."""
    meta = {**(made.figure.layout.meta or {}), **meta}
    across = meta.get("pick") == "pair"
    down = "rows" in meta or "paths" in meta
    made.figure.update_layout(
        meta=meta,
        dragmode="select",
        selectdirection="any" if across and down else "h" if across else "v",
        xaxis_fixedrange=True,
        yaxis_fixedrange=True,
    )
    return made


def rank_spans(on: Rows, scoped: SelectedRun) -> list[list[int]]:
    """The ranks of each row as spans, first and last of each; none where no URL could name them all."""
    known = scoped.locations.select("location").join(on.of, on="location")
    ranks: list[list[Rank]] = [[] for _ in range(on.count)]
    for location, row in known.select("location", "row").iter_rows():
        if (rank := scoped.names.rank(location)) is not None:
            ranks[row].append(rank)
    return [flat(one) for one in ranks]


def picked(ranks: Iterable[Rank | None]) -> list[list[int]]:
    """Single ranks as spans; nothing for what has no rank."""
    return [[] if rank is None else [rank, rank] for rank in ranks]


def flat(ranks: Sequence[Rank]) -> list[int]:
    """Ranks as spans, one behind the other; nothing where no URL could name them all."""
    spans = spans_of(ranks)
    return [end for span in spans for end in span] if len(spans) <= MOST_SPANS else []


def table(grid: Grid, label: str) -> html.Div:
    """A small table of ready text."""
    head = [
        html.Th(text, scope="col", className="n" if i in grid.numeric else "") for i, text in enumerate(grid.headings)
    ]
    body = [
        html.Tr(
            [
                html.Td(sentence(text), className="n" if i in grid.numeric else "short" if len(text) <= SHORT else "")
                for i, text in enumerate(row)
            ]
        )
        for row in grid.rows
    ]
    parts: list[Any] = [
        html.Div(
            html.Table([html.Thead(html.Tr(head)), html.Tbody(body)]),
            className="scroll",
            tabIndex=0,
            role="region",
            **aria(label),
        )
    ]
    if grid.left_out:
        parts.append(note(grid.left_out))
    return html.Div(parts)


def grid(made: dash_ag_grid.AgGrid, height: str) -> html.Div:
    """A place for a large table; the browser fetches what draws it when it is first shown.

    Args:
        made: the table, with an id.
        height: kept free until it is drawn; CSS.
    """
    name = made.id
    return html.Div(
        [
            dcc.Store(id={"part": "grid", "grid": name}, data=made.to_plotly_json()),
            html.Div(id={"part": "grid-place", "grid": name}, style={"minHeight": height}),
        ]
    )


def section(title: str, *children: Any, about: str = "", **more: Any) -> html.Section:
    """A box with a heading."""
    head: list[Any] = [html.H2(title)] if title else []
    return html.Section([*head, *([html.P(about, className="about")] if about else []), *children], **more)


def sentence(text: str) -> str | html.Span:
    """Sentences; where they have options of the command line, these do not break at the end of a line."""
    parts: list[Any] = list(pieces(text))
    if len(parts) == 1:
        return str(parts[0])
    parts[1::2] = [html.Span(option, className="option") for option in parts[1::2]]
    return html.Span(parts)


def warnings(texts: Iterable[str]) -> list[html.P]:
    """Warnings about the numbers of the run."""
    return [html.P(sentence(text), className="banner loud", role="alert") for text in texts]


def note(text: str) -> html.P:
    return html.P(sentence(text), className="note")


def notes(*lines: str) -> list[html.P]:
    return [note(line) for line in lines if line]


def empty(text: str) -> html.P:
    return html.P(sentence(text), className="empty")


def facts(items: Sequence[tuple[str, str, str]]) -> html.Dl:
    """Label, value, remark."""
    return html.Dl(
        [html.Div([html.Dt(label), html.Dd([value, html.Small(sentence(remark))])]) for label, value, remark in items],
        className="facts",
    )


def legend(categories: Sequence[str]) -> html.Ul:
    """The colours of categories."""
    return key([(category, palette.label(category)) for category in categories])


def key(inks: Sequence[tuple[str, str]]) -> html.Ul:
    """A legend of these categories."""
    return html.Ul(
        [html.Li(html.Span([html.I(className=f"c-{category}"), said])) for category, said in inks],
        className="legend",
        **aria("Colours"),
    )


def where(found: PlacedFinding, site: str) -> list[Any]:
    """Ranks, region, call site and time of a finding."""
    parts: list[Any] = []
    if found.named_text:
        parts.append(html.Span(visible(found.named_text, 60)))
    if found.region:
        parts.append(html.Span(["in ", html.Code(visible(found.region, 120))]))
    if found.cause_region:
        parts.append(html.Span(["caused by ", html.Code(visible(found.cause_region, 120))]))
    if site:
        parts.insert(len(parts) - found.is_before_cause, html.Span(["at ", html.Code(visible(site, 80))]))
    if found.first_window >= 0:
        parts.append(html.Span(span_text(found.begin_ps, found.end_ps), className="when"))
    return parts


def covered(of: Coverage) -> html.P:
    """The lost time as a bar, of which the findings explain a part: at least, as stated, at most."""
    bars = [html.I(style={"width": f"{100 * part:.1f}%"}) for part in reversed(of.explained_parts)]
    track = html.Span(bars, className="track", **UNHEARD)
    return html.P([html.B(of.lost_text), f"; {tied(of.explained_text)}.", track], className="covered")


def cures(rows: Iterable[CureRow]) -> list[Any]:
    """What a finding's cure and its alternatives save, next to each other; nothing without alternatives."""
    cells: list[Any] = []
    for one in rows:
        bar = html.Span(html.I(style={"width": f"{100 * one.bar:.1f}%"}), className="track", **UNHEARD)
        cells += [html.Span(one.cure), html.B(one.saves), bar]
    return [html.Div(cells, className="cures")] if cells else []


def card(row: FindingRow, href: str, replay: str) -> html.Li:
    """A finding: how much, what, where, what to do, a link that sets every page to it, and one that removes its
    cause."""
    found = row.found
    advice: list[Any] = [html.Span("Try: ", className="soft"), sentence(found.advice), " "] if found.advice else []
    bar = html.Span(html.I(style={"width": f"{100 * row.bar:.1f}%"}), className="track", **UNHEARD)
    return html.Li(
        [
            html.Div(
                html.P(
                    [html.B(row.said), html.Span(f"{time_text(found.exposed_ps)} exposed", className="soft"), bar],
                    className="size",
                )
            ),
            html.Div(
                [
                    html.P(
                        [
                            html.Span(palette.label(found.kind), className="kind"),
                            dcc.Link(html.B(prose(found.title)), href=href, className="pick"),
                        ],
                        className="title",
                    ),
                    html.P(where(found, row.site), className="where"),
                    html.P([*advice, dcc.Link("Replay without it", href=replay)], className="advice"),
                    *cures(row.cures),
                    html.P(["Confidence: ", sentence(found.confidence_text)], className="advice soft"),
                ]
            ),
        ],
        className="finding",
    )


def go(state: State, text: str, **more: Any) -> dcc.Link:
    """A link to another view."""
    return dcc.Link(text, href=state.href, **more)
