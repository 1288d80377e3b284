"""What a what-if replay predicts: the path's parts before and after, and the run's length over a parameter."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import plotly.graph_objects as go

from logpost.analyzer.predict.whatif import Axis, Prediction, RegionChange, Sweep, Tolerance
from logpost.analyzer.run.undivided import UNDIVIDED
from logpost.analyzer.words.units import percent_text, three_digits, time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis
from logpost.dashboards.figures.labels import path_text, plotly_text, time_unit
from logpost.dashboards.figures.sens_regions import shaded
from logpost.replay.graph import Outcome

INK_OF_PART = {
    "start": "mpi_other",
    "other": "mpi_other",
    "handshake": "late_receiver",
    "synchronization": "late_sender",
}
"""Parts of the replay's path that are no category of the accounting, and the ink that is nearest."""
SAID_OF_PART = {"start": "start-up of others", "other": "calls as measured", "synchronization": "waiting for puts"}
LEAST_CHANGE = 5e-4
"""Of a length, which is written."""
HEIGHT = 230
"""Pixels of two bars with what they consist of."""
LINE = {"light": "#0072b2", "dark": "#56a9e8"}
MEASURED = {"light": "#566273", "dark": "#aab6c6"}
WHISKER = "#6b7687"
"""Of intervals: the page colours no error bars, and both papers and all bars bear this."""
BAND_UP_TO = 2.0
"""How far a sweep's axis extends beyond its line, as a factor, where the band extends farther."""
MOST_TICKS = 9
"""Of a sweep's axis, so that their labels do not overlap."""


def machine_of(found: Prediction) -> str:
    """What a prediction is replayed on, in words: the chosen machine, else the run's."""
    chosen = found.plan.ask.machine
    return plotly_text(found.machine if chosen is None else Path(chosen).stem, 80)


def before_and_after(found: Prediction, *, undivided: Collection[str] = ()) -> Chart:
    """Two bars: what the critical path of the program consists of, as it was and as it would be.

    Args:
        found: the prediction.
        undivided: what the run's estimated machine does not distinguish.
    """
    paths = {"measured": found.before, "predicted": found.after}
    fig = _paths(paths, HEIGHT, undivided=undivided)
    if found.settings:
        _interval_bars(fig, paths, {"predicted": found})
    low, high = found.interval_ps
    short = _said_short(found.before)
    measured, predicted = found.measured_ps, found.predicted_ps
    if not found.settings:
        return Chart(fig, f"Measured {time_text(measured)}; nothing is changed.{short}")
    way, change = "faster" if predicted <= measured else "slower", abs(predicted / max(measured, 1) - 1)
    by = f"{percent_text(change)} {way} than" if change >= LEAST_CHANGE else "as long as"
    return Chart(
        fig,
        f"Predicted {time_text(predicted)}, {by} {time_text(measured)}; between "
        f"{time_text(low)} and {time_text(high)}. Machine: {machine_of(found)}.{short}",
    )


def _short_ps(outcome: Outcome) -> int:
    """How much less than nothing parts of the path are: the machine's values are slower than what was measured; ps."""
    return -sum(min(time, 0) for time in outcome.path_ps.values())


def _said_short(outcome: Outcome) -> str:
    """What lies left of 0; nothing where all parts are at least that."""
    short = _short_ps(outcome)
    if not short:
        return ""
    return f" The machine's values make parts of the path {time_text(short)} longer than was measured: left of 0."


def on_machines(found: Mapping[str, Prediction], *, undivided: Collection[str] = ()) -> Chart:
    """A bar for each machine: what the critical path consists of there, below that of the run as it was.

    Args:
        found: the predictions by the machine's name; at least one.
        undivided: what the run's estimated machine does not distinguish.
    """
    named = {plotly_text(name, 30): one for name, one in found.items()}
    outcomes = {"measured": next(iter(found.values())).before, **{name: one.after for name, one in named.items()}}
    fig = _paths(outcomes, HEIGHT + 36 * (len(outcomes) - 2), undivided=undivided)
    _interval_bars(fig, outcomes, named)
    lengths = {name: one.makespan_ps for name, one in outcomes.items()}
    said = []
    for name, one in sorted(found.items(), key=lambda item: item[1].predicted_ps):
        ends = " to ".join(map(time_text, one.interval_ps))
        said.append(f"{time_text(lengths[plotly_text(name, 30)])} on {name} ({ends})")
    return Chart(fig, f"Measured {time_text(lengths['measured'])}; predicted {', '.join(said)}.")


def _paths(outcomes: Mapping[str, Outcome], height: int, *, undivided: Collection[str]) -> go.Figure:
    """A bar of parts for each outcome's critical path, and what they are.

    What no value of an estimated machine explains is transport that was not divided, as on every other page.
    """
    names = list(outcomes)
    paths = [one.path_ps for one in outcomes.values()]
    factor, unit = time_unit(float(max(sum(one.values()) for one in paths)))
    fig = figure(
        height,
        barmode="relative",  # what is less than nothing lies left of 0
        bargap=0.3,
        xaxis=axis(f"critical path ({unit})", fixedrange=True),
        yaxis=row_axis(names, ""),
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
    )
    order = list(palette.INKS)
    inks = dict(INK_OF_PART)
    names_of = dict(SAID_OF_PART)
    if "residual" in undivided:
        inks["residual"], names_of["residual"] = UNDIVIDED, palette.label(UNDIVIDED)
    for part in sorted(paths[0], key=lambda one: order.index(str(inks.get(one, one)))):
        times = [one.get(part, 0) for one in paths]
        if not any(times):
            continue
        named = names_of.get(part, part.replace("_", " "))
        fig.add_bar(
            orientation="h",
            y=list(range(len(names))),
            x=[float(f"{t / factor:.6g}") for t in times],
            customdata=[
                f"{name}<br><b>{named}</b> {time_text(t)} · {percent_text(t / max(1, sum(one.values())))}"
                for name, t, one in zip(names, times, paths, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **(category_trace(inks.get(part, part)) | {"name": named}),
        )
    return fig


def _interval_bars(fig: go.Figure, outcomes: Mapping[str, Outcome], found: Mapping[str, Prediction]) -> None:
    """The interval of each prediction as a line through the end of its bar; one beyond the picture is cut.

    Args:
        fig: of `_paths`.
        outcomes: what its bars are of.
        found: those of them that are predictions.
    """
    lengths = {name: one.makespan_ps for name, one in outcomes.items()}
    longest = max(lengths.values())
    factor, _ = time_unit(float(longest))
    ends = {name: one.interval_ps for name, one in found.items()}
    names = list(outcomes)
    fig.add_scatter(
        x=[float(f"{lengths[name] / factor:.6g}") for name in ends],
        y=[names.index(name) for name in ends],
        mode="markers",
        marker={"size": 5, "symbol": "line-ns-open"},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [max(0, high - lengths[name]) / factor for name, (_, high) in ends.items()],
            "arrayminus": [max(0, lengths[name] - low) / factor for name, (low, _) in ends.items()],
            "color": WHISKER,
            "thickness": 1.5,
            "width": 6,
        },
        meta={"ink": MEASURED},
        customdata=[f"{name}<br>{time_text(low)} to {time_text(high)}" for name, (low, high) in ends.items()],
        hovertemplate="%{customdata}<extra></extra>",
        name="interval",
    )
    highest = max(longest, *(high for _, high in ends.values()))
    short = min(-_short_ps(one) for one in outcomes.values())
    right = max(min(1.03 * highest, BAND_UP_TO * longest), 1.03 * (longest - short))
    fig.update_xaxes(range=[1.03 * short / factor, right / factor])


def regions(changes: list[RegionChange], most: int = 12) -> Chart:
    """Places whose time changes most: left, faster; right, slower."""
    shown = sorted((one for one in changes if one.gain_ps), key=lambda one: -abs(one.gain_ps))[:most]
    largest = max((abs(one.gain_ps) for one in shown), default=0)
    factor, unit = time_unit(float(largest))
    room = 1.9 * largest / factor if largest else 1.0  # for the text next to the longest bar, in half a page
    fig = figure(
        80 + 26 * max(1, len(shown)),
        bargap=0.35,
        xaxis=axis(f"change, all ranks ({unit})", range=[-room, room], fixedrange=True),
        yaxis=row_axis([path_text(one.region, 40) for one in shown], ""),
    )
    said = [f"{'−' if one.gain_ps > 0 else '+'}{time_text(abs(one.gain_ps))}" for one in shown]
    fig.add_bar(
        orientation="h",
        y=list(range(len(shown))),
        x=[float(f"{-one.gain_ps / factor:.6g}") for one in shown],
        text=[f" {text} " for text in said],
        textposition="outside",
        cliponaxis=False,
        meta={"ink": LINE},
        marker={"line": {"width": 0}},
        hovertemplate="%{y}<extra></extra>",
        hoverinfo="skip",
    )
    return Chart(fig, f"{plotly_text(shown[0].region)} changes most: {said[0]}." if shown else "No region changes.")


def sweep(found: Sweep, measured_ps: int, machine: str = "", base: str = "the machine's") -> Chart:
    """The program's length over a parameter as a line, its interval as a band, and what was measured.

    Args:
        found: the points; at least one.
        measured_ps: without change.
        machine: what is replayed on, for plotly.
        base: what a factor of 1 stands for.
    """
    points = found.points
    longest = max(measured_ps, *(point.makespan_ps for point in points))
    highest = max(point.interval_ps[1] for point in points)
    # Where almost nothing is known about the machine, the band would leave nothing of the line.
    cut = highest > BAND_UP_TO * longest
    factor, unit = time_unit(float(longest if cut else highest))
    numbers, relative = list(found.axis.numbers), found.axis.factor
    title = f"{found.name}, times {base}" if relative else f"{found.name} ({unit_of(found.axis)})"
    # Ticks at the points: between decades, plotly's own say 2 and 5 of whatever power of ten.
    ticks = numbers[:: -(-len(numbers) // MOST_TICKS)]
    fig = figure(
        330,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis=axis(
            title,
            type="log" if min(numbers) > 0 else "linear",
            tickmode="array",
            tickvals=ticks,
            ticktext=[("×" if relative else "") + three_digits(value) for value in ticks],
        ),
        yaxis=axis(
            f"predicted length ({unit})",
            **({"range": [0, BAND_UP_TO * longest / factor]} if cut else {"rangemode": "tozero"}),
        ),
    )
    low, middle, high = (
        [float(f"{value / factor:.6g}") for value in values]
        for values in (
            [point.interval_ps[0] for point in points],
            [point.makespan_ps for point in points],
            [point.interval_ps[1] for point in points],
        )
    )
    fig.add_scatter(
        x=[*numbers, *reversed(numbers)], y=[*high, *reversed(low)], fill="toself", mode="lines",
        fillcolor="rgba(0, 114, 178, 0.16)",
        line={"width": 0}, meta={"ink": LINE}, hoverinfo="skip", name="interval",
    )  # fmt: skip
    fig.add_scatter(
        x=numbers,
        y=middle,
        mode="lines+markers",
        line={"width": 2},
        marker={"size": 7},
        meta={"ink": LINE},
        customdata=[
            f"{point.text}: {time_text(point.makespan_ps)}<br>{time_text(point.interval_ps[0])} to "
            f"{time_text(point.interval_ps[1])}"
            for point in points
        ],
        hovertemplate="%{customdata}<extra></extra>",
        name="predicted",
    )
    fig.add_scatter(
        x=[numbers[0], numbers[-1]], y=[measured_ps / factor] * 2, mode="lines", line={"width": 1, "dash": "dot"},
        meta={"ink": MEASURED}, hoverinfo="skip", name="measured",
    )  # fmt: skip
    shaded(fig, found.bands)
    said = _tolerances(found)
    named = ", ".join(dict.fromkeys(band.name for band in found.bands))
    beyond = f" The band reaches to {time_text(highest)}, beyond the picture." if cut else ""
    return Chart(
        fig,
        f"Length over {found.name}{'; longer by ' + said if said else ''}{'; ' + named if named else ''}."
        f"{' Machine: ' + machine + '.' if machine else ''}{beyond}",
        open="" if said else f"Search which {found.name} makes the run 1, 2, 5 and 10 % longer",
    )


def unit_of(one: Axis) -> str:
    """As people write it; empty for factors."""
    return one.unit.replace("us", "µs")


def _tolerances(found: Sweep) -> str:
    """How much of the parameter makes the run so much longer: "1 % at 4.13 times, 5 and 10 % at no value"."""
    said: dict[str, list[str]] = {}
    for one in found.tolerances:
        said.setdefault(_tolerated(found, one), []).append(str(one.percent))
    shares = {at: " and ".join(filter(None, (", ".join(some[:-1]), some[-1]))) for at, some in said.items()}
    return ", ".join(f"{some} % at {at}" for at, some in shares.items())


def _tolerated(found: Sweep, one: Tolerance) -> str:
    if one.value is not None:
        return found.axis.show(float(f"{one.value:.3g}"))
    return "no value" if one.factor is None else f"{three_digits(one.factor)} times"
