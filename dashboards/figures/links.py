"""Links of the network over time: how busy, how many bytes, how much contention, phase by phase of the traffic."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import polars as pl

from logpost.analyzer.words.units import bytes_text, percent_text, span_text, time_text
from logpost.dashboards.figures.chart import Chart, View, axis, figure, row_axis, row_height
from logpost.dashboards.figures.heat import HEIGHT_OF_BAR, Measure, heat
from logpost.dashboards.figures.labels import plotly_text, time_unit

MOST_LINKS = 40
FEW_PHASES = 100
"""Up to so many are drawn with a line between them."""
MEASURES = (
    (Measure("Utilisation", "utilisation", percent_text), "utilisation"),
    (Measure("Bytes", "bytes", bytes_text, 2), "bytes"),
    (Measure("Contention", "network contention", time_text), "granted_ps"),
)


def links(carried: pl.DataFrame, traffic: pl.DataFrame, called: Mapping[int, str] | None = None) -> Chart:
    """A row per link, the busiest ones; a column per phase of the traffic, as wide as the phase is long.

    Args:
        carried: the run's table `links`.
        traffic: the run's table `traffic`, in the order of time; at least one phase.
        called: by node of the network, its host; other nodes and switches bear their number.
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
    edges_ps, column = _columns(traffic)
    spans = [span_text(a, b) for a, b in itertools.pairwise(edges_ps)]
    mine = carried.with_columns(link=names).filter(pl.col("link").is_in(list(order)))
    grids = {}
    for _, field in MEASURES:
        grid = np.zeros((len(order), len(spans)))
        for link, phase, value in mine.select("link", "traffic_phase", field).iter_rows():
            if phase in column:
                grid[order[link], column[phase]] = value
        grids[field] = grid
    labels = [" → ".join(_name(int(end), called or {}) for end in link.split(" → ")) for link in order]
    views = tuple(
        View(measure.label, (heat(grids[field], measure, lambda i, j: f"link {labels[i]}, {spans[j]}"),))
        for measure, field in MEASURES
    )
    factor, unit = time_unit(edges_ps[-1])
    edges = [edge / factor for edge in edges_ps]
    fig = figure(
        90 + max(HEIGHT_OF_BAR, row_height(len(order), 18, 8, 620)),
        xaxis=axis(f"time ({unit})", showgrid=False, range=[edges[0], edges[-1]]),
        yaxis=row_axis(labels, "link (node or switch)", 40),
        meta={"ps_per_x": factor},
    )
    fig.add_heatmap(
        x=edges,
        y=list(range(len(order))),
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        xgap=1 if len(spans) <= FEW_PHASES else 0,
        ygap=1,
        **views[0].traces[0],
    )
    said = f"The most bytes go over link {labels[0]}." if labels else "No link carried a message."
    return Chart(fig, said, views)


def _name(vertex: int, called: Mapping[int, str]) -> str:
    return plotly_text(called.get(vertex, str(vertex)), 16)


def _columns(traffic: pl.DataFrame) -> tuple[list[int], dict[int, int]]:
    """Edges of the columns in ps, and the column of each phase; what lies between two phases is an empty column."""
    edges: list[int] = []
    column: dict[int, int] = {}
    for phase, begin, end in traffic.select("traffic_phase", "begin_ps", "end_ps").iter_rows():
        if not edges or begin > edges[-1]:
            edges.append(begin)
        column[phase] = len(edges) - 1
        edges.append(end)
    return edges, column
