"""Who sends to whom: sender by receiver."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.reporting.units import bytes_text, time_text
from logpost.dashboards.figures.chart import Chart, View, figure, row_axis
from logpost.dashboards.figures.folding import Rows
from logpost.dashboards.figures.heat import Measure, heat
from logpost.dashboards.figures.labels import grouped
from logpost.dashboards.figures.queueing import QUEUEING, QUEUES

MEASURES = (
    (Measure("Bytes", "bytes", bytes_text, 2), ("bytes",)),
    (Measure("Count", "messages and transfers", grouped), ("messages",)),
    (QUEUEING, QUEUES),
    (
        Measure("Waiting", "late sender + late receiver", time_text, largest=True),
        ("late_sender_ps", "late_receiver_ps"),
    ),
)
"""What the matrix can show, and the columns of `pairs` that are added for it."""


def matrix(pairs: pl.DataFrame, on: Rows) -> Chart:
    """Sender × receiver heat map of the table `pairs`, switchable between bytes, count, queueing and waiting."""
    send = on.of.rename({"location": "send_location", "row": "send"})
    recv = on.of.rename({"location": "recv_location", "row": "recv"})
    cells = (
        pairs.join(send, on="send_location")
        .join(recv, on="recv_location")
        .group_by("send", "recv")
        .agg(*(pl.sum_horizontal(pl.col(cs).sum().cast(pl.Float64)).alias(m.label) for m, cs in MEASURES))
    )
    views = []
    for measure, _ in MEASURES:
        grid = np.zeros((on.count, on.count))
        grid[cells["send"].to_numpy(), cells["recv"].to_numpy()] = cells[measure.label].to_numpy()
        views.append(View(measure.label, (heat(grid, measure, lambda i, j: f"{on.titles[i]} → {on.titles[j]}"),)))
    side = int(min(560, max(220, 44 * on.count)))
    fig = figure(
        side + 80,
        xaxis={**row_axis(on.labels, f"receiver ({on.axis})", 20), "range": [-0.5, on.count - 0.5]},
        yaxis=row_axis(on.labels, f"sender ({on.axis})"),
    )
    fig.add_heatmap(
        x=list(range(on.count)),
        y=list(range(on.count)),
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        xgap=1 if on.count <= 64 else 0,
        ygap=1 if on.count <= 64 else 0,
        **views[0].traces[0],
    )
    busiest = cells.sort("Bytes", descending=True).head(1)
    said = "No messages."
    if busiest.height:
        s, r, b = busiest.row(0)[:3]
        said = f"Most bytes go from {on.titles[s]} to {on.titles[r]}: {bytes_text(b)}."
    return Chart(fig, said, tuple(views))
