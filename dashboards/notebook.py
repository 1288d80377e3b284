"""A run for notebooks: its tables as polars frames, and the dashboard's figures as plotly figures.

run = logpost.open_run("app.run")
run.top_findings(3)
run.top_call_sites(10)
run.sql("select kind, gain from findings")
run.select(ranks=[0, 3]).plot.timeline()
"""

from __future__ import annotations

import functools
import html
import os
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Literal, get_args

import numpy as np
import plotly.graph_objects as go
import polars as pl

from logpost.analyzer.explain.messages import explain
from logpost.analyzer.export.sql import query
from logpost.analyzer.findings.evidence.places import places_of
from logpost.analyzer.predict.whatif import Ask, Prediction, predict
from logpost.analyzer.report.build import build
from logpost.analyzer.report.call_places import call_places
from logpost.analyzer.report.data import PlacedFinding, Report
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TABLES
from logpost.analyzer.run.undivided import SHOWN, title
from logpost.analyzer.run.wide import WIDE
from logpost.analyzer.words.units import change_text, time_text
from logpost.dashboards.figures import prediction, sizes
from logpost.dashboards.figures.breakdown import breakdown
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.critical_path import critical_path
from logpost.dashboards.figures.efficiency_line import efficiency_line
from logpost.dashboards.figures.icicle import icicle
from logpost.dashboards.figures.links import links
from logpost.dashboards.figures.load import load
from logpost.dashboards.figures.matrix import matrix
from logpost.dashboards.figures.overview import overview, shares
from logpost.dashboards.figures.palette import INKS, SCALES, label
from logpost.dashboards.figures.partition import partition
from logpost.dashboards.figures.timeline import timeline
from logpost.dashboards.selection import messages
from logpost.dashboards.selection.links import hosts_on_network, link_tables
from logpost.dashboards.selection.selected_run import SelectedRun
from logpost.dashboards.selection.selection import Selection, spans_of
from logpost.dashboards.selection.tree import tree
from logpost.errors import InputError, suggestion

Times = Literal["ps", "s", "duration"]
"""Integers of picoseconds, seconds, or polars' durations, which are whole nanoseconds."""

MOST_ROWS = 64
BINS = 200
ROOM_OF_LEGEND = 60
"""Pixels above a figure."""


PS_PER_S = 10**12
"""Of a second."""
PS_PER_NS = 10**3
"""Of a nanosecond."""
CALL_SITES = pl.Schema(
    {
        "path": pl.String(),
        "source": pl.String(),
        "calls": pl.Int64(),
        "time_ps": WIDE,
        "share": pl.Float64(),
        "waiting_ps": WIDE,
        "mostly": pl.String(),
    }
)


class Figures:
    """The figures of a run, or of a selection of it."""

    def __init__(self, scoped: SelectedRun) -> None:
        self._scoped = scoped

    def categories(self) -> go.Figure:
        """Share of all ranks' time by category."""
        return _shown(overview(shares(self._scoped.by_rank)), legend=False)

    def breakdown(self) -> go.Figure:
        """Time of each rank by category."""
        scoped = self._scoped
        return _shown(breakdown(scoped.by_rank, scoped.rows(max(1, scoped.locations.height)), scoped.rows(MOST_ROWS)))

    def timeline(self) -> go.Figure:
        """Rank by time in the colour of the category that took most."""
        on = self._scoped.rows(MOST_ROWS)
        cube, over = self._scoped.cube(on, BINS)
        return _shown(timeline(cube, on, over))

    def efficiencies(self) -> go.Figure:
        """POP's efficiencies over time."""
        scoped = self._scoped
        return _shown(efficiency_line(*scoped.cube(scoped.rows(max(1, scoped.locations.height)), BINS)))

    def critical_path(self) -> go.Figure:
        """Where the critical path is, by rank and time; of the whole program."""
        scoped = self._scoped
        path = scoped.run.table("critical_path").collect()
        return _shown(critical_path(path, scoped.rows(MOST_ROWS), scoped.columns(BINS)))

    def matrix(self) -> go.Figure:
        """Sender by receiver: bytes."""
        whole = SelectedRun(self._scoped.run, Selection())
        return _shown(matrix(self._scoped.pairs(), whole.rows(MOST_ROWS)))

    def load(self) -> go.Figure:
        """Bytes that arrive at each rank over time."""
        scoped = self._scoped
        return _shown(load(scoped.load(), scoped.queues(), scoped.rows(MOST_ROWS), scoped.columns(BINS)))

    def links(self) -> go.Figure:
        """How busy the links of the network are over time.

        Raises:
            InputError: no link is known, or none carried anything.
        """
        return _shown(links(*link_tables(self._scoped), hosts_on_network(self._scoped)))

    def sizes(self) -> go.Figure:
        """Messages by size."""
        return _shown(sizes.by_size(messages.by_size(self._scoped)))

    def model(self) -> go.Figure:
        """Measured and modelled time of messages over their size."""
        return _shown(sizes.measured_and_modelled(messages.measured_and_modelled(self._scoped)))

    def tree(self) -> go.Figure:
        """The calling-context tree as an icicle."""
        return _shown(icicle(tree(self._scoped), self._scoped.by_callpath))

    def message(self, name: str) -> go.Figure:
        """One message's partition under each model; its name is RECEIVER:NUMBER."""
        return _shown(partition(explain(self._scoped.run, name).messages[0]))

    def whatif(self, *settings: str) -> go.Figure:
        """The critical path as it was and under the settings, e.g. "L=x2"."""
        run = self._scoped.run
        found = predict(run, Ask(settings))
        return _shown(prediction.before_and_after(found, undivided=run.manifest.machine.undivided))


class Findings(tuple[PlacedFinding, ...]):
    """Findings of a run, in the order of what their cures save; a notebook shows what to do."""

    def _repr_html_(self) -> str:
        cells = (
            (
                one.title,
                one.between_text,
                ", ".join(filter(None, (one.named_text, one.path, one.source))),
                one.advice + (f" Instead: {one.alternatives_text}." if one.alternatives else ""),
            )
            for one in self
        )
        return _table_html(("finding", "time saved", "where", "what to do"), cells)


class ShownPrediction(Prediction):
    """A prediction; a notebook shows it next to what was measured."""

    def _repr_html_(self) -> str:
        low, high = self.interval_ps
        return _table_html(
            ("under", "measured", "predicted", "interval", "change"),
            [
                (
                    ", ".join(self.settings) or "nothing changed",
                    time_text(self.measured_ps),
                    time_text(self.predicted_ps),
                    f"{time_text(low)} to {time_text(high)}",
                    change_text(self.predicted_ps / max(1, self.measured_ps) - 1),
                )
            ],
        )


def _table_html(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of texts, which may have names of the trace in them."""
    head = "".join(f"<th>{html.escape(one)}</th>" for one in headings)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(one)}</td>' for one in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class OpenRun:
    """A run, or a selection of it."""

    def __init__(self, run: Run, selection: Selection | None = None) -> None:
        self.run = run
        self.selection = selection or Selection()
        self.scoped = SelectedRun(run, self.selection)
        self.plot = Figures(self.scoped)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables, each of which is an attribute, too; `analyzer/run/schema/` declares their columns."""
        return tuple(TABLES)

    def __getattr__(self, name: str) -> pl.DataFrame:
        """A table of the whole run."""
        if name not in TABLES:
            known = {one for one in dir(type(self)) if not one.startswith("_")}
            raise AttributeError(
                f"a run has no {name}; its tables are {', '.join(TABLES)}{suggestion(name, [*known, *TABLES])}"
            )
        return self.table(name).collect()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *TABLES]

    def table(self, name: str, times: Times = "ps") -> pl.LazyFrame:
        """A table of the whole run, lazily.

        Arguments:
            name: of the table.
            times: as what columns of times are: integers of picoseconds (`enter_ps`), seconds (`enter_s`), or polars'
                durations (`enter`), which are whole nanoseconds.

        Raises:
            InputError: there is no such table.
        """
        if name not in TABLES:
            raise InputError(f"a run has no table {name}; use one of {', '.join(TABLES)}{suggestion(name, TABLES)}")
        return _timed(self.run.table(name), times)

    def report(self) -> Report:
        """What `logpost report` says of the run."""
        return self._report

    @functools.cached_property
    def _report(self) -> Report:
        return build(self.run)

    def top_findings(self, most: int = 3) -> Findings:
        """The findings whose cures save most."""
        return Findings(self._report.findings[:most])

    def top_call_sites(self, most: int = 10, times: Times = "s") -> pl.DataFrame:
        """The call paths on which the ranks lose most time, over all ranks."""
        total = sum(rank.program_ps for rank in self._report.rank_times)
        places = places_of({name: self.run.table(name) for name in ("callpaths", "regions")})
        rows = pl.DataFrame(
            [
                {
                    "path": one.path or one.region,
                    "source": one.source,
                    "calls": one.calls,
                    "time_ps": one.exposed_ps,
                    "share": one.share,
                    "waiting_ps": one.waiting_ps,
                    "mostly": title(one.largest),
                }
                for one in call_places(self.run, total, places, most)
            ],
            schema=CALL_SITES,
        )
        return _timed(rows.lazy(), times).collect()

    def sql(self, text: str) -> pl.DataFrame:
        """The rows of a query on the run's tables, in DuckDB's SQL; times are in picoseconds.

        Raises:
            InputError: DuckDB is not installed, or the query cannot be run.
        """
        return query(self.run, text)

    def select(
        self,
        *,
        begin_ps: int | None = None,
        end_ps: int | None = None,
        ranks: Iterable[int] = (),
        callpath: int | None = None,
        **unknown: object,
    ) -> OpenRun:
        """The run through a selection: its figures are about that alone.

        Raises:
            TypeError: an argument has another name, or `ranks` is one number.
        """
        if unknown:
            name, value = next(iter(unknown.items()))
            raise TypeError(f"select has no {name}; {_meant(name, value)}")
        if isinstance(ranks, int):
            raise TypeError(f"ranks are several; did you mean ranks=[{ranks}]?")
        return OpenRun(self.run, Selection(begin_ps, end_ps, spans_of(ranks), callpath))

    def whatif(self, *settings: str, scale_compute: Sequence[str] = ()) -> ShownPrediction:
        """What the run would have taken, e.g. whatif("L=x2")."""
        found = predict(self.run, Ask(settings, scale_compute=tuple(scale_compute)))
        return ShownPrediction(**{one.name: getattr(found, one.name) for one in fields(found)})

    def __repr__(self) -> str:
        return f"<run {self.run.path}: {self.run.manifest.ranks} ranks, {self.run.manifest.messages:,} messages>"


def _timed(rows: pl.LazyFrame, times: Times) -> pl.LazyFrame:
    """The rows with their columns of picoseconds in another form.

    Raises:
        InputError: there is no such form.
    """
    if times == "ps":
        return rows
    columns = {column: column.removesuffix("_ps") for column in rows.collect_schema() if column.endswith("_ps")}
    if times == "s":
        return rows.with_columns(pl.col(columns) / PS_PER_S).rename({old: f"{new}_s" for old, new in columns.items()})
    if times == "duration":
        whole = (pl.col(columns) // PS_PER_NS).cast(pl.Int64)
        return rows.with_columns(whole.cast(pl.Duration("ns"))).rename(columns)
    raise InputError(f"times are no {times}; use one of {', '.join(get_args(Times))}")


def _meant(name: str, value: object) -> str:
    """What an argument of `select` was meant to be."""
    if name in ("rank", "location", "process"):
        return f"did you mean ranks={value if isinstance(value, list) else [value]}?"
    known = ("begin_ps", "end_ps", "ranks", "callpath")
    return f"it has {', '.join(known)}{suggestion(name, known)}"


def open_run(path: str | os.PathLike[str]) -> OpenRun:
    """Open a run directory that `logpost analyze` wrote.

    Raises:
        InputError: it is none.
    """
    return OpenRun(Run.open(path))


def _shown(made: Chart, *, legend: bool = True) -> go.Figure:
    """The chart's first view in the light colours, as a figure without the page's scripts; `legend`: of its categories,
    which no axis names."""
    figure = go.Figure(made.figure)
    if made.views:
        view = made.views[made.first]
        for trace, changes in zip(figure.data, view.traces, strict=True):
            trace.update(changes)
        figure.update_layout(view.layout)
    for trace in figure.data:
        meta = trace.meta or {}
        if meta.get("scale") == "magnitude":
            colours = SCALES["light"]["magnitude"]
            trace.colorscale = [[i / (len(colours) - 1), colour] for i, colour in enumerate(colours)]
        elif meta.get("scale") == "category":
            trace.colorscale = _categories()
        elif "categories" in meta:
            trace.marker.colors = [INKS[category].light for category in meta["categories"]]
        elif "ink" in meta:
            _coloured(trace, meta["ink"]["light"])
    if legend:
        _with_legend(figure)
    figure.update_layout(paper_bgcolor="white", plot_bgcolor="white")
    return figure


def _coloured(trace: Any, colour: str) -> None:
    """Line, marks and band in one colour, as a page has them."""
    if "line" in trace:
        trace.line.color = colour
    if "marker" in trace:
        trace.marker.color = colour
    if trace.type == "scatter" and trace.fill:
        trace.fillcolor = "rgba({}, {}, {}, 0.16)".format(*(int(colour[at : at + 2], 16) for at in (1, 3, 5)))


def _with_legend(figure: go.Figure) -> None:
    """The meaning of the colours of categories: a page shows it next to the figure, a notebook has the figure alone."""
    if figure.layout.showlegend:
        return
    shown: list[str] = []
    for trace in figure.data:
        meta = trace.meta or {}
        if meta.get("scale") == "category":
            values = np.asarray(trace.z, dtype=np.float64)
            shown += [SHOWN[int(value)] for value in np.unique(values[~np.isnan(values)])]
        shown += meta.get("categories", ())
    for category in (name for name in INKS if name in set(shown)):
        mark = {"symbol": "square", "size": 10, "color": INKS[category].light}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=mark, name=label(category), hoverinfo="skip")
    if shown and not any("scale" in (trace.meta or {}) for trace in figure.data):
        figure.update_layout(xaxis_visible=False, yaxis_visible=False)  # the boxes of a tree have no axes
    if shown or any("category" in (trace.meta or {}) for trace in figure.data):
        figure.update_layout(
            showlegend=True,
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
            margin={"t": ROOM_OF_LEGEND},
            height=figure.layout.height + ROOM_OF_LEGEND,
        )


def _categories() -> list[list[object]]:
    count = len(SHOWN)
    return [[edge / count, INKS[name].light] for i, name in enumerate(SHOWN) for edge in (i, i + 1)]
