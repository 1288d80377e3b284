"""A machine's message time over size, by distance, and what of it keeps the processors busy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from logpost.analyzer.reporting.units import bytes_text
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.dashboards.figures.labels import time_unit
from logpost.replay.cost import MessageCosts


def machine_curves(sizes: np.ndarray, costs: Mapping[str, MessageCosts]) -> Chart:
    """End to end on an idle machine, and o_s + o_r of it, over the size.

    Args:
        sizes: bytes, ascending.
        costs: by locality, for those sizes.
    """
    ends = {name: np.asarray(one.total, dtype=np.float64) for name, one in costs.items()}
    largest = max((float(np.nanmax(end)) for end in ends.values() if np.isfinite(end).any()), default=1.0)
    factor, unit = time_unit(largest)

    def shown(values: np.ndarray) -> list[float | None]:
        return [None if not np.isfinite(v) or v <= 0 else float(f"{v / factor:.5g}") for v in values.tolist()]

    series = []
    for hue, (name, one) in enumerate(costs.items()):
        named = name.replace("_", " ")
        series.append(Curve(f"{named}: end to end", sizes.tolist(), shown(ends[name]), "measured", hue))
        busy = np.asarray(one.o_s, dtype=np.float64) + np.asarray(one.o_r, dtype=np.float64)
        series.append(Curve(f"{named}: o_s + o_r", sizes.tolist(), shown(busy), "formula", hue))
    ticks = [float(s) for s in sizes if np.log2(s) % 4 == 0]
    return curves(
        series,
        Axis("message size", log=True, ticks=ticks, labels=[bytes_text(t) for t in ticks]),
        Axis(f"time ({unit})", log=True),
        f"Message time over size between {', '.join(name.replace('_', ' ') for name in costs)}.",
        height=360,
    )
