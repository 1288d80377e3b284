"""Hot ranks over time: the load of each rank as an endpoint."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.words.units import bytes_text, percent_text, time_text
from logpost.dashboards.figures.chart import Chart, View, axis, figure, row_axis, row_height
from logpost.dashboards.figures.folding import Columns, Rows
from logpost.dashboards.figures.heat import HEIGHT_OF_BAR, Measure, heat
from logpost.dashboards.figures.labels import time_unit
from logpost.dashboards.figures.queueing import QUEUEING

MEASURES = (
    Measure("Bytes arriving", "bytes", bytes_text, 2),
    Measure("Bytes leaving", "bytes", bytes_text, 2),
    Measure("Receiver busy", "modelled utilisation", percent_text),
    QUEUEING,
)
"""What the chart can show. Queueing is that of messages for the rank, at the time they were sent."""


def load(table: pl.LazyFrame, queues: pl.LazyFrame, on: Rows, over: Columns) -> Chart:
    """Rank × time heat map, switchable between `MEASURES`.

    Args:
        table: location, direction, window, bytes and busy_ps, as in the table `load`.
        queues: location, window, queued_ps: what messages for the location wait in queues.
        on: the rows.
        over: bins of windows.
    """
    cells = (
        over.binned(table)
        .join(on.of.lazy(), on="location")
        .group_by("row", "bin", "direction")
        .agg(pl.col("bytes", "busy_ps").sum())
        .collect()
    )
    waits = over.binned(queues).join(on.of.lazy(), on="location").group_by("row", "bin").agg(pl.col("queued_ps").sum())

    def grid(part: pl.DataFrame, column: str) -> np.ndarray:
        values = np.zeros((on.count, over.count))
        sums = part[column].cast(pl.Float64)  # they may be wide
        values[part["row"].to_numpy(), part["bin"].to_numpy()] = sums.to_numpy()
        return values

    def where(row: int, column: int) -> str:
        return f"{on.titles[row]}, {over.spans[column]}"

    received, sent = (cells.filter(pl.col("direction") == direction) for direction in ("recv", "send"))
    arriving, leaving, queued = grid(received, "bytes"), grid(sent, "bytes"), grid(waits.collect(), "queued_ps")
    utilisation = grid(received, "busy_ps") / (np.maximum(on.sizes, 1)[:, None] * over.width_ps)
    views = tuple(
        View(measure.label, (heat(values, measure, where),))
        for measure, values in zip(MEASURES, (arriving, leaving, utilisation, queued), strict=True)
    )
    factor, unit = time_unit(over.begin_ps + over.length_ps)
    step = over.width_ps / factor
    begin = over.begin_ps / factor
    fig = figure(
        90 + max(HEIGHT_OF_BAR, row_height(on.count, 17, 4, 560)),
        xaxis=axis(f"time ({unit})", showgrid=False, range=[begin, begin + step * over.count]),
        yaxis=row_axis(on.labels, on.axis),
        meta={"ps_per_x": factor},
    )
    fig.add_heatmap(
        x0=begin + step / 2,
        dx=step,
        y=list(range(on.count)),
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        ygap=1 if on.count <= 64 else 0,
        **views[0].traces[0],
    )
    said = "No traffic."
    if arriving.any():
        r, c = np.unravel_index(arriving.argmax(), arriving.shape)
        said = (
            f"The most arrives at {on.titles[r]} at {time_text(over.begin_ps + (c + 0.5) * over.width_ps)}: "
            f"{bytes_text(arriving[r, c])} in {time_text(over.width_ps)}."
        )
    if queued.any():
        rank = int(queued.sum(axis=1).argmax())
        said += f" Most queueing is for {on.titles[rank]}: {time_text(queued[rank].sum())}."
    return Chart(fig, said, views)
