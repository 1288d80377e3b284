"""Who is hot when: the load of each rank as an endpoint over time."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.reporting.units import bytes_text, percent_text, time_text
from logpost.dashboards.figures.chart import Chart, View, axis, figure, row_axis, row_height
from logpost.dashboards.figures.folding import Columns, Rows
from logpost.dashboards.figures.heat import Measure, heat
from logpost.dashboards.figures.labels import time_unit


def load(table: pl.LazyFrame, on: Rows, over: Columns) -> Chart:
    """Rank × time heat map of the table `load`, switchable between bytes arriving and leaving, and, as the model has
    it, how busy the receiving endpoint was and how long messages queued for it."""
    cells = (
        over.binned(table)
        .join(on.of.lazy(), on="location")
        .group_by("row", "bin", "direction")
        .agg(pl.col("bytes", "busy_ps", "queued_ps").sum())
        .collect()
    )

    def grid(direction: str, column: str) -> np.ndarray:
        part = cells.filter(pl.col("direction") == direction)
        values = np.zeros((on.count, over.count))
        values[part["row"].to_numpy(), part["bin"].to_numpy()] = part[column].to_numpy()
        return values

    def where(row: int, column: int) -> str:
        return f"{on.titles[row]}, {over.spans[column]}"

    utilisation = grid("recv", "busy_ps") / (np.maximum(on.sizes, 1)[:, None] * over.width_ps)
    views = tuple(
        View(measure.label, (heat(values, measure, where),))
        for measure, values in (
            (Measure("Bytes arriving", "bytes", bytes_text, 2), grid("recv", "bytes")),
            (Measure("Bytes leaving", "bytes", bytes_text, 2), grid("send", "bytes")),
            (Measure("Receiver busy", "modelled utilisation", percent_text), utilisation),
            (Measure("Queued at receiver", "modelled queueing", time_text), grid("recv", "queued_ps")),
        )
    )
    factor, unit = time_unit(over.begin_ps + over.length_ps)
    step = over.width_ps / factor
    begin = over.begin_ps / factor
    fig = figure(
        90 + row_height(on.count, 22, 4, 720),
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
    arriving = grid("recv", "bytes")
    said = "No traffic."
    if arriving.any():
        r, c = np.unravel_index(arriving.argmax(), arriving.shape)
        said = (
            f"The most arrives at {on.titles[r]} at {time_text(over.begin_ps + (c + 0.5) * over.width_ps)}: "
            f"{bytes_text(arriving[r, c])} in {time_text(over.width_ps)}."
        )
    return Chart(fig, said, views)
