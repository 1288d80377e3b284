"""Sizes and durations of messages: count and time by size, and measured against model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from logpost.analyzer.words.units import bytes_text, time_text
from logpost.dashboards.figures.chart import Chart, View, axis, figure
from logpost.dashboards.figures.curves import LEAST_DECADES, log_ticks
from logpost.dashboards.figures.labels import grouped, time_unit

INK = {"light": "#0072b2", "dark": "#56a9e8"}
MOST_TICKS = 7
"""So many labels fit next to each other in half a page."""
MARGIN = {"l": 64, "r": 8, "t": 8, "b": 46}
"""Room for ticks and title: to let plotly find it takes it as long as to draw the bars."""
MODEL = {"light": "#d55e00", "dark": "#f58a4b"}


def by_size(classes: pl.DataFrame, what: str = "messages") -> Chart:
    """Bars by power of two of the size, with three views: messages, bytes, time in flight.

    Args:
        classes: columns power (of two; -1: empty messages), messages, bytes, envelope_ps, by power.
        what: what is counted.
    """
    names = ["0 B" if p < 0 else bytes_text(2.0**p) for p in classes["power"]]
    factor, unit = time_unit(float(classes["envelope_ps"].max() or 0))  # type: ignore[arg-type]
    shown = (
        (what.capitalize(), what, [float(v) for v in classes["messages"]], grouped),
        ("Bytes", "MiB", [v / 2**20 for v in classes["bytes"]], lambda v: bytes_text(v * 2**20)),
        ("Time", f"sum of envelopes ({unit})", [v / factor for v in classes["envelope_ps"]],
         lambda v: time_text(v * factor)),
    )  # fmt: skip
    views = tuple(
        View(
            label,
            (
                {
                    "x": list(range(len(names))),
                    "y": [float(f"{v:.6g}") for v in values],
                    "customdata": [f"from {name}: {say(v)}" for name, v in zip(names, values, strict=True)],
                },
            ),
            {"yaxis": axis(title, rangemode="tozero", fixedrange=True, automargin=False)},
        )
        for label, title, values, say in shown
    )
    fig = figure(300, bargap=0.15, xaxis=_classes("size from (power of two)", names), margin=MARGIN, **views[0].layout)
    fig.add_bar(
        meta={"ink": INK},
        marker={"line": {"width": 0}},
        hovertemplate="%{customdata}<extra></extra>",
        **views[0].traces[0],
    )
    total = int(classes["messages"].sum())
    return Chart(fig, f"{grouped(total)} {what} by size.", views)


def by_time(classes: pl.DataFrame, what: str = "messages") -> Chart:
    """Messages by their time in flight, a third of a decade a bar: how many, and how much time.

    Args:
        classes: columns third (of log10 of the envelope in ps), messages, envelope_ps, by third.
        what: what is counted.
    """
    names = [time_text(10.0 ** (t / 3)) for t in classes["third"]]
    factor, unit = time_unit(float(classes["envelope_ps"].max() or 0))  # type: ignore[arg-type]
    views = tuple(
        View(
            label,
            ({"y": [float(f"{v:.6g}") for v in values]},),
            {"yaxis": axis(title, rangemode="tozero", fixedrange=True, automargin=False)},
        )
        for label, title, values in (
            (what.capitalize(), what, [float(v) for v in classes["messages"]]),
            ("Time", f"sum of envelopes ({unit})", [v / factor for v in classes["envelope_ps"]]),
        )
    )  # fmt: skip
    fig = figure(300, bargap=0.1, xaxis=_classes("envelope from", names), margin=MARGIN, **views[0].layout)
    fig.add_bar(
        x=list(range(len(names))),
        meta={"ink": INK},
        marker={"line": {"width": 0}},
        customdata=[
            f"from {name}: {grouped(n)} {what}, {time_text(t)} in all"
            for name, n, t in zip(names, classes["messages"], classes["envelope_ps"], strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        **views[0].traces[0],
    )
    return Chart(fig, f"{grouped(int(classes['messages'].sum()))} {what} by their time in flight.", views)


def measured_and_modelled(classes: pl.DataFrame) -> Chart:
    """Time without waits over size: the middle half of what was measured, and what the model says.

    Args:
        classes: columns bytes (mean of a class of sizes), messages, low_ps, middle_ps, high_ps (quartiles of the
            measured time without waits), and modelled_ps (median); by bytes.
    """
    factor, unit = time_unit(float(classes["high_ps"].max() or 0))  # type: ignore[arg-type]
    x = [max(0.5, float(v)) for v in classes["bytes"]]
    low, middle, high, modelled = (
        [float(f"{max(v, 1.0) / factor:.5g}") for v in classes[name].to_list()]
        for name in ("low_ps", "middle_ps", "high_ps", "modelled_ps")
    )
    ticks = [2.0**k for k in range(0, 41, 2) if min(x, default=1) / 2 <= 2.0**k <= max(x, default=1) * 2]
    within = _decades(low, high, modelled)
    fig = figure(
        320,
        xaxis=axis("size", type="log", tickmode="array", tickvals=ticks, ticktext=[bytes_text(t) for t in ticks]),
        yaxis=axis(
            f"time without waits ({unit})", type="log", exponentformat="none", range=within, **log_ticks(*within)
        ),
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    )
    custom = [
        f"{bytes_text(b)}: {grouped(n)} messages<br>measured {time_text(m * factor)} "
        f"({time_text(lo * factor)} to {time_text(hi * factor)})<br>modelled {time_text(p * factor)}"
        for b, n, lo, m, hi, p in zip(x, classes["messages"], low, middle, high, modelled, strict=True)
    ]
    fig.add_scatter(
        x=[*x, *reversed(x)], y=[*high, *reversed(low)], fill="toself", mode="lines",
        fillcolor="rgba(0, 114, 178, 0.16)",
        line={"width": 0}, meta={"ink": INK}, hoverinfo="skip", name="middle half", showlegend=False,
    )  # fmt: skip
    fig.add_scatter(
        x=x, y=middle, mode="lines+markers", line={"width": 2}, marker={"size": 6}, meta={"ink": INK},
        customdata=custom, hovertemplate="%{customdata}<extra></extra>", name="measured (median, middle half)",
    )  # fmt: skip
    fig.add_scatter(
        x=x, y=modelled, mode="lines+markers", line={"width": 2, "dash": "dash"}, meta={"ink": MODEL}, hoverinfo="skip",
        marker={"size": 6, "symbol": "square"}, name="model (median)",
    )  # fmt: skip
    off = np.abs(np.log(np.array(modelled) / np.array(middle))) if x else np.zeros(0)
    worst = int(off.argmax()) if off.size else -1
    said = f" The model is furthest off at {bytes_text(x[worst])}." if worst >= 0 else ""
    return Chart(fig, f"Measured and modelled time of messages over their size.{said}")


def _classes(title: str, names: Sequence[str]) -> dict[str, Any]:
    """A horizontal axis with a place for each class; at most `MOST_TICKS` of their names are written."""
    step = max(1, -(-len(names) // MOST_TICKS))
    return axis(
        title,
        tickmode="array",
        tickvals=list(range(0, len(names), step)),
        ticktext=list(names[::step]),
        fixedrange=True,
        automargin=False,
    )


def _decades(*values: list[float]) -> list[float]:
    """Range of a logarithmic axis over the values, of at least `LEAST_DECADES`: lines that hardly differ are not drawn
    as if they did."""
    every = [value for one in values for value in one]
    low, high = math.log10(min(every, default=1.0)), math.log10(max(every, default=1.0))
    room = max(0.05 * (high - low), (LEAST_DECADES - (high - low)) / 2)
    return [low - room, high + room]
