"""POP's efficiencies over time."""

from __future__ import annotations

import numpy as np

from logpost.analyzer.words.units import percent_text
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.dashboards.figures.folding import Columns
from logpost.dashboards.figures.labels import time_unit


def efficiency_line(cube: np.ndarray, over: Columns) -> Chart:
    """Parallel efficiency = load balance × communication efficiency, for each bin alone.

    Args:
        cube: shape (ranks, bins, categories), time in ps, compute first.
        over: the bins.
    """
    compute, total = cube[:, :, 0], cube.sum(axis=2)
    length = total.max(axis=0, initial=0.0)
    most = compute.max(axis=0, initial=0.0)
    mean = compute.mean(axis=0) if len(compute) else np.zeros(over.count)

    def ratio(a: np.ndarray, b: np.ndarray) -> list[float | None]:
        return [float(f"{100 * p / q:.4g}") if q > 0 else None for p, q in zip(a.tolist(), b.tolist(), strict=True)]

    factor, unit = time_unit(over.begin_ps + over.length_ps)
    x = [(over.begin_ps + (i + 0.5) * over.width_ps) / factor for i in range(over.count)]
    series = [
        Curve("parallel efficiency", x, ratio(mean, length), "formula", 0),
        Curve("load balance", x, ratio(mean, most), "formula", 1),
        Curve("communication efficiency", x, ratio(most, length), "formula", 2),
    ]
    whole = float(mean.sum() / length.sum()) if length.sum() > 0 else 0.0
    made = curves(
        series,
        Axis(f"time ({unit})", zero=False),
        Axis("efficiency (%)"),
        f"Parallel efficiency over time; {percent_text(whole)} over all.",
        height=250,
    )
    for trace in made.figure.data:
        trace.line.dash = "solid"
    # The product of two factors hides one of them where the other is near 1: a wider line below stays visible.
    made.figure.data[0].line.width = 6
    made.figure.update_layout(meta={"ps_per_x": factor}, yaxis={"range": [0, 103]}, hovermode="x unified")
    return made
