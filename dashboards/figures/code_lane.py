"""The code between calls as a lane within each row of a timeline: sampled functions, and calls that reach files."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.labels import folded
from logpost.analyzer.words.units import count_text, time_text
from logpost.dashboards.figures.chart import Chart, overlaid
from logpost.dashboards.figures.folding import Rows
from logpost.dashboards.figures.labels import plotly_text

VIEW = "With the code between calls"
LANE = 0.42
"""Of a row, below its middle: bars of single calls end before it."""
MOST_MARKS = 6_000
"""Of more samples every k-th is drawn; of more calls on files the longest."""
COLOURS = (
    {"light": "#17202c", "dark": "#e6ebf2"},
    {"light": "#0b63a5", "dark": "#6cb4f0"},
    {"light": "#a84a00", "dark": "#f07c3c"},
    {"light": "#00593f", "dark": "#2fc79b"},
    {"light": "#b3246b", "dark": "#e4609f"},
)
"""Of the functions with most samples, in that order; the others are grey."""
OTHERS = {"light": "#98a1ae", "dark": "#7a8596"}
FILES = {"light": "#d55e00", "dark": "#f7c14d"}


def with_code(made: Chart, samples: pl.DataFrame, files: pl.DataFrame, on: Rows, begin_ps: int, end_ps: int) -> Chart:
    """The timeline with one more view, whose rows have such a lane.

    Args:
        made: a timeline with rows `on`, whose layout states how many ps a unit of its axis is.
        samples: columns location, at_ps, name, line.
        files: columns location, enter_ps, leave_ps, name.
        on: the rows.
        begin_ps, end_ps: what is shown.
    """
    factor = made.figure.layout.meta["ps_per_x"]
    taken = samples.filter(pl.col("at_ps").is_between(begin_ps, end_ps)).join(on.of, on="location")
    reached = files.filter(pl.col("enter_ps") < end_ps, pl.col("leave_ps") > begin_ps).join(on.of, on="location")
    if taken.is_empty() and reached.is_empty():
        return made
    before = len(made.figure.data)
    _marks(made, taken, on, factor)
    _spans(made, reached, on, factor)
    return replace(
        overlaid(made, VIEW, len(made.figure.data) - before),
        summary=f"{made.summary} {_said(taken, reached)}",
    )


def _marks(made: Chart, taken: pl.DataFrame, on: Rows, factor: float) -> None:
    every = -(-taken.height // MOST_MARKS)
    drawn = taken.gather_every(max(1, every))
    most = taken["name"].value_counts().sort("count", "name", descending=[True, False])["name"].to_list()
    for rank, name in enumerate([*most[: len(COLOURS)], None]):
        one = drawn.filter(~pl.col("name").is_in(most[: len(COLOURS)]) if name is None else pl.col("name") == name)
        if one.is_empty():
            continue
        made.figure.add_scatter(
            x=[at / factor for at in one["at_ps"]],
            y=[row + LANE for row in one["row"]],
            mode="markers",
            visible=False,
            marker={"symbol": "line-ns", "size": 6, "line": {"width": 2}},
            meta={"ink": OTHERS if name is None else COLOURS[rank]},
            customdata=[
                f"{on.titles[row]} in {plotly_text(folded(function))}" + (f", line {line}" if line else "")
                for row, function, line in one.select("row", "name", "line").iter_rows()
            ],
            hovertemplate="%{customdata}<extra></extra>",
            name=plotly_text(folded(name)) if name is not None else "other functions",
        )


def _spans(made: Chart, reached: pl.DataFrame, on: Rows, factor: float) -> None:
    if reached.is_empty():
        return
    x: list[float | None] = []
    y: list[float | None] = []
    texts: list[str | None] = []
    longest = reached.top_k(MOST_MARKS, by=pl.col("leave_ps") - pl.col("enter_ps"))
    for row, enter, leave, name in longest.select("row", "enter_ps", "leave_ps", "name").iter_rows():
        said = f"{on.titles[row]}: {plotly_text(name)}, {time_text(leave - enter)}"
        x += [enter / factor, leave / factor, None]
        y += [row + LANE, row + LANE, None]
        texts += [said, said, None]
    made.figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        visible=False,
        line={"width": 6},
        meta={"ink": FILES},
        customdata=texts,
        hovertemplate="%{customdata}<extra></extra>",
        name="files",
    )


def _said(taken: pl.DataFrame, reached: pl.DataFrame) -> str:
    """The function with most samples, and the file that costs most."""
    said = []
    if taken.height:
        name, count = taken["name"].value_counts().sort("count", "name", descending=[True, False]).row(0)
        said.append(f"{count} of {count_text(taken.height, 'sample')} are in {folded(name)}.")
    if reached.height:
        spent = reached.with_columns(spent_ps=pl.col("leave_ps") - pl.col("enter_ps")).group_by("name")
        name, time = spent.agg(wide_sum("spent_ps")).sort("spent_ps", "name", descending=[True, False]).row(0)
        said.append(f"Most time with files: {name}, {time_text(time)}.")
    return " ".join(said)
