"""Wait states with Scalasca's definitions: total time of each pattern."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.report.data import WaitState
from logpost.analyzer.words.units import time_text
from logpost.analyzer.words.wait_states import WAIT_STATE_NAMES
from logpost.dashboards.figures.chart import Chart, axis, figure, row_axis
from logpost.dashboards.figures.labels import grouped, time_unit

INK = {
    "late_sender": "late_sender",
    "late_receiver": "late_receiver",
    "wait_at_barrier": "collective_wait",
    "wait_at_nxn": "collective_wait",
    "late_broadcast": "collective_wait",
    "early_reduce": "collective_wait",
    "wait_at_fence": "collective_wait",
    "wait_at_creation": "collective_wait",
}
"""Pattern -> the category whose colour it shares."""


def wait_states(totals: Sequence[WaitState]) -> Chart:
    """Bars of total time over all ranks, longest first."""
    shown = sorted((w for w in totals if w.wait_ps > 0), key=lambda w: -w.wait_ps)
    factor, unit = time_unit(max((w.wait_ps for w in shown), default=0.0))
    fig = figure(
        70 + 34 * len(shown),
        bargap=0.35,
        xaxis=axis(f"time, all ranks ({unit})"),
        yaxis=row_axis([WAIT_STATE_NAMES[w.name] for w in shown], ""),
    )
    for i, w in enumerate(shown):
        # Inside where the text surely fits, else next to the bar, where it is never left out.
        inside = w.wait_ps > 0.3 * shown[0].wait_ps
        fig.add_bar(
            orientation="h",
            y=[i],
            x=[float(f"{w.wait_ps / factor:.6g}")],
            name=WAIT_STATE_NAMES[w.name],
            meta={"category": INK[w.name]},
            text=[f" {time_text(w.wait_ps)} · {grouped(w.count)} × "],
            textposition="inside" if inside else "outside",
            insidetextanchor="end",
            cliponaxis=False,
            customdata=[f"<b>{WAIT_STATE_NAMES[w.name]}</b> {time_text(w.wait_ps)}, {grouped(w.count)} occurrences"],
            hovertemplate="%{customdata}<extra></extra>",
        )
    said = "; ".join(f"{WAIT_STATE_NAMES[w.name]} {time_text(w.wait_ps)}" for w in shown)
    return Chart(fig, said or "No wait states.")
