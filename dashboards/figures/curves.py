"""Curves over a setting: formulas, simulations and measurements as lines, a paper's printed numbers as marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import plotly.graph_objects as go

from logpost.dashboards.figures.chart import Chart, axis, figure
from logpost.dashboards.figures.labels import plotly_text

Origin = Literal["paper", "formula", "testbed", "measured"]

INKS: tuple[tuple[str, str], ...] = (
    ("#0072b2", "#56a9e8"),
    ("#d55e00", "#f58a4b"),
    ("#009e73", "#3fd0a4"),
    ("#7a4fc0", "#b9a0f5"),
    ("#b3246b", "#ea74ac"),
    ("#8a7a1f", "#d9c960"),
    ("#566273", "#aab6c6"),
    ("#00808a", "#4cc9d4"),
)
"""On light and on dark paper; after Okabe and Ito, as the categories' colours are."""

MOST_DECADES_DIVIDED = 3
MOST_DECADES_LABELLED = 8
LEAST_DECADES = 0.5
"""Of a logarithmic axis."""
_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "pentagon", "star")
_DASHES: dict[str, str] = {"formula": "dash", "testbed": "solid", "measured": "solid"}


@dataclass(frozen=True)
class Curve:
    """One line or set of marks. Lines of one `hue` belong together: one thing by formula and by testbed."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    origin: Origin
    hue: int = 0
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    """Bounds of y, drawn as bars, where they are known."""


@dataclass(frozen=True)
class Axis:
    """Title with unit, and how it is divided."""

    title: str
    log: bool = False
    reverse: bool = False
    """From large to small, as SENS draws bisection."""
    zero: bool = True
    """A linear axis starts at zero."""
    ticks: Sequence[float] = field(default_factory=tuple)
    labels: Sequence[str] = ()
    text: Callable[[float], str] | None = None
    """Says a tick of a logarithmic axis with its unit; None: its digits, and the title has the unit."""
    unit: str = ""
    """Behind a value that is pointed at, where the title has none."""
    also: Sequence[float] = ()
    """Further values that the axis covers."""


def curves(series: Sequence[Curve], x: Axis, y: Axis, summary: str, *, height: int = 420) -> Chart:
    """Lines over a setting; a formula is dashed, a simulation or measurement solid, a printed number a hollow mark.

    Args:
        series: what to draw, in the order of the legend.
        x, y: the axes, with units.
        summary: one sentence for a reader who cannot see the chart.
        height: in pixels.
    """
    fig = figure(
        height,
        xaxis=_axis(x, [*(v for one in series for v in one.x), *x.also]),
        yaxis=_axis(y, [*(v for one in series for v in one.y if v is not None), *y.also]),
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        hovermode="closest",
    )
    for one in series:
        light, dark = INKS[one.hue % len(INKS)]
        marks = one.origin != "formula"
        mode = "markers" if one.origin == "paper" else ("lines+markers" if marks else "lines")
        trace: dict[str, Any] = {
            "name": plotly_text(one.name, 90),
            "x": list(one.x),
            "y": list(one.y),
            "mode": mode,
            "meta": {"ink": {"light": light, "dark": dark}, "origin": one.origin},
            "line": {"color": light, "width": 2, "dash": _DASHES.get(one.origin, "solid")},
            "marker": {
                "color": light,
                "size": 12 if one.origin == "paper" else 7,
                "symbol": _SYMBOLS[one.hue % len(_SYMBOLS)] + ("-open" if one.origin == "paper" else ""),
                "line": {"width": 2.5 if one.origin == "paper" else 0, "color": light},
            },
            "hovertemplate": f"%{{y:.4~g}} {y.unit}".rstrip()
            + "<br>at %{x:.4~g}<extra>"
            + plotly_text(one.name, 90)
            + "</extra>",
        }
        if one.low and one.high:
            trace["error_y"] = {
                "type": "data",
                "symmetric": False,
                "array": [h - v if v is not None else None for h, v in zip(one.high, one.y, strict=True)],
                "arrayminus": [v - low if v is not None else None for low, v in zip(one.low, one.y, strict=True)],
                "thickness": 1.2,
                "width": 3,
            }
        fig.add_scatter(**trace)
    return Chart(fig, summary)


def printed_alone(chart: Chart) -> Chart | None:
    """What of a chart the paper prints in numbers, on the axes of all; None where that is nothing."""
    every = chart.figure.data
    marks = [trace for trace in every if (trace.meta or {}).get("origin") == "paper"]
    if not marks:
        return None
    fig = go.Figure(data=marks, layout=chart.figure.layout)
    for side in ("x", "y"):
        own = fig.layout[f"{side}axis"]
        values = [value for trace in every for value in trace[side] if value is not None]
        if own.range is None:
            low, high = min([*values, *([0.0] if own.rangemode == "tozero" else [])]), max(values)
            room = 0.05 * (high - low)
            own.range = [high + room, low] if own.autorange == "reversed" else [low, high + room]
            own.autorange = None
    return Chart(fig, "; ".join(f"{trace.name}: {', '.join(f'{y:.4g}' for y in trace.y)}" for trace in marks))


def _plain(value: float) -> str:
    """Without an exponent where people would not write one."""
    return f"{value:,.0f}" if 1 <= value < 1e7 else f"{value:g}"


def log_ticks(low: float, high: float) -> dict[str, Any]:
    """Ticks of a logarithmic axis between two powers of ten: 1, 2, 5 of a few decades, more of less than one, else the
    decades, for the digits between would lie upon each other."""
    steps = (1, 2, 3, 4, 5, 6, 8) if high - low < 1 else (1, 2, 5) if high - low < MOST_DECADES_DIVIDED else (1,)
    every = max(1, round((high - low) / MOST_DECADES_LABELLED))
    ticks = [step * 10.0**decade for decade in range(math.floor(low), math.ceil(high) + 1, every) for step in steps]
    return {"tickmode": "array", "tickvals": ticks, "ticktext": [_plain(tick) for tick in ticks]}


def _axis(said: Axis, values: Sequence[float]) -> dict[str, Any]:
    more: dict[str, Any] = {}
    if said.log:
        more |= {"type": "log", "exponentformat": "none", "minor": {"showgrid": False}}
        positive = [v for v in values if v > 0]
        if positive:
            low, high = math.log10(min(positive)), math.log10(max(positive))
            # Lines that hardly differ are not drawn as if they did, and the axis has a tick.
            room = max(0.04 * (high - low), (LEAST_DECADES - (high - low)) / 2)
            more["range"] = [high + room, low - room] if said.reverse else [low - room, high + room]
            more |= log_ticks(low, high)
            if said.text is not None:
                more["ticktext"] = [said.text(tick) for tick in more["tickvals"]]
    elif said.reverse:
        more["autorange"] = "reversed"
    elif said.zero:
        more["rangemode"] = "tozero"
    if said.ticks:
        more |= {"tickmode": "array", "tickvals": list(said.ticks)}
        more["ticktext"] = list(said.labels) if said.labels else [f"{tick:g}" for tick in said.ticks]
    return axis(plotly_text(said.title, 120), **more)
