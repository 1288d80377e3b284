"""A machine's message time over size, by distance, within its interval, and its part that keeps the processors busy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from logpost.analyzer.words.units import bytes_text, time_text
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.curves import INKS, Axis, Curve, curves
from logpost.dashboards.figures.labels import time_unit
from logpost.replay.cost.message import MessageCosts

Times = npt.NDArray[np.float64]
LEAST = 0.05
"""Of the smallest time that is drawn, where an interval reaches to 0: the axis is logarithmic."""


@dataclass(frozen=True)
class TimeBand:
    """Between which times the end of a message lies, by size; ps."""

    low: Times
    high: Times
    measured: bool
    """Whether a value was measured at all; else the bounds are all that is known."""


def machine_curves(
    sizes: np.ndarray,
    costs: Mapping[str, MessageCosts],
    within: Mapping[str, TimeBand] | None = None,
    stated: Mapping[str, tuple[np.ndarray, MessageCosts]] | None = None,
) -> Chart:
    """End to end on an idle machine with its interval as a band, and o_s + o_r of it, over the size.

    Args:
        sizes: bytes, ascending.
        costs: by locality, for those sizes.
        within: by locality, where the machine states intervals.
        stated: by locality, the sizes for which the machine has separate values, and the costs there; the curve between
            them has none.
    """
    bands = within or {}
    ends = {name: np.asarray(one.total, dtype=np.float64) for name, one in costs.items()}
    every = [*ends.values(), *(band.high for band in bands.values())]
    largest = max((float(np.nanmax(end)) for end in every if np.isfinite(end).any()), default=1.0)
    factor, unit = time_unit(largest)

    def shown(values: np.ndarray) -> list[float | None]:
        return [None if not np.isfinite(v) or v <= 0 else float(f"{v / factor:.5g}") for v in values.tolist()]

    series, said = [], []
    for hue, (name, one) in enumerate(costs.items()):
        named, band = name.replace("_", " "), bands.get(name)
        known = "" if band is None or band.measured else ", within bounds only"
        series.append(Curve(f"{named}: end to end{known}", sizes.tolist(), shown(ends[name]), "measured", hue))
        busy = np.asarray(one.o_s, dtype=np.float64) + np.asarray(one.o_r, dtype=np.float64)
        series.append(Curve(f"{named}: o_s + o_r", sizes.tolist(), shown(busy), "formula", hue))
        if band is not None:
            said.append(
                f" A message of {bytes_text(sizes[0])} lasts {time_text(band.low[0])} to {time_text(band.high[0])}, "
                f"one of {bytes_text(sizes[-1])} {time_text(band.low[-1])} to {time_text(band.high[-1])} ({named})."
            )
    ticks = [float(s) for s in sizes if np.log2(s) % 4 == 0]
    drawn = [v for one in series for v in one.y if v is not None]
    floor = LEAST * min(drawn, default=1.0)
    edges = {
        name: [[max(float(v) / factor, floor) for v in edge.tolist()] for edge in (band.low, band.high)]
        for name, band in bands.items()
    }
    made = curves(
        series,
        Axis("message size", log=True, ticks=ticks, labels=[bytes_text(t) for t in ticks]),
        Axis(
            "time",
            log=True,
            text=lambda tick: time_text(tick * factor),
            unit=unit,
            also=[v for low, high in edges.values() for v in (*low, *high)],
        ),
        f"Message time over size: {', '.join(name.replace('_', ' ') for name in costs)}.{''.join(said)}",
        height=360,
    )
    for trace, hue in zip(made.figure.data[::2], range(len(costs)), strict=True):
        trace.mode = "lines"
        name = list(costs)[hue]
        if stated and name in stated and len(stated[name][0]):
            at, one = stated[name]
            light, dark = INKS[hue % len(INKS)]
            made.figure.add_scatter(
                x=at.tolist(), y=shown(np.asarray(one.total, dtype=np.float64)), mode="markers",
                marker={"color": light, "size": 8}, meta={"ink": {"light": light, "dark": dark}},
                hovertemplate=trace.hovertemplate, name=f"{name.replace('_', ' ')}: sizes with separate values",
            )  # fmt: skip
    for hue, name in enumerate(costs):
        if name in edges:
            low, high = edges[name]
            light, dark = INKS[hue % len(INKS)]
            made.figure.add_scatter(
                x=[*sizes.tolist(), *reversed(sizes.tolist())], y=[*high, *reversed(low)], fill="toself", mode="lines",
                line={"width": 0}, fillcolor=light, meta={"ink": {"light": light, "dark": dark}},
                hoverinfo="skip", name=f"{name.replace('_', ' ')}: interval", showlegend=True,
            )  # fmt: skip
    return made
