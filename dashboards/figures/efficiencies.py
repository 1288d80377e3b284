"""POP's efficiencies over the time of a run."""

from __future__ import annotations

from collections.abc import Sequence

from logpost.analyzer.report.efficiency_windows import Stretch, lowest
from logpost.analyzer.words.units import percent_text, span_text
from logpost.dashboards.figures.chart import Chart, axis, figure
from logpost.dashboards.figures.curves import INKS
from logpost.dashboards.figures.labels import time_unit

LINES = (
    ("parallel_efficiency", "parallel efficiency", "solid"),
    ("load_balance", "load balance", "dash"),
    ("communication_efficiency", "communication efficiency", "dot"),
    ("serialization", "serialization", "dashdot"),
    ("transfer", "transfer", "longdash"),
)
ON_DEMAND = ("serialization", "transfer")
"""Lines that a click in the legend shows: five at once are too many to read."""


def efficiencies_over_time(stretches: Sequence[Stretch]) -> Chart:
    """A line of steps for each efficiency that is known: parallel efficiency is the product of the next two,
    communication efficiency that of the last two."""
    factor, unit = time_unit(stretches[-1].end_ps)
    fig = figure(
        260,
        xaxis=axis(f"time ({unit})", range=[stretches[0].begin_ps / factor, stretches[-1].end_ps / factor]),
        yaxis=axis("per cent", range=[0, 105]),
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    )
    # Every step ends where the next one begins; the last one at the end.
    times = [one.begin_ps / factor for one in stretches] + [stretches[-1].end_ps / factor]
    spans = [span_text(one.begin_ps, one.end_ps) for one in stretches]
    for hue, (name, title, dash) in enumerate(LINES):
        light, dark = INKS[hue]
        values = [getattr(one, name) for one in stretches]
        if all(value is None for value in values):
            continue
        shown = [None if value is None else float(f"{100 * value:.4g}") for value in values]
        fig.add_scatter(
            x=times,
            y=[*shown, shown[-1]],
            mode="lines",
            name=title,
            visible="legendonly" if name in ON_DEMAND else True,
            meta={"ink": {"light": light, "dark": dark}},
            line={"color": light, "width": 2, "shape": "hv", "dash": dash},
            customdata=[*spans, spans[-1]],
            hovertemplate=f"{title} %{{y:.1f}} %<br>%{{customdata}}<extra></extra>",
        )
    worst = lowest(stretches)
    said = f"Efficiencies in {len(stretches)} stretches of time"
    if worst is not None:
        said += f"; parallel efficiency is lowest, {percent_text(worst.parallel_efficiency)}, "
        said += span_text(worst.begin_ps, worst.end_ps)
    return Chart(fig, said + ".")
