"""Rates of regions over their message size, below what the machine attains."""

from __future__ import annotations

import math

from logpost.analyzer.predict.roofline import Roofline
from logpost.analyzer.words.labels import folded_path
from logpost.analyzer.words.units import bytes_text
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.curves import Axis, Curve, curves

MOST = 8
"""Regions shown: those with the most time above their roofs."""

MB = 1e6
"""Bytes."""


def roofline_chart(found: Roofline) -> Chart:
    """Ceilings dashed, regions as marks; both axes are logarithmic."""
    series = []
    for i, one in enumerate(found.ceilings):
        for hue, (name, rates) in enumerate(
            (("one at a time", one.one_at_a_time), ("many in flight", one.pipelined)), 2 * i
        ):
            shown = [rate / MB if math.isfinite(rate) and rate > 0 else None for rate in rates]
            if any(rate is not None for rate in shown):
                series.append(Curve(f"{one.where}: {name}", one.sizes, shown, "formula", hue))
    drawn = [roof for roof in found.roofs if roof.bytes and roof.time_ps][:MOST]
    for hue, roof in enumerate(drawn, 2 * len(found.ceilings)):
        name = f"{folded_path(roof.region)}, {roof.where}"
        series.append(Curve(name, [roof.mean_bytes], [roof.achieved_bytes_per_s / MB], "paper", hue))
    ticks = [float(4**i) for i in range(13)]
    worst = max(drawn, key=lambda roof: roof.time_ps - roof.roof_ps, default=None)
    summary = "No region moves bytes."
    if worst is not None:
        limit = f"{worst.distance:.3g} times as long as the machine's {worst.limit} allows"
        summary = f"{folded_path(worst.region)} lasts {limit}."
    return curves(
        series,
        Axis("mean message size", log=True, ticks=ticks, labels=[bytes_text(tick) for tick in ticks]),
        Axis("rate of a rank (MB/s)", log=True),
        summary,
        height=480,
    )
