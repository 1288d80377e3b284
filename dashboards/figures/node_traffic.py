"""Bytes from node to node, as ranks were placed and as another mapping would place them, on one scale."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from logpost.analyzer.words.units import bytes_text, percent_text
from logpost.dashboards.figures.chart import Chart, View, axis, figure
from logpost.dashboards.figures.heat import Measure, heat
from logpost.dashboards.figures.labels import plotly_text

MOST_NODES = 128
"""Rows and columns: on a screen of 1,080 pixels, a cell of more would be smaller than 8 pixels."""
BYTES = Measure("Bytes", "bytes between nodes", bytes_text, 2, largest=True)


def node_traffic(
    pairs: pl.DataFrame,
    placements: Mapping[str, Mapping[int, int]],
    hosts: Mapping[int, str] | None = None,
    hops: Mapping[tuple[int, int], int] | None = None,
) -> Chart:
    """A cell for each pair of nodes; what stays within a node is in the sentence alone, since no network carries it.

    Args:
        pairs: columns send_location, recv_location and bytes.
        placements: by name, the node of each location; at most `MOST_NODES` nodes.
        hosts: names of nodes, where they have any.
        hops: links from each node to each; nothing where they are not known.
    """
    nodes = sorted({node for placed in placements.values() for node in placed.values()})
    index = {node: number for number, node in enumerate(nodes)}
    ends = [pairs[name].to_list() for name in ("send_location", "recv_location")]
    sizes = pairs["bytes"].to_numpy().astype(np.float64)
    grids, said, crossed = {}, [], []
    links = np.array([[hops[a, b] for b in nodes] for a in nodes], dtype=np.float64) if hops else None
    for name, placed in placements.items():
        grid = np.zeros((len(nodes), len(nodes)))
        rows, columns = (np.array([index[placed[location]] for location in end], dtype=np.int64) for end in ends)
        np.add.at(grid, (rows, columns), sizes)
        inside, whole = float(np.trace(grid)), float(grid.sum())
        np.fill_diagonal(grid, 0.0)
        grids[name] = grid
        if links is not None and whole > inside:
            crossed.append(f"{float((grid * links).sum()) / (whole - inside):.2f} {name}")
        said.append(f"{percent_text(1 - inside / whole) if whole else 'nothing'} {name}")
    largest = max(grids.values(), key=lambda grid: float(grid.max(initial=0.0)))
    scale = {key: heat(largest, BYTES, lambda _i, _j: "")[key] for key in ("zmin", "zmax", "colorbar")}
    called = hosts or {}
    labels = [plotly_text(called.get(node) or str(node), 16) for node in nodes]
    titles = [plotly_text(called.get(node) or f"node {node}") for node in nodes]
    step = max(1, -(-len(nodes) // 16))
    ticks = {"tickmode": "array", "tickvals": list(range(0, len(nodes), step)), "ticktext": labels[::step]}
    views = []
    for name, grid in grids.items():
        drawn = heat(grid, BYTES, lambda i, j: f"{titles[i]} → {titles[j]}")
        views.append(View(plotly_text(name, 30).capitalize(), ({**drawn, **scale},)))
    fig = figure(
        400,
        xaxis=axis("to node", showgrid=False, fixedrange=True, constrain="domain", **ticks),
        yaxis=axis("from node", showgrid=False, fixedrange=True, autorange="reversed", scaleanchor="x", **ticks),
    )
    fig.add_heatmap(
        x=list(range(len(nodes))),
        y=list(range(len(nodes))),
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        **views[-1].traces[0],
    )
    summary = f"Of all bytes, those between nodes: {'; '.join(said)}."
    if crossed:
        summary += f" Links that such a byte crosses, in the mean: {'; '.join(crossed)}."
    return Chart(fig, summary, tuple(views), len(views) - 1)
