"""Two runs rank by rank: the change of each category's time on each rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.units import time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis, row_height
from logpost.dashboards.figures.labels import plotly_text, time_unit

MOST = 32
"""Ranks drawn: those that change most."""


def rank_changes(before: np.ndarray, after: np.ndarray, names: Sequence[str]) -> Chart:
    """Stacked bars of B − A: left, the categories with less time in B; right, those with more.

    Args:
        before, after: shape (ranks, categories), in ps, categories in the order of `SHOWN`.
        names: of the ranks.
    """
    change = after - before
    size = np.abs(change).sum(axis=1)
    chosen = most_changed(before, after)
    ends = max(float(np.where(change > 0, change, 0).sum(axis=1).max(initial=0)),
               float(np.where(change < 0, -change, 0).sum(axis=1).max(initial=0)), 1.0)  # fmt: skip
    factor, unit = time_unit(ends)
    fig = figure(
        80 + row_height(len(chosen), 26, 10, 520),
        barmode="relative",
        bargap=0.25,
        xaxis=axis(f"B − A ({unit})", fixedrange=True),
        yaxis=row_axis([plotly_text(names[i]) for i in chosen], ""),
    )
    for category in palette.INKS:
        times = change[chosen, SHOWN.index(category)]
        if not times.any():
            continue
        fig.add_bar(
            orientation="h",
            y=list(range(len(chosen))),
            x=[float(f"{t / factor:.5g}") for t in times.tolist()],
            customdata=[
                f"{plotly_text(names[i])}<br><b>{palette.label(category)}</b> "
                f"{'+' if t > 0 else '−'}{time_text(abs(t))}"
                for i, t in zip(chosen, times.tolist(), strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **category_trace(category),
        )
    if not size.any():
        return Chart(fig, "No rank changes.")
    worst = int(size.argmax())
    by = float(change[worst].sum())
    sign = "+" if by > 0 else "−" if by < 0 else ""
    return Chart(fig, f"{plotly_text(names[worst])} changes most: {sign}{time_text(abs(by))} in all.")


def most_changed(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Which ranks are drawn, from top to bottom."""
    size = np.abs(after - before).sum(axis=1)
    found: np.ndarray = np.sort(np.argsort(-size, kind="stable")[:MOST])
    return found
