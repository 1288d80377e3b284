"""The links of a mesh, torus or ring at their coordinates: a node's place shows whether it is amid the traffic.

A node is a square of three by three cells with its number in the middle. The cell to its right is the link that leaves
it in the direction of rising x, the one to its left that of falling x; above and below are those of y. The third
dimension's planes are side by side; its links are the corners, upper right (rising z) and lower left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

import numpy as np
import polars as pl

from logpost.analyzer.words.units import bytes_text, percent_text, time_text
from logpost.dashboards.figures.chart import Chart, View, figure
from logpost.dashboards.figures.heat import Measure, heat
from logpost.dashboards.figures.labels import plotly_text
from logpost.machines.topologies import Cartesian, Topology

MOST_NODES = 1024
MOST_DIMENSIONS = 3
WIDTH_OF_LETTER = 0.6
"""Of a font's size, in the mean."""
MEASURES = (
    (Measure("Utilisation", "mean utilisation", percent_text, largest=True), "utilisation"),
    (Measure("Bytes", "bytes", bytes_text, 2, largest=True), "bytes"),
    (Measure("Contention", "network contention", time_text, largest=True), "granted_ps"),
)
UP, DOWN = ((2, 1), (1, 2), (2, 2)), ((0, 1), (1, 0), (0, 0))
"""By dimension: the cell (column, row) of a node's square that is its link in the direction of rising or falling
coordinates."""


def is_drawn(topology: Topology | None) -> TypeGuard[Cartesian]:
    """Whether it is a grid of at most three dimensions, small enough for its nodes to be seen."""
    return (
        isinstance(topology, Cartesian) and len(topology.shape()) <= MOST_DIMENSIONS and topology.n_nodes <= MOST_NODES
    )


def grid_map(
    topology: Cartesian, carried: pl.DataFrame, traffic: pl.DataFrame, called: Mapping[int, str] | None = None
) -> Chart:
    """The map.

    Args:
        topology: one that `is_drawn`.
        carried: the run's table `links`.
        traffic: the run's table `traffic`: the phases that are added up.
        called: by node of the network, its host; other nodes bear their number.
    """
    names = [plotly_text((called or {}).get(node, str(node)), 16) for node in range(topology.n_nodes)]
    lasted = traffic.select("traffic_phase", lasts_ps=(pl.col("end_ps") - pl.col("begin_ps")).cast(pl.Float64))
    whole = max(float(lasted["lasts_ps"].sum()), 1.0)
    summed = (
        carried.join(lasted, on="traffic_phase")
        .group_by("from_vertex", "to_vertex")
        .agg(
            utilisation=(pl.col("utilisation") * pl.col("lasts_ps")).sum() / whole,
            bytes=pl.col("bytes").sum(),
            granted_ps=pl.col("granted_ps").cast(pl.Float64).sum(),
        )
        .sort("from_vertex", "to_vertex")
    )
    shape = (*topology.shape(), 1, 1)[:MOST_DIMENSIONS]
    columns = shape[2] * (3 * shape[0] + 1) - 1  # a column is left free between planes
    corner = _corners(topology)
    dimension, rises = _directions(topology, summed)
    cells = np.where(rises[:, None], np.array(UP)[dimension], np.array(DOWN)[dimension])
    at = corner[summed["from_vertex"].to_numpy()] + cells
    where: dict[tuple[int, int], str] = {
        (row, column): f"link {names[a]} → {names[b]}"
        for (column, row), a, b in zip(at.tolist(), summed["from_vertex"], summed["to_vertex"], strict=True)
    }
    views = []
    for measure, field in MEASURES:
        grid = np.zeros((3 * shape[1], columns))
        grid[at[:, 1], at[:, 0]] = summed[field].to_numpy()
        views.append(View(measure.label, (heat(grid, measure, lambda i, j: where.get((i, j), "")), {})))
    side = min(26.0, 1100 / columns)
    size = 12 if side >= 14 else 9 if side >= 8 else 6
    fits = max(map(len, names)) * WIDTH_OF_LETTER * size <= side
    hidden = {"visible": False, "fixedrange": True}
    fig = figure(
        int(60 + max(160.0, side * 3 * shape[1])),
        xaxis={**hidden, "range": [-0.5, columns - 0.5]},
        yaxis={**hidden, "range": [-0.5, 3 * shape[1] - 0.5], "scaleanchor": "x"},
    )
    fig.add_heatmap(
        x=list(range(columns)),
        y=list(range(3 * shape[1])),
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        **views[0].traces[0],
    )
    middles = corner + 1
    fig.add_scatter(
        x=middles[:, 0].tolist(),
        y=middles[:, 1].tolist(),
        mode="markers+text",
        # Unused links have no cell: without its square a node would be a number in the void. Grey suits both grounds.
        marker={"symbol": "square-open", "size": 0.9 * side, "color": "rgba(128,128,128,0.6)"},
        text=names if fits else [str(node) for node in range(topology.n_nodes)],
        textfont={"size": size},
        hovertext=[f"node {node}" + (f": {name}" if name != str(node) else "") for node, name in enumerate(names)],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    busiest = summed.sort("utilisation", descending=True).head(1)
    said = "No link carried a message."
    if busiest.height:
        a, b, share = busiest.select("from_vertex", "to_vertex", "utilisation").row(0)
        said = f"The busiest link is {names[a]} → {names[b]}: occupied for {percent_text(share)} of the time."
    return Chart(fig, said, tuple(views))


def _corners(topology: Cartesian) -> np.ndarray:
    """Lower left cell (column, row) of each node's square."""
    places = topology.coordinates(np.arange(topology.n_nodes))
    places = np.pad(places, ((0, 0), (0, MOST_DIMENSIONS - places.shape[1])))
    plane = 3 * topology.shape()[0] + 1
    return np.stack([3 * places[:, 0] + plane * places[:, 2], 3 * places[:, 1]], axis=1)


def _directions(topology: Cartesian, carried: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Of each link: its dimension, and whether its coordinate rises; across the end of a ring, it rises to 0."""
    shape = np.array(topology.shape())
    ends = [topology.coordinates(carried[name].to_numpy()) for name in ("from_vertex", "to_vertex")]
    step = ends[1] - ends[0]
    dimension = np.abs(step).argmax(axis=1) if len(step) else np.zeros(0, dtype=np.int64)
    one = step[np.arange(len(step)), dimension]
    ring = np.abs(one) > 1  # around the end
    return dimension, np.where(ring & (shape[dimension] > 2), one < 0, one > 0)
