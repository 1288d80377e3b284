"""The run's length over two parameters: a heat map with lines of equal growth."""

from __future__ import annotations

import numpy as np

from logpost.analyzer.predict.whatif import Axis, Grid
from logpost.analyzer.words.units import three_digits, time_text
from logpost.dashboards.figures.chart import Chart, axis, figure
from logpost.dashboards.figures.heat import Measure, heat
from logpost.dashboards.figures.labels import plotly_text
from logpost.dashboards.figures.prediction import unit_of

CONTOUR = {5: {"light": "#d55e00", "dark": "#ffb300"}, 10: {"light": "#7a0f4d", "dark": "#ff9ed2"}}
TIME = Measure("Length", "predicted length", time_text, differences=True)
MOST_TICKS = 9
"""Labels of an axis: more would overlap."""


def prediction_grid(found: Grid, machine: str) -> Chart:
    """Cells are coloured by length; lines join where the program is 5 and 10 % longer.

    Args:
        found: the grid.
        machine: what is replayed on, for plotly, where the two parameters do not say otherwise.
    """
    down, across = found.axes
    times = found.makespans_ps.astype(np.float64)
    intervals, base_ps = found.intervals_ps, max(found.base_ps, 1)
    grown = 100 * (times / base_ps - 1)

    def where(i: int, j: int) -> str:
        low, high = intervals[i, j].tolist()
        region = f"<br>{found.regions[i][j]}" if found.regions and found.regions[i][j] else ""
        return (
            f"{plotly_text(down.name)} {_shown(down, i)}, {plotly_text(across.name)} {_shown(across, j)}: "
            f"{signed_percent(grown[i, j])}{region}<br>{time_text(low)} to {time_text(high)}"
        )

    fig = figure(360, xaxis=_ticked(across), yaxis=_ticked(down))
    fig.add_heatmap(
        x=list(range(len(across.values))),
        y=list(range(len(down.values))),
        hovertemplate="%{text}<extra></extra>",
        xgap=1,
        ygap=1,
        showscale=True,
        **heat(times, TIME, where),
    )
    for line in found.contours:
        if line.points:
            fig.add_scatter(
                x=[_place(across, point[1]) for point in line.points],
                y=[_place(down, point[0]) for point in line.points],
                mode="lines+markers+text",
                text=[f"+{line.percent} %", *[""] * (len(line.points) - 1)],
                textposition="middle right",
                line={"width": 2, "dash": "solid" if line.exact else "dash"},
                marker={"size": 4},
                meta={"ink": CONTOUR[line.percent]},
                hoverinfo="skip",
                name=f"+{line.percent} %",
            )
    named = ", ".join(dict.fromkeys(name for row in found.regions for name in row if name))
    return Chart(
        fig,
        f"Length over {down.name} and {across.name}: {signed_percent(float(grown.min()))} to "
        f"{signed_percent(float(grown.max()))} against {time_text(base_ps)}{'; ' + named if named else ''}. "
        f"Intervals of cells reach from {time_text(float(intervals.min()))} to {time_text(float(intervals.max()))}. "
        f"Machine: {machine}.",
    )


def signed_percent(percent: float) -> str:
    """With its sign, a true minus; what rounds to 0 has none."""
    text = f"{abs(percent):.1f}"
    return f"{'' if text == '0.0' else '+' if percent > 0 else '−'}{text} %"


def _ticked(one: Axis) -> dict[str, object]:
    """An axis with a place for each value."""
    step = -(-len(one.values) // MOST_TICKS)
    unit = unit_of(one)
    return axis(
        plotly_text(f"{one.name} ({unit})" if unit else f"{one.name}, times the machine's"),
        tickmode="array",
        tickvals=list(range(0, len(one.values), step)),
        ticktext=[("" if unit else "×") + three_digits(number) for number in one.numbers[::step]],
        showgrid=False,
        fixedrange=True,
    )


def _shown(one: Axis, at: int) -> str:
    unit = unit_of(one)
    return f"{three_digits(one.numbers[at])} {unit}" if unit else f"×{three_digits(one.numbers[at])}"


def _place(one: Axis, value: float) -> float:
    """Between the places of its neighbours, in proportion; geometric steps in proportion of logarithms."""
    values, at = np.asarray(one.values), value
    if (values > 0).all() and value > 0:
        values, at = np.log(values), float(np.log(value))
    order = np.argsort(values)
    return float(np.interp(at, values[order], np.arange(len(values))[order]))
