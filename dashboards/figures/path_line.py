"""The critical path as a line over a timeline, as one more view of it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from logpost.dashboards.figures.chart import Chart, View
from logpost.dashboards.figures.folding import Rows

MOST_STRETCHES = 4_000
"""Of more, those between the changes of row that a screen shows are enough: the longest."""


def with_path(made: Chart, path: pl.DataFrame, on: Rows, begin_ps: int, end_ps: int) -> Chart:
    """The timeline with a view "Critical path", in which a line follows the path from row to row.

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
    if shown.height > MOST_STRETCHES:
        shown = shown.top_k(MOST_STRETCHES, by=pl.col("end_ps") - pl.col("begin_ps")).sort("begin_ps")
    if shown.is_empty():
        return made
    x = [at / factor for begin, end in shown.select("begin_ps", "end_ps").iter_rows() for at in (begin, end)]
    y = [row for row in shown["row"] for _ in (0, 1)]
    hidden, seen = {"visible": False}, {"visible": True}
    fig = made.figure
    others = len(fig.data)
    fig.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"width": 2.5, "shape": "linear"},
        meta={"ink": {"light": "#000000", "dark": "#ffffff"}},
        hoverinfo="skip",
        visible=False,
        name="critical path",
    )
    views = made.views or (View("Calls and messages", ({},) * others),)
    views = tuple(replace(view, traces=(*view.traces, hidden)) for view in views)
    base = views[made.first]
    views = (*views, View("With the critical path", (*base.traces[:-1], seen), base.layout))
    return replace(made, views=views)
