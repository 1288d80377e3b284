"""What threads did: a stacked bar per thread, by category."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from logpost.analyzer.render.report.threads import TITLES
from logpost.analyzer.run.schema import THREAD_CATEGORIES
from logpost.analyzer.words.units import percent_text, time_text
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis, row_height
from logpost.dashboards.figures.labels import time_unit

INK = {
    "parallel": "compute",
    "imbalance": "late_sender",
    "synchronization": "lock_wait",
    "management": "send_overhead",
    "communication": "mpi_other",
    "serial": "latency",
    "idle_serial": "late_receiver",
    "idle_communication": "collective_wait",
    "not_in_team": "network_contention",
}
"""Category of a thread's time to the category of a rank's whose colour it has."""

HEIGHT_OF_LEGEND = 70
"""Pixels of three lines."""


def thread_times(each: np.ndarray, labels: Sequence[str]) -> Chart:
    """Stacked horizontal bars.

    Args:
        each: shape (threads, categories of threads), in ps.
        labels: of the threads.
    """
    factor, unit = time_unit(float(each.sum(axis=1).max(initial=0.0)))
    fig = figure(
        HEIGHT_OF_LEGEND + 80 + row_height(len(labels)),
        barmode="stack",
        bargap=0.28,
        xaxis=axis(f"time ({unit})"),
        yaxis=row_axis(list(labels), "rank.thread"),
        showlegend=True,  # these are no categories of the ranks' time, whose colours the page explains
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
    )
    whole = np.maximum(1.0, each.sum(axis=1))
    for i, category in enumerate(THREAD_CATEGORIES):
        times = each[:, i]
        if not times.any():
            continue
        fig.add_bar(
            orientation="h",
            y=list(range(len(labels))),
            x=[float(f"{time / factor:.6g}") for time in times],
            customdata=[
                f"<b>{label}</b> {TITLES[category]}: {time_text(time)}, {percent_text(time / of)}"
                for label, time, of in zip(labels, times, whole, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **category_trace(INK[category]) | {"name": TITLES[category]},
        )
    total = each.sum(axis=0)
    top = [i for i in np.argsort(-total, kind="stable")[:3] if total[i] > 0]
    said = ", ".join(f"{TITLES[THREAD_CATEGORIES[i]]} {percent_text(total[i] / total.sum())}" for i in top)
    return Chart(fig, f"Time of {len(labels)} threads. Over all: {said or 'no time'}.")
