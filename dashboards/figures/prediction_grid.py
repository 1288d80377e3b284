"""The run's length over two parameters: a heat map with lines of equal growth."""

from __future__ import annotations

import numpy as np

from logpost.analyzer.reporting.units import three_digits, time_text
from logpost.analyzer.whatif import Axis, Grid
from logpost.dashboards.figures.chart import Chart, axis, figure
from logpost.dashboards.figures.heat import Measure, heat
from logpost.dashboards.figures.labels import plotly_text

CONTOUR = {5: {"light": "#d55e00", "dark": "#ffb300"}, 10: {"light": "#7a0f4d", "dark": "#ff9ed2"}}
TIME = Measure("Length", "predicted length", time_text, largest=True)
MOST_TICKS = 9


def prediction_grid(found: Grid) -> Chart:
    """Cells are coloured by length; lines join where the run is 5 and 10 % longer.

    Args:
        found: the grid.
    """
    down, across = found.axes

    def where(i: int, j: int) -> str:
        low, high = found.intervals_ps[i, j].tolist()
        region = f"<br>{found.regions[i][j]}" if found.regions and found.regions[i][j] else ""
        return (
            f"{plotly_text(down.name)} {down.shown[i]}, {plotly_text(across.name)} {across.shown[j]}: "
            f"{100 * found.grown(i, j):+.1f} %{region}<br>{time_text(low)} to {time_text(high)}"
        )

    fig = figure(360, xaxis=_ticked(across), yaxis=_ticked(down))
    times = found.makespans_ps.astype(np.float64)
    fig.add_heatmap(
        x=list(range(len(across.values))),
        y=list(range(len(down.values))),
        hovertemplate="%{text}<extra></extra>",
        xgap=1,
        ygap=1,
        showscale=True,
        # Not from 0: the differences are what is asked for.
        **{**heat(times, TIME, where), "zmin": float(times.min())},
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
    grown = 100 * (times / max(found.base_ps, 1) - 1)
    named = ", ".join(dict.fromkeys(name for row in found.regions for name in row if name))
    return Chart(
        fig,
        f"Length over {down.name} and {across.name}: {grown.min():+.1f} to {grown.max():+.1f} % against "
        f"{time_text(found.base_ps)}{'; ' + named if named else ''}.",
    )


def _ticked(one: Axis) -> dict[str, object]:
    """An axis with a place for each value."""
    step = -(-len(one.values) // MOST_TICKS)
    return axis(
        plotly_text(one.name),
        tickmode="array",
        tickvals=list(range(0, len(one.values), step)),
        ticktext=[_short(one, number) for number in one.numbers[::step]],
        showgrid=False,
        fixedrange=True,
    )


def _short(one: Axis, number: float) -> str:
    return f"×{three_digits(number)}" if one.factor else f"{three_digits(number)} {one.unit}"


def _place(one: Axis, value: float) -> float:
    """Between the places of its neighbours, in proportion; geometric steps in proportion of logarithms."""
    values, at = np.asarray(one.values), value
    if (values > 0).all() and value > 0:
        values, at = np.log(values), float(np.log(value))
    order = np.argsort(values)
    return float(np.interp(at, values[order], np.arange(len(values))[order]))
