"""Links of the network over the phases of the traffic: how busy, how many bytes, how much contention."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.reporting.units import bytes_text, percent_text, span_text, time_text
from logpost.dashboards.figures.chart import Chart, View, axis, figure, row_axis, row_height
from logpost.dashboards.figures.heat import Measure, heat

MOST_LINKS = 40
FEW_PHASES = 24
"""So many have a tick each: between them there is none."""
MEASURES = (
    (Measure("Utilisation", "utilisation", percent_text), "utilisation"),
    (Measure("Bytes", "bytes", bytes_text, 2), "bytes"),
    (Measure("Contention", "network contention", time_text), "granted_ps"),
)


def links(carried: pl.DataFrame, traffic: pl.DataFrame) -> Chart:
    """A row per link, the busiest ones; a column per phase of the traffic.

    Args:
        carried: the run's table `links`.
        traffic: the run's table `traffic`, in the order of time.
    """
    names = pl.format("{} → {}", "from_vertex", "to_vertex")
    ordered = (
        carried.with_columns(link=names)
        .group_by("link")
        .agg(pl.col("bytes").sum(), pl.col("utilisation").max())
        .sort("bytes", "link", descending=[True, False])
        .head(MOST_LINKS)
    )
    order = {link: row for row, link in enumerate(ordered["link"])}
    column = {phase: i for i, phase in enumerate(traffic["traffic_phase"])}
    spans = [span_text(a, b) for a, b in traffic.select("begin_ps", "end_ps").iter_rows()]
    mine = carried.with_columns(link=names).filter(pl.col("link").is_in(list(order)))
    grids = {}
    for _, field in MEASURES:
        grid = np.zeros((len(order), len(column)))
        for link, phase, value in mine.select("link", "traffic_phase", field).iter_rows():
            if phase in column:
                grid[order[link], column[phase]] = value
        grids[field] = grid
    labels = list(order)
    views = tuple(
        View(measure.label, (heat(grids[field], measure, lambda i, j: f"link {labels[i]}, {spans[j]}"),))
        for measure, field in MEASURES
    )
    fig = figure(
        90 + row_height(len(order), 18, 8, 620),
        xaxis=axis(
            "phase of the traffic (between synchronizations)",
            showgrid=False,
            tickformat="d",
            dtick=1 if len(column) <= FEW_PHASES else None,
            range=[-0.5, len(column) - 0.5],
        ),
        yaxis=row_axis(labels, "link (node or switch)", 40),
    )
    fig.add_heatmap(
        x=list(range(len(column))),
        y=list(range(len(order))),
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        ygap=1,
        **views[0].traces[0],
    )
    said = f"The most bytes go over link {labels[0]}." if labels else "No link carried a message."
    return Chart(fig, said, views)
