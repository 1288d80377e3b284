"""Traffic by sender and receiver."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from logpost.analyzer.run.schema import PARTS
from logpost.analyzer.run.undivided import shown_as
from logpost.analyzer.words.units import bytes_text, time_text
from logpost.dashboards.figures import palette
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


def of_parts(undivided: Sequence[str]) -> dict[str, tuple[Measure, tuple[str, ...]]]:
    """By category that the parts of messages are shown under: its time as a measure, and the columns of `pairs`.

    Args:
        undivided: parts that the run does not distinguish: one category has their sum.
    """
    columns: dict[str, tuple[str, ...]] = {}
    for part in PARTS:
        category = shown_as(part, undivided)
        columns[category] = (*columns.get(category, ()), f"{part}_ps")
    return {
        category: (
            Measure(
                palette.label(category).capitalize(),
                f"{palette.label(category)}, all messages",
                time_text,
                largest=True,
            ),
            columns[category],
        )
        for category in palette.INKS
        if category in columns
    }


def matrix(pairs: pl.DataFrame, on: Rows, measures: Sequence[tuple[Measure, tuple[str, ...]]] = MEASURES) -> Chart:
    """Sender × receiver heat map of the table `pairs`, switchable between bytes, count, queueing and waiting.

    Args:
        pairs: rows of that table.
        on: the rows and columns of the map.
        measures: what can be shown, bytes first.
    """
    send = on.of.rename({"location": "send_location", "row": "send"})
    recv = on.of.rename({"location": "recv_location", "row": "recv"})
    cells = (
        pairs.join(send, on="send_location")
        .join(recv, on="recv_location")
        .group_by("send", "recv")
        .agg(*(pl.sum_horizontal(pl.col(cs).sum().cast(pl.Float64)).alias(m.label) for m, cs in measures))
    )
    views = []
    for measure, _ in measures:
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
