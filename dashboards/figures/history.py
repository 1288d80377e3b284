"""The share of time that is lost, and of each large category, from run to run."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.compare.history import Entry
from logpost.analyzer.render.history.text import largest
from logpost.analyzer.run.undivided import title
from logpost.analyzer.words.units import percent_text
from logpost.dashboards.figures.chart import Chart
from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.dashboards.figures.labels import plotly_text


def trend(found: Sequence[Entry]) -> Chart:
    """A line for the lost share and for each of the largest categories, over the runs in their order.

    Args:
        found: the runs, at least one.
    """
    at = list(range(1, len(found) + 1))
    series = [Curve("lost", at, [100 * one.lost for one in found], "measured", 0)]
    for hue, name in enumerate(largest(found), 1):
        series.append(Curve(title(name), at, [100 * one.share(name) for one in found], "measured", hue))
    labels = [plotly_text(one.label, 24) for one in found]
    last = f"{percent_text(found[-1].lost)} of the ranks' time is lost in the last run"
    summary = f"{last}, {percent_text(found[0].lost)} in the first." if len(found) > 1 else f"{last}."
    return curves(
        series,
        Axis("run", zero=False, ticks=at, labels=labels),
        Axis("share of the ranks' time (%)"),
        summary,
    )
