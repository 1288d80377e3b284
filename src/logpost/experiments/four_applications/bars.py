"""Bars of every application with every mechanism, stacked, relative to the application's run with polling."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from logpost.dashboards.figures.bars import Part, stacked
from logpost.dashboards.figures.chart import Chart
from logpost.experiments.four_applications.runs import Done, Runs

LITTLE = 0.05
"""Bars within 5 % of each other count as equal: the paper's are read off bars (Fig. 4 and 5)."""


def relative_bars(
    runs: Runs,
    hues: Mapping[str, int],
    piece: Callable[[Done, str], float],
    whole: Callable[[Done], float],
    axis: str,
    summary: str,
) -> Chart:
    """A bar per run, grouped by application.

    Args:
        runs: all of them.
        hues: name of a piece -> its hue, from the bottom of a bar.
        piece: how much of a run is a piece.
        whole: all pieces of a run together.
        axis: title of the vertical axis.
        summary: one sentence for a reader who cannot see the chart.
    """
    return stacked(
        [one.mechanism.short for one in runs.every],
        [
            Part(name, [piece(one, name) / whole(runs.base(one.application)) for one in runs.every], hue)
            for name, hue in hues.items()
        ],
        axis,
        summary,
        groups=[one.application for one in runs.every],
        height=460,
    )
