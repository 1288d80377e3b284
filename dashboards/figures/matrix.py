"""Who sends to whom: sender by receiver."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.dashboards.figures.chart import Chart, View, axis, figure, row_axis
from logpost.dashboards.figures.heat import heat
from logpost.dashboards.grid import Rows
from logpost.dashboards.text import bytes_text, count_text, time_text

MEASURES = (
    ("Bytes", ("bytes",), bytes_text, "bytes"),
    ("Messages", ("messages",), count_text, "messages"),
    ("Contention", ("endpoint_contention_ps", "network_contention_ps"), time_text, "contention time"),
    ("Waiting", ("late_sender_ps", "late_receiver_ps"), time_text, "late sender + late receiver"),
)
"""Label, columns of `pairs` that are added, how a value reads, title of the colour bar."""


def matrix(pairs: pl.DataFrame, on: Rows) -> Chart:
    """Sender × receiver heat map of the table `pairs`, switchable between bytes, messages, contention and waiting."""
    send = on.of.rename({"location": "send_location", "row": "send"})
    recv = on.of.rename({"location": "recv_location", "row": "recv"})
    cells = (
        pairs.join(send, on="send_location")
        .join(recv, on="recv_location")
        .group_by("send", "recv")
        .agg(*(pl.sum_horizontal(pl.col(c).sum().cast(pl.Float64) for c in cs).alias(n) for n, cs, _, _ in MEASURES))
    )
    views = []
    for name, _, say, title in MEASURES:
        grid = np.zeros((on.count, on.count))
        grid[cells["send"].to_numpy(), cells["recv"].to_numpy()] = cells[name].to_numpy()
        views.append(View(name, heat(grid, say, title, lambda i, j: f"{on.titles[i]} → {on.titles[j]}")))
    side = int(min(760, max(300, 24 * on.count)))
    across = row_axis(on.labels, f"receiver ({on.what})", 24)
    fig = figure(
        side + 90,
        xaxis={**across, "range": [-0.5, on.count - 0.5], "constrain": "domain"},
        yaxis={
            **row_axis(on.labels, f"sender ({on.what})", 24),
            "scaleanchor": "x",
            "constrain": "domain",
            "fixedrange": True,
        },
    )
    fig.add_heatmap(
        x=list(range(on.count)),
        y=list(range(on.count)),
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        xgap=1 if on.count <= 64 else 0,
        ygap=1 if on.count <= 64 else 0,
        **views[0].trace,
    )
    busiest = cells.sort("Bytes", descending=True).head(1)
    said = "No messages."
    if busiest.height:
        s, r, b = busiest.row(0)[:3]
        said = f"Most bytes go from {on.titles[s]} to {on.titles[r]}: {bytes_text(b)}."
    return Chart(fig, said, tuple(views))
