"""The critical path as a line over a timeline, as one more view of it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.units import count_text, percent_text, span_text, time_text
from logpost.dashboards.figures.chart import Chart, overlaid
from logpost.dashboards.figures.folding import Rows

VIEW = "With the critical path"
MOST_NAMED = 3
"""Rows that the summary names."""
INK = {"light": "#000000", "dark": "#ffffff"}
EDGE = {"light": "#ffffff", "dark": "#000000"}
"""Around the line, which else is lost on dark cells."""
MOST_STRETCHES = 4_000
"""Of more, those between the changes of row that a screen shows are enough: the longest."""


def with_path(made: Chart, path: pl.DataFrame, on: Rows, begin_ps: int, end_ps: int) -> Chart:
    """The timeline with a view "Critical path", in which a line follows the path from row to row. Its summary says on
    which rows the path is longest.

    Args:
        made: a timeline with rows `on`, whose layout says how many ps a unit of its axis is.
        path: the run's table `critical_path`.
        on: the rows.
        begin_ps, end_ps: what is shown.
    """
    factor = made.figure.layout.meta["ps_per_x"]
    shown = (
        path.filter(pl.col("begin_ps") < end_ps, pl.col("end_ps") > begin_ps)
        .join(on.of, on="location")
        .with_columns(pl.col("begin_ps").clip(begin_ps, end_ps), pl.col("end_ps").clip(begin_ps, end_ps))
        .sort("begin_ps")
    )
    said = _said(shown, on)
    if shown.height > MOST_STRETCHES:
        shown = shown.top_k(MOST_STRETCHES, by=pl.col("end_ps") - pl.col("begin_ps")).sort("begin_ps")
    if shown.is_empty():
        return made
    x = [at / factor for begin, end in shown.select("begin_ps", "end_ps").iter_rows() for at in (begin, end)]
    y = [row for row in shown["row"] for _ in (0, 1)]
    fig = made.figure
    line = {"x": x, "y": y, "mode": "lines", "visible": False}
    fig.add_scatter(
        **line, line={"width": 5}, meta={"ink": EDGE}, opacity=0.7, hoverinfo="skip", name="edge of the critical path"
    )
    fig.add_scatter(
        **line,
        line={"width": 2.5},
        meta={"ink": INK},
        customdata=[text for text in _hovers(shown, on) for _ in (0, 1)],
        hovertemplate="%{customdata}<extra></extra>",
        name="critical path",
    )
    return replace(overlaid(made, VIEW, 2), summary=f"{said} {made.summary}")


def _said(shown: pl.DataFrame, on: Rows) -> str:
    """On which rows the path is longest, and how often it moves."""
    if shown.is_empty():
        return ""
    by_row = (
        shown.with_columns(spent_ps=pl.col("end_ps") - pl.col("begin_ps"))
        .group_by("row")
        .agg(wide_sum("spent_ps"))
        .sort("spent_ps", "row", descending=[True, False])
    )
    whole = max(1, sum(by_row["spent_ps"]))
    most = [f"{percent_text(spent / whole)} on {on.names[row]}" for row, spent in by_row.head(MOST_NAMED).iter_rows()]
    moves = int((shown["row"].diff() != 0).sum())
    return f"Critical path: {', '.join(most)}; it changes {on.what} {count_text(moves, 'time')}."


def _hovers(shown: pl.DataFrame, on: Rows) -> list[str]:
    """Where each stretch is, how long it stays there, and which wait it comes out of."""
    texts = []
    for row, begin, end, after in shown.select(
        "row", "begin_ps", "end_ps", pl.col("after").cast(pl.String)
    ).iter_rows():
        why = "" if after == "begin" else f"<br>its wait ended here: {after.replace('_', ' ')}"
        texts.append(f"critical path: {on.titles[row]}, {time_text(end - begin)}<br>{span_text(begin, end)}{why}")
    return texts
