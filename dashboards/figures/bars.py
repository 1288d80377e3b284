"""Stacked bars: what a total consists of, one bar per case; SENS's breakdowns of time and of volume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from logpost.dashboards.figures.chart import Chart, axis, figure
from logpost.dashboards.figures.curves import INKS
from logpost.dashboards.figures.labels import plotly_text

_PATTERNS = ("", "/", "", "\\", "x", "", "", "-")


@dataclass(frozen=True)
class Part:
    """One part of every bar, from the bottom up."""

    name: str
    values: Sequence[float]
    hue: int
    """Of curves.INKS; parts side by side should differ by more than hue, so some also have a pattern."""


def stacked(
    bars: Sequence[str],
    parts: Sequence[Part],
    unit: str,
    summary: str,
    *,
    groups: Sequence[str] = (),
    height: int = 420,
) -> Chart:
    """One bar per case, stacked from its parts.

    Args:
        bars: their names, left to right.
        parts: bottom to top; each has a value for every bar.
        unit: title of the vertical axis, with the unit.
        summary: one sentence for a reader who cannot see the chart.
        groups: the group of each bar (an application, say), written below the names.
        height: in pixels.
    """
    names = [plotly_text(name) for name in bars]
    fig = figure(
        height,
        barmode="stack",
        bargap=0.25,
        xaxis=axis("", showgrid=False, **({"type": "multicategory"} if groups else {})),
        yaxis=axis(plotly_text(unit, 120), rangemode="tozero"),
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left", "traceorder": "normal"},
    )
    for part in parts:
        light, dark = INKS[part.hue % len(INKS)]
        fig.add_bar(
            name=plotly_text(part.name, 90),
            x=[[plotly_text(group) for group in groups], names] if groups else names,
            y=list(part.values),
            meta={"ink": {"light": light, "dark": dark}},
            marker={
                "color": light,
                "line": {"width": 0},
                "pattern": {"shape": _PATTERNS[part.hue % len(_PATTERNS)], "fillmode": "overlay", "solidity": 0.15},
            },
            hovertemplate="%{x}<br>%{y:.4~g}<extra>" + plotly_text(part.name, 90) + "</extra>",
        )
    return Chart(fig, summary)
