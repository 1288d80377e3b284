"""Each category's time over the number of ranks: measured marks, predicted curves with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.predict.scale import Scaling
from logpost.analyzer.predict.scale.scaling import Point
from logpost.analyzer.render.scale.text import conclusion
from logpost.analyzer.run.undivided import title
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.curves import INKS, Axis, Curve, curves

MS = 1e9
"""Picoseconds."""
MOST = len(INKS) - 1
"""Categories drawn: those with the most time at the target; beyond, colours would be used twice."""


def scaling_chart(found: Scaling) -> Chart:
    """Both axes are logarithmic; the sum of all categories is first."""
    sizes = [float(size) for size in found.sizes]
    sums = [sum(one.measured[i].mean for one in found.categories) for i in range(len(sizes))]
    series = [_predicted("all", 0, found.total), Curve("all, measured", sizes, [one / MS for one in sums], "paper", 0)]
    for hue, one in enumerate(found.categories[:MOST], 1):
        name = title(one.name)
        measured = [spread.mean / MS if spread.mean > 0 else None for spread in one.measured]
        series += [
            _predicted(name, hue, one.points),
            Curve(f"{name}, measured", sizes, measured, "paper", hue),
        ]
    ticks = [float(point.ranks) for point in found.total]
    return curves(
        series,
        Axis("ranks", log=True, ticks=ticks, labels=[f"{tick:,.0f}" for tick in ticks]),
        Axis("mean time of a rank (ms)", log=True),
        f"{conclusion(found)}.",
        height=560,
    )


def _predicted(name: str, hue: int, points: Sequence[Point]) -> Curve:
    shown = [point for point in points if point.mean > 0]
    return Curve(
        name,
        [float(point.ranks) for point in shown],
        [point.mean / MS for point in shown],
        "formula",
        hue,
        low=[point.low / MS for point in shown],
        high=[point.high / MS for point in shown],
    )
