"""A chart: a plotly figure, the views a reader can switch between, and what it says in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from logpost.dashboards.figures import palette

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


@dataclass(frozen=True)
class View:
    """One way to look at a chart: what replaces which attributes of its traces, in their order, and of its layout."""

    label: str
    traces: tuple[dict[str, Any], ...]
    layout: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Chart:
    """A figure with its views."""

    figure: go.Figure
    summary: str
    """One sentence for a reader who cannot see the chart."""
    views: tuple[View, ...] = ()
    first: int = 0
    """The view to start with."""
    open: str = ""
    """What the picture does not show and more work would, as an offer of that work ("Search which L ...")."""
    offered: Mapping[str, str] = field(default_factory=dict)
    """The page state that starts that work; the page sets it, because a figure does not know its page."""

    def payload(self) -> dict[str, Any]:
        """JSON for the page's script."""
        return {
            "figure": json.loads(self.figure.to_json(validate=False)),
            "views": [{"traces": view.traces, "layout": view.layout} for view in self.views],
            "first": self.first,
        }


def overlaid(made: Chart, label: str, drawn: int) -> Chart:
    """The chart with one more view, which is its first one with the last `drawn` traces; other views are without."""
    hidden, seen = ({"visible": False},) * drawn, ({"visible": True},) * drawn
    views = made.views or (View("Calls and messages", ({},) * (len(made.figure.data) - drawn)),)
    views = tuple(replace(view, traces=(*view.traces, *hidden)) for view in views)
    base = views[made.first]
    return replace(made, views=(*views, View(label, (*base.traces[:-drawn], *seen), base.layout)))


def figure(height: int = 400, **layout: Any) -> go.Figure:
    """An empty figure in the page's style; colours are set by the page for its theme."""
    base: dict[str, Any] = {
        "template": "none",
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "font": {"family": FONT, "size": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": False,
        "hoverlabel": {"align": "left", "namelength": -1},
        "dragmode": False,
    }
    return go.Figure(layout={**base, **layout})


FAILED = Chart(
    figure(120, annotations=[{"text": "this figure failed: a fault of logpost", "showarrow": False}]),
    "This figure failed: a fault of logpost.",
)
"""What a page shows in place of a figure that could not be drawn."""


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a title that states the unit, and margins that follow its labels.

    Thousands are grouped as everywhere else; by default plotly groups 1,550.5 and not the 1551 next to it.
    """
    return {
        "title": {"text": title, "standoff": 8},
        "automargin": True,
        "zeroline": False,
        "separatethousands": True,
        **more,
    }


def row_axis(labels: Sequence[str], title: str, most: int = 32) -> dict[str, Any]:
    """A vertical axis of rows from top to bottom; at most `most` of the labels are written."""
    step = max(1, -(-len(labels) // most))
    return axis(
        title,
        tickmode="array",
        tickvals=list(range(0, len(labels), step)),
        ticktext=list(labels[::step]),
        range=[len(labels) - 0.5, -0.5],
        showgrid=False,
        fixedrange=True,
    )


def row_height(rows: int, wanted: int = 26, least: int = 5, most: int = 900) -> int:
    """Pixels for `rows` rows: `wanted` each while they fit, never below `least` each."""
    return int(max(rows * least, min(rows * wanted, most)))


def category_trace(category: str) -> dict[str, Any]:
    """Marker and meta of a bar of a category; the page recolours by `meta.category`."""
    ink = palette.INKS[category]
    return {
        "name": palette.label(category),
        "meta": {"category": category},
        "marker": {
            "color": ink.light,
            "line": {"width": 0},
            "pattern": {"shape": ink.pattern, "fillmode": "overlay", "size": 6, "solidity": 0.2, "fgcolor": "#ffffff"},
        },
    }


def rounded(values: np.ndarray, digits: int = 4) -> list[Any]:
    """Nested lists with `digits` significant digits and None for NaN: small, and exact enough to draw."""
    flat = [None if v != v else float(f"{v:.{digits - 1}e}") for v in values.ravel().tolist()]
    flat = [int(v) if v is not None and v == int(v) and abs(v) < 1e15 else v for v in flat]
    if values.ndim == 1:
        return flat
    width = values.shape[1]
    return [flat[i : i + width] for i in range(0, len(flat), width)]
