"""Wait states with Scalasca's definitions: total time of each pattern."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.reporting.units import time_text
from logpost.dashboards.figures.chart import Chart, axis, figure, row_axis
from logpost.dashboards.text import grouped, time_unit

NAMES = {
    "late_sender": "Late Sender",
    "late_receiver": "Late Receiver",
    "wait_at_barrier": "Wait at Barrier",
    "wait_at_nxn": "Wait at NxN",
    "late_broadcast": "Late Broadcast",
    "early_reduce": "Early Reduce",
}
"""Pattern -> the field's name for it."""

INK = {
    "late_sender": "late_sender",
    "late_receiver": "late_receiver",
    "wait_at_barrier": "collective_wait",
    "wait_at_nxn": "collective_wait",
    "late_broadcast": "collective_wait",
    "early_reduce": "collective_wait",
}
"""Pattern -> the category whose colour it shares."""


def wait_states(totals: pl.DataFrame) -> Chart:
    """Bars of total time, longest first.

    Args:
        totals: columns pattern, wait_ps, count, summed over ranks.
    """
    shown = totals.filter(pl.col("wait_ps") > 0).sort("wait_ps", descending=True)
    factor, unit = time_unit(float(shown["wait_ps"].max() or 0))  # type: ignore[arg-type]
    fig = figure(
        70 + 34 * shown.height,
        bargap=0.35,
        xaxis=axis(f"time summed over ranks ({unit})"),
        yaxis=row_axis([NAMES[p] for p in shown["pattern"]], ""),
    )
    for i, (pattern, wait, count) in enumerate(shown.select("pattern", "wait_ps", "count").iter_rows()):
        fig.add_bar(
            orientation="h",
            y=[i],
            x=[float(f"{wait / factor:.6g}")],
            name=NAMES[pattern],
            meta={"category": INK[pattern]},
            text=[f" {time_text(wait)} · {grouped(count)} × "],
            textposition="auto",
            customdata=[f"<b>{NAMES[pattern]}</b> {time_text(wait)}, {grouped(count)} occurrences"],
            hovertemplate="%{customdata}<extra></extra>",
        )
    said = "; ".join(f"{NAMES[p]} {time_text(w)}" for p, w in shown.select("pattern", "wait_ps").iter_rows())
    return Chart(fig, said or "No wait states.")
