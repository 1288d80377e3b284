"""SENS's three regions (`replay.whatif.regions`) over a swept setting, as grounds of its figure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from logpost.replay.graph.regions import CONGESTION, HIDING, LATENCY, Band

FILLS = {HIDING: "rgba(0, 158, 115, 0.07)", LATENCY: "rgba(240, 162, 2, 0.10)", CONGESTION: "rgba(213, 94, 0, 0.12)"}
"""Grounds that light and dark paper both bear."""
NARROW, TOO_NARROW = 0.25, 0.05
"""Of the axis: the name of a narrower band is vertical; that of a still narrower band would not fit."""


def shaded(fig: go.Figure, bands: Sequence[Band]) -> None:
    """The bands as grounds of a figure whose horizontal axis is logarithmic; names are vertical in narrow bands."""
    whole = abs(math.log(bands[-1].end / bands[0].begin)) if bands else 0.0
    for band in bands:
        part = abs(math.log(band.end / band.begin)) / whole if whole else 0.0
        fig.add_shape(
            type="rect",
            xref="x",
            yref="paper",
            x0=band.begin,
            x1=band.end,
            y0=0,
            y1=1,
            fillcolor=FILLS[band.name],
            line={"width": 0},
            layer="below",
            label={
                "text": band.name if part >= TOO_NARROW else "",
                "textposition": "middle center" if part < NARROW else "bottom center",
                "textangle": -90 if part < NARROW else 0,
                "padding": 8,
                "font": {"size": 11},
            },
        )
