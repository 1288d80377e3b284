"""Message size by burst length: which decomposition of a transfer overlaps best with the computation on it.

The heat map of Iancu & Strohmaier (Optimizing Communication Overlap for High-Speed Networks, section 4), whose
equations are in `replay.models.overlap`. A cell without colour is a decomposition that the model does not describe: the
queue of the network interface would be full.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from logpost.analyzer.words.units import bytes_text, percent_text, time_text
from logpost.dashboards.figures.chart import Chart, axis, figure
from logpost.dashboards.figures.heat import Measure, heat

STAR = {"light": "#d55e00", "dark": "#ffb300"}
MOST_TICKS = 12
LEAST_GAIN = 5e-4
"""Of the time, which is written."""
TIME = Measure("Time", "predicted time", time_text, differences=True)


@dataclass(frozen=True)
class Overlapped:
    """Predicted times of V bytes with a computation of t_V on them, by decomposition."""

    sizes: Sequence[float]
    """Of a message, ascending, in bytes."""
    bursts: Sequence[int]
    """Messages in a burst, ascending."""
    times_ps: np.ndarray
    """Shape (bursts, sizes); NaN: not described by the model, or more messages than there are."""
    hidden: np.ndarray
    """Likewise: whether the computation covers every initiation (constraints 2 and 3 of the paper)."""
    blocking_ps: float
    """All bytes in one message, and then the computation."""


def overlap_map(found: Overlapped) -> Chart:
    """The map, the best decomposition marked.

    Args:
        found: at least one of its times is described.
    """

    def where(i: int, j: int) -> str:
        cover = "" if found.hidden[i, j] else "<br>the computation does not cover all initiations"
        return f"messages of {_size(found.sizes[j])}, {found.bursts[i]} in a burst{cover}"

    step = max(1, -(-len(found.sizes) // MOST_TICKS))
    fig = figure(
        330,
        xaxis=axis(
            "message size S",
            tickmode="array",
            tickvals=list(range(0, len(found.sizes), step)),
            ticktext=[_size(size) for size in found.sizes[::step]],
            showgrid=False,
            fixedrange=True,
        ),
        yaxis=axis(
            "messages in a burst, b",
            tickmode="array",
            tickvals=list(range(len(found.bursts))),
            ticktext=[str(burst) for burst in found.bursts],
            showgrid=False,
            fixedrange=True,
        ),
    )
    fig.add_heatmap(
        x=list(range(len(found.sizes))),
        y=list(range(len(found.bursts))),
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        showscale=True,
        **heat(found.times_ps, TIME, where),
    )
    row, column = divmod(int(np.nanargmin(found.times_ps)), len(found.sizes))
    fig.add_scatter(
        x=[column],
        y=[row],
        mode="markers",
        marker={"symbol": "star", "size": 14},
        meta={"ink": STAR},
        hoverinfo="skip",
    )
    best = float(found.times_ps[row, column])
    gain = 1 - best / found.blocking_ps
    than = f"one message and then the computation ({time_text(found.blocking_ps)})"
    said = f"{percent_text(gain)} less than {than}" if gain >= LEAST_GAIN else f"no less than {than}"
    size, burst = _size(found.sizes[column]), found.bursts[row]
    return Chart(fig, f"Best: messages of {size} in bursts of {burst}: {time_text(best)}, {said}.")


def _size(size: float) -> str:
    """Bytes of the largest of the messages: what does not divide evenly leaves some of them a byte larger."""
    return bytes_text(math.ceil(size))
