"""Bars side by side: LOG3P's figures set predicted and measured next to each other for each size and stride."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logpost.dashboards.figures.chart import Chart, axis, figure
from logpost.dashboards.figures.curves import INKS
from logpost.dashboards.figures.labels import plotly_text


@dataclass(frozen=True)
class Bars:
    """One source's bars, one for each case."""

    name: str
    values: Sequence[float]
    hue: int


def grouped(
    groups: Sequence[str], cases: Sequence[str], bars: Sequence[Bars], unit: str, summary: str, *, log: bool = False
) -> Chart:
    """For each case (below: its group) a bar of every source.

    Args:
        groups: of each case, e.g. its message size.
        cases: names, e.g. strides.
        bars: the sources, left to right.
        unit: title of the vertical axis, with the unit.
        summary: one sentence for a reader who cannot see the chart.
        log: a logarithmic vertical axis.
    """
    fig = figure(
        420,
        barmode="group",
        bargap=0.25,
        xaxis=axis("", showgrid=False, type="multicategory"),
        yaxis=axis(plotly_text(unit, 120), **({"type": "log", "exponentformat": "none"} if log else {})),
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left", "traceorder": "normal"},
    )
    for one in bars:
        light, dark = INKS[one.hue % len(INKS)]
        fig.add_bar(
            name=plotly_text(one.name, 90),
            x=[[plotly_text(group) for group in groups], [plotly_text(case) for case in cases]],
            y=list(one.values),
            meta={"ink": {"light": light, "dark": dark}},
            marker={"color": light, "line": {"width": 0}},
            hovertemplate="%{x}<br>%{y:.4~g}<extra>" + plotly_text(one.name, 90) + "</extra>",
        )
    return Chart(fig, summary)
