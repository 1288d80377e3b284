"""Where each rank's time went: stacked bars by category."""

from __future__ import annotations

import numpy as np

from logpost.analyzer.schema import CATEGORIES
from logpost.dashboards import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis, row_height
from logpost.dashboards.grid import Rows
from logpost.dashboards.text import share_text, time_text, time_unit


def breakdown(seconds: np.ndarray, on: Rows) -> Chart:
    """Stacked horizontal bars, a row per rank or block of ranks.

    Args:
        seconds: shape (rows, categories), in ps, summed over the row's ranks; drawn as the mean of a rank.
        on: the rows.
    """
    mean = seconds / np.maximum(on.sizes, 1)[:, None]
    wall = mean.sum(axis=1)
    factor, unit = time_unit(float(wall.max(initial=0.0)))
    fig = figure(
        90 + row_height(on.count),
        barmode="stack",
        bargap=0.28 if on.count <= 64 else 0.0,
        xaxis=axis(f"time ({unit})" + (", mean of the block" if on.folded else ""), side="bottom"),
        yaxis=row_axis(on.labels, on.what),
    )
    for category in palette.INKS:
        part = mean[:, CATEGORIES.index(category)]
        if not part.any():
            continue
        hover = [
            f"{title}<br><b>{palette.label(category)}</b> {time_text(p)} · {share_text(p / w if w else 0.0)} of {time_text(w)}"
            for title, p, w in zip(on.titles, part.tolist(), wall.tolist(), strict=True)
        ]
        fig.add_bar(
            orientation="h",
            y=list(range(on.count)),
            x=[float(f"{p / factor:.6g}") for p in part.tolist()],
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            **category_trace(category),
        )
    total = mean.sum(axis=0)
    top = np.argsort(-total)[:3]
    said = ", ".join(f"{palette.label(CATEGORIES[i])} {share_text(total[i] / total.sum())}" for i in top if total[i] > 0)
    return Chart(fig, f"Time by category for {on.count} rows. Over all: {said or 'no time'}.")
