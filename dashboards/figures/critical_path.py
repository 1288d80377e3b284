"""The critical path over ranks and time: which rank the program waits for at each moment."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.words.units import percent_text
from logpost.dashboards.figures.chart import Chart, axis, figure, rounded, row_axis, row_height
from logpost.dashboards.figures.folding import Columns, Rows
from logpost.dashboards.figures.labels import time_unit


def critical_path(path: pl.DataFrame, on: Rows, over: Columns) -> Chart:
    """A cell per (row, time bin), as dark as the share of the bin in which the path is there.

    Args:
        path: the run's table of that name.
        on: the rows.
        over: the bins.
    """
    share = on_path(path, on, over) / over.width_ps
    factor, unit = time_unit(over.begin_ps + over.length_ps)
    step, begin = over.width_ps / factor, over.begin_ps / factor
    fig = figure(
        90 + row_height(on.count, 22, 4, 720),
        xaxis=axis(f"time ({unit})", showgrid=False, range=[begin, begin + over.count * step]),
        yaxis=row_axis(on.labels, on.axis),
        meta={"ps_per_x": factor},
    )
    per_cent = np.where(share > 0, 100 * share, np.nan)
    fig.add_heatmap(
        z=rounded(per_cent, 3),
        x0=begin + step / 2,
        dx=step,
        y=list(range(on.count)),
        customdata=[
            [f"{title}, {span}<br>{percent_text(part)} on the path" for span, part in zip(over.spans, row, strict=True)]
            for title, row in zip(on.titles, share.tolist(), strict=True)
        ],
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        xgap=0,
        ygap=1 if on.count <= 64 else 0,
        meta={"scale": "magnitude"},
        zmin=0,
        zmax=100,
        showscale=True,
        colorbar={"title": {"text": "% of time", "side": "right"}, "thickness": 12, "outlinewidth": 0},
    )
    by_row = share.sum(axis=1)
    if not by_row.any():
        return Chart(fig, "The critical path does not enter these bins.")
    most = int(by_row.argmax())
    part = percent_text(by_row[most] / by_row.sum())
    return Chart(fig, f"The critical path by {over.count} time bins; {part} of it is on {on.titles[most]}.")


def on_path(path: pl.DataFrame, on: Rows, over: Columns) -> np.ndarray:
    """Time of the path by (row, bin) in ps, float64. At any instant it is in one row."""
    times = np.zeros((on.count, over.count))
    edges = over.begin_ps + over.width_ps * np.arange(over.count + 1, dtype=np.float64)
    for (row,), stretches in path.join(on.of, on="location").sort("begin_ps").group_by("row"):
        begin, end = (stretches[name].to_numpy().astype(np.float64) for name in ("begin_ps", "end_ps"))
        # The path's time on the row up to each of its stretches' ends, and between them.
        so_far = np.cumsum(end - begin)
        at = np.column_stack((begin, end)).ravel()
        known = np.column_stack((so_far - (end - begin), so_far)).ravel()
        times[int(str(row))] = np.diff(np.interp(edges, at, known))
    return times
