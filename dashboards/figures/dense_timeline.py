"""Rank by time for many ranks: a byte per cell, so that hundreds of rows of a thousand bins stay below 2 MB."""

from __future__ import annotations

import numpy as np

from logpost.analyzer.run.undivided import SHOWN
from logpost.dashboards.figures.chart import Chart, View, axis, figure, row_axis, row_height
from logpost.dashboards.figures.folding import Columns, Rows
from logpost.dashboards.figures.labels import time_unit
from logpost.dashboards.figures.timeline import MAGNITUDE, first_view, with_views

MOST_CELLS = 600_000
"""A byte for the category and one for its share, as base64: 1.6 MB, and three views share the shares."""
NOTHING = -1
"""The code of a cell in which no time of the row lies."""


def dense_timeline(cube: np.ndarray, on: Rows, over: Columns) -> Chart:
    """A cell per (row, time bin) in the colour of what dominates, with its share in whole per cent.

    Args:
        cube: shape (rows, bins, categories), time in ps; at most `MOST_CELLS` cells.
        on: the rows.
        over: the bins.
    """
    assert cube.shape[0] * cube.shape[1] <= MOST_CELLS, "the server folds rows and bins before"
    total = cube.sum(axis=2)
    some = total > 0
    dominant = np.where(some, cube.argmax(axis=2), NOTHING).astype(np.int8)
    outside = np.where(some, 100.0 * (1.0 - cube[:, :, 0] / np.where(some, total, 1.0)), -1.0)
    busiest = np.where(some & (outside >= 0.5), 1 + cube[:, :, 1:].argmax(axis=2), NOTHING).astype(np.int8)
    share = np.rint(100.0 * cube.max(axis=2) / np.where(some, total, 1.0)).astype(np.int8)
    end = over.begin_ps + over.length_ps
    factor, unit = time_unit(end)
    step, begin = over.width_ps / factor, over.begin_ps / factor
    category = {"meta": {"scale": "category_or_none"}, "zmin": NOTHING - 0.5, "zmax": len(SHOWN) - 0.5}
    fig = figure(
        max(320, 90 + row_height(on.count, 22, 1, 560)),
        xaxis=axis(f"time ({unit})", showgrid=False, range=[begin, end / factor]),
        yaxis=row_axis(on.labels, on.axis),
        meta={"ps_per_x": factor},
    )
    fig.add_heatmap(
        z=dominant,
        x0=begin + step / 2,
        dx=step,
        y0=0,
        dy=1,
        customdata=share,
        hovertemplate=f"{on.what} %{{y}}, %{{x:.5~g}} {unit}<br>%{{customdata}} %<extra></extra>",
        showscale=False,
        xgap=0,
        ygap=0,
        **category,
    )
    hidden = {"showscale": False}
    views = (
        View("Dominant category", ({"z": _packed(dominant), **category, **hidden},)),
        View("Dominant outside compute", ({"z": _packed(busiest), **category, **hidden},)),
        View("Share outside compute", ({"z": _packed(np.rint(outside).astype(np.int8)), **MAGNITUDE},)),
    )
    return with_views(fig, cube, (on, over), views, first_view(dominant[some], busiest[some]))


def _packed(values: np.ndarray) -> dict[str, str]:
    """As plotly.js reads typed arrays."""
    import base64

    packed = base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()
    return {"dtype": "i1", "bdata": packed, "shape": f"{values.shape[0]}, {values.shape[1]}"}
