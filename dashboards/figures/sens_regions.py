"""SENS's three regions over a swept setting: where the network hides behind the program, and where it leads.

Between two neighbouring points the region is that of the elasticity d ln T / d ln s, s being the setting turned so that
a larger one is worse (SENS, Fig. 1 and 2; `replay.whatif.regions`). Neighbours of one region are one band.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from logpost.replay.whatif.regions import CONGESTION, HIDING, LATENCY, region

FILLS = {HIDING: "rgba(0, 158, 115, 0.07)", LATENCY: "rgba(240, 162, 2, 0.10)", CONGESTION: "rgba(213, 94, 0, 0.12)"}
"""Grounds that light and dark paper both bear."""
NARROW = 0.14
"""Of the axis; the name of a narrower band would not fit into it."""


@dataclass(frozen=True)
class Band:
    """A stretch of the setting's axis."""

    begin: float
    end: float
    name: str


def sens_regions(settings: Sequence[float], times: Sequence[float], *, worse_upwards: bool) -> list[Band]:
    """The bands, in the order of the settings; none where a setting or a time is not positive.

    Args:
        settings: ascending.
        times: of the run, by setting.
        worse_upwards: False: of a bandwidth.
    """
    if any(value <= 0 for value in (*settings, *times)):
        return []
    bands: list[Band] = []
    ends = zip(settings, times, settings[1:], times[1:], strict=False)
    for begin, before, end, after in ends:
        if end <= begin:
            continue
        elasticity = math.log(after / before) / math.log(end / begin)
        name = region(elasticity if worse_upwards else -elasticity, congests=True)
        if bands and bands[-1].name == name:
            bands[-1] = Band(bands[-1].begin, end, name)
        else:
            bands.append(Band(begin, end, name))
    return bands


def shaded(fig: go.Figure, bands: Sequence[Band]) -> None:
    """The bands as grounds of a figure whose horizontal axis is logarithmic, with their names where they fit."""
    whole = math.log(bands[-1].end / bands[0].begin) if bands else 0.0
    for band in bands:
        fits = math.log(band.end / band.begin) >= NARROW * whole
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
                "text": band.name if fits else "",
                "textposition": "bottom center",
                "padding": 8,
                "font": {"size": 11},
            },
        )
