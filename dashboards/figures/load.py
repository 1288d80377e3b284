"""Who is hot when: the load of each rank as an endpoint over time."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.dashboards.figures.chart import Chart, View, axis, figure, row_axis, row_height
from logpost.dashboards.figures.heat import heat
from logpost.dashboards.grid import Columns, Rows
from logpost.dashboards.text import bytes_text, share_text, time_text, time_unit


def load(table: pl.LazyFrame, on: Rows, over: Columns) -> Chart:
    """Rank × time heat map of the table `load`, switchable between bytes arriving and leaving, and, as the model has
    it, how busy the receiving endpoint was and how long messages queued for it."""
    cells = (
        table.join(on.of.lazy(), on="location")
        .group_by("row", (pl.col("window") // over.per_bin).alias("bin"), "direction")
        .agg(pl.col("bytes", "busy_ps", "queued_ps").sum())
        .collect()
    )

    def grid(direction: str, column: str) -> np.ndarray:
        part = cells.filter(pl.col("direction") == direction)
        values = np.zeros((on.count, over.count))
        values[part["row"].to_numpy(), part["bin"].to_numpy()] = part[column].to_numpy()
        return values

    def where(row: int, column: int) -> str:
        return f"{on.titles[row]}, {over.span(column)}"

    utilisation = grid("recv", "busy_ps") / (np.maximum(on.sizes, 1)[:, None] * over.width_ps)
    views = (
        View("Bytes arriving", heat(grid("recv", "bytes"), bytes_text, "bytes", where)),
        View("Bytes leaving", heat(grid("send", "bytes"), bytes_text, "bytes", where)),
        View("Receiver busy", heat(utilisation, share_text, "modelled utilisation", where)),
        View("Queued at receiver", heat(grid("recv", "queued_ps"), time_text, "modelled queueing", where)),
    )
    factor, unit = time_unit(over.width_ps * over.count)
    step = over.width_ps / factor
    fig = figure(
        90 + row_height(on.count, 22, 4, 720),
        xaxis=axis(f"time ({unit})", showgrid=False, range=[0, step * over.count]),
        yaxis=row_axis(on.labels, on.what),
    )
    fig.add_heatmap(
        x0=step / 2,
        dx=step,
        y=list(range(on.count)),
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        ygap=1 if on.count <= 64 else 0,
        **views[0].trace,
    )
    arriving = grid("recv", "bytes")
    said = "No traffic."
    if arriving.any():
        r, c = np.unravel_index(arriving.argmax(), arriving.shape)
        said = (
            f"The most arrives at {on.titles[r]} at {time_text((c + 0.5) * over.width_ps)}: "
            f"{bytes_text(arriving[r, c])} in {time_text(over.width_ps)}."
        )
    return Chart(fig, said, views)
