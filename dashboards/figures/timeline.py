"""Where and when: rank by time, coloured by what dominates."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.units import percent_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, View, axis, figure, rounded, row_axis, row_height
from logpost.dashboards.figures.folding import Columns, Rows
from logpost.dashboards.figures.labels import time_unit

LEAST = 0.005
"""A cell counts as communicating from this share on: half a per cent is below a pixel's worth of a column."""


DULL = 0.9
"""From this share of cells dominated by compute on, the first view leaves compute out."""
EVEN = 0.9
"""From this share of cells with the same category outside compute on, the first view is how much of them it is."""


def first_view(dominant: np.ndarray, busiest: np.ndarray) -> tuple[int, str]:
    """The view of a timeline that shows most, and its caption: a picture of one colour shows nothing.

    Args:
        dominant: the category of each cell in which any time lies.
        busiest: the same outside compute; NaN or negative where nothing is.
    """
    if not dominant.size or float((dominant == 0).mean()) <= DULL:
        return 0, ""
    there = busiest[busiest > 0].astype(np.int64)
    if not there.size:
        return 1, ""
    most = int(np.bincount(there).argmax())
    if float((there == most).sum()) / dominant.size <= EVEN:
        return 1, ""
    return 2, f" Outside compute, nearly every cell is mostly {palette.label(SHOWN[most])}."


MAGNITUDE = {
    "meta": {"scale": "magnitude"},
    "zmin": 0,
    "zmax": 100,
    "showscale": True,
    "colorbar": {"title": {"text": "% of time", "side": "right"}, "thickness": 12, "outlinewidth": 0},
}
"""How a share in per cent is coloured."""


def outside_compute(cube: np.ndarray) -> float:
    """The share of all time that is not compute: a bin in which a rank ends counts as long as the rank was there."""
    whole = float(cube.sum())
    return 1.0 - float(cube[:, :, 0].sum()) / whole if whole else 0.0


def with_views(
    fig: go.Figure, cube: np.ndarray, cells: tuple[Rows, Columns], views: tuple[View, ...], first: tuple[int, str]
) -> Chart:
    """The chart of a timeline that is drawn.

    Args:
        fig: the figure.
        cube: as of `timeline`.
        cells: its rows and bins.
        views: what a reader can switch between.
        first: of `first_view`.
    """
    number, reason = first
    on, over = cells
    outside = percent_text(outside_compute(cube))
    said = f"{on.count} rows by {over.count} time bins; {outside} of the time is not compute.{reason}"
    return Chart(fig, said, views, number)


def timeline(cube: np.ndarray, on: Rows, over: Columns, length_ps: int = 0) -> Chart:
    """A cell per (row, time bin), with three views: what dominates, what dominates outside compute, and how much
    of the time is not compute.

    Args:
        cube: shape (rows, bins, categories), time in ps.
        on: the rows.
        over: the bins.
        length_ps: of the time axis, if longer than the bins, so that two timelines can share a scale.
    """
    total = cube.sum(axis=2)
    some = total > 0
    share = np.divide(cube, total[:, :, None], out=np.zeros_like(cube), where=some[:, :, None])
    dominant = np.where(some, share.argmax(axis=2), np.nan)
    outside = 1.0 - share[:, :, 0]
    busiest = np.where(some & (outside >= LEAST), 1 + share[:, :, 1:].argmax(axis=2), np.nan)
    end = over.begin_ps + max(length_ps, over.length_ps)
    factor, unit = time_unit(end)
    step = over.width_ps / factor
    begin = over.begin_ps / factor
    category = {"meta": {"scale": "category"}, "zmin": -0.5, "zmax": len(SHOWN) - 0.5, "showscale": False}
    fig = figure(
        90 + row_height(on.count, 22, 4, 720),
        xaxis=axis(f"time ({unit})", showgrid=False, range=[begin, end / factor]),
        yaxis=row_axis(on.labels, on.axis),
        meta={"ps_per_x": factor},
    )
    fig.add_heatmap(
        z=rounded(dominant),
        x0=begin + step / 2,
        dx=step,
        y=list(range(on.count)),
        customdata=_shares(share, some, on, over),
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        xgap=0,
        ygap=1 if on.count <= 64 else 0,
        **category,
    )
    views = (
        View("Dominant category", ({"z": rounded(dominant), **category},)),
        View("Dominant outside compute", ({"z": rounded(busiest), **category},)),
        View("Share outside compute", ({"z": rounded(np.where(some, 100 * outside, np.nan), 3), **MAGNITUDE},)),
    )
    return with_views(fig, cube, (on, over), views, first_view(dominant[some], busiest[some]))


def _shares(share: np.ndarray, some: np.ndarray, on: Rows, over: Columns) -> list[list[str]]:
    """The hover of each cell: its three largest shares, in whole per cent."""
    names = [palette.label(category) for category in SHOWN]
    order = np.argsort(-share, axis=2, kind="stable")[:, :, :3]
    per_cent = np.rint(100 * np.take_along_axis(share, order, axis=2)).astype(int)
    return [
        [
            f"{title}, {span}" + "".join(f"<br>{names[i]} {p} %" for i, p in zip(o, q, strict=True) if p > 0)
            if there
            else ""
            for span, o, q, there in zip(over.spans, o_row, p_row, some_row, strict=True)
        ]
        for title, o_row, p_row, some_row in zip(
            on.titles, order.tolist(), per_cent.tolist(), some.tolist(), strict=True
        )
    ]
