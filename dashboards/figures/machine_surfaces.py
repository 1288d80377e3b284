"""The tables that a machine file measures over two settings: o(S, b), log3P's l_mw(s, d), and what depends on s alone.

    o(S, b)            time per initiation of a message of S bytes in a burst of b     (Iancu & Strohmaier, section 3)
    l_mw(s, d)         what the middleware adds for a stride of d                       (log3P, section 4.1)
    o_mw, o_net, T_mem of contiguous data, over the size s                              (log3P, section 4.1)
    G(P, S, pattern)   time per byte of a pair when P processors communicate            (Iancu & Strohmaier, section 3)

Points are those of the file: nothing is interpolated. A second view shows how well each is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from logpost.analyzer.words.units import exact_bytes_text, percent_text, quantity_text, time_text
from logpost.dashboards.figures.chart import Chart, View, axis, figure
from logpost.dashboards.figures.curves import Axis, Curve, curves
from logpost.dashboards.figures.heat import Measure, heat
from logpost.dashboards.figures.labels import plotly_text, time_unit
from logpost.machines.schema import Machine
from logpost.machines.values.quantity import NOT_STATED, Quantity
from logpost.machines.values.units import to_base

MOST_TICKS, MOST_ROWS = 12, 24
MOST_WRITTEN = 16
"""Columns up to which a cell is wide enough for its value."""
KNOWN = Measure("Uncertainty", "half of the interval, of the value", percent_text, largest=True)


@dataclass(frozen=True)
class Stated:
    """A value of a machine file in ps or ps/B, with the ends of its interval where the source gives one."""

    value: float
    ends: tuple[float, float] | None
    said: str
    """The interval and its level, in words."""
    source: str

    @classmethod
    def of(cls, quantity: Quantity, machine: Machine) -> Stated:
        """From a quantity of the machine, whose cycles have a length."""
        clock, unit = machine.clock_hz, "ps/B" if quantity.dimension == "time per byte" else "ps"
        value, span = quantity.number(), quantity.interval or quantity.range
        if quantity.uncertainty is not None:
            span = (max(0.0, value - quantity.uncertainty), value + quantity.uncertainty)
        ends, said = None, f"uncertainty {NOT_STATED}"
        if span is not None:
            ends = (to_base(span[0], quantity.unit, clock), to_base(span[1], quantity.unit, clock))
            level = f", {quantity.confidence:.0%} interval" if quantity.confidence is not None else ""
            said = f"{quantity_text(ends[0], unit)} to {quantity_text(ends[1], unit)}{level}"
        source = machine.sources[quantity.source]
        stated = ", ".join(filter(None, (source.text, source.date, source.method)))
        return cls(quantity.base(clock), ends, said, stated)

    @property
    def share(self) -> float:
        """Half of the interval as a share of the value; NaN where none is stated."""
        if self.ends is None or not self.value:
            return float("nan")
        return max(self.ends[1] - self.value, self.value - self.ends[0]) / self.value


@dataclass(frozen=True)
class Point:
    """A value at a size and at a second setting."""

    size: int
    across: int
    stated: Stated


def burst_surface(machine: Machine) -> Chart:
    """o(S, b): size across, messages in a burst down.

    Args:
        machine: one with points of `overlap.o`, and a clock if they are in cycles.
    """
    points = [Point(p.size_bytes, p.burst, Stated.of(p.o, machine)) for p in machine.overlap.o]
    return _surface(
        points, "o(S, b)", "time per initiation", "messages in a burst, b", str, lambda b: f"in bursts of {b}"
    )


def stride_surface(machine: Machine) -> Chart:
    """l_mw(s, d): size across, stride down; of several sizes of blocks the smallest, which cost most.

    Args:
        machine: one with strided points of `log3p`, and a clock if they are in cycles.
    """
    smallest = min(p.block_bytes or 0 for p in machine.log3p.point if p.l_mw is not None and not p.alone)
    points = [
        Point(p.size_bytes, p.stride_bytes, Stated.of(p.l_mw, machine))
        for p in machine.log3p.point
        if p.l_mw is not None and p.stride_bytes is not None and not p.alone and (p.block_bytes or 0) == smallest
    ]
    return _surface(
        points,
        "l_mw(s, d)",
        "middleware latency",
        "stride d",
        exact_bytes_text,
        lambda d: f"with a stride of {exact_bytes_text(d)}",
    )


def contiguous_curves(machine: Machine) -> Chart:
    """o_mw, o_net and T_mem over the size, with their intervals.

    Args:
        machine: one with points of `log3p`, and a clock if they are in cycles.
    """
    lines: dict[str, dict[int, Stated]] = {}
    for name in ("o_mw", "o_net", "T_mem"):
        for point in machine.log3p.point:
            quantity: Quantity | None = getattr(point, name)
            if quantity is not None:
                lines.setdefault(name, {})[point.size_bytes] = Stated.of(quantity, machine)
    return _lines(lines, f"log3P, contiguous, at {_counted(sum(map(len, lines.values())))}")


def gap_curves(machine: Machine) -> Chart:
    """G(P, S, pattern) over the size, with intervals.

    Args:
        machine: one with points of `overlap.G`, and a clock if they are in cycles.
    """
    lines: dict[str, dict[int, Stated]] = {}
    for point in sorted(machine.overlap.G, key=lambda p: (p.pattern, p.processors, p.level)):
        name = f"{point.pattern}, P = {point.processors}, {point.level} bandwidth"
        lines.setdefault(name, {})[point.size_bytes] = Stated.of(point.G, machine)
    once = _as_one(lines)
    equal = "; equal lines are drawn as one" if len(once) < len(lines) else ""
    return _lines(once, f"G(P, S, pattern) at {_counted(sum(map(len, lines.values())))}{equal}", per="/B")


def _as_one(lines: dict[str, dict[int, Stated]]) -> dict[str, dict[int, Stated]]:
    """Lines with the same points as one: of a single pair the lowest and the highest bandwidth are the same."""
    names: dict[tuple[tuple[int, Stated], ...], list[str]] = {}
    for name, line in lines.items():
        names.setdefault(tuple(sorted(line.items())), []).append(name)
    return {_joined(some): dict(points) for points, some in names.items()}


def _joined(names: Sequence[str]) -> str:
    """`a, low` and `a, high` as `a, low and high`."""
    before = [name.rpartition(", ")[0] for name in names]
    if len(names) == 1 or len(set(before)) > 1:
        return " and ".join(names)
    ends = [name.rpartition(", ")[2] for name in names]
    return f"{before[0]}, {' and '.join(end.removesuffix(' bandwidth') for end in ends)} bandwidth"


def _surface(
    points: Sequence[Point], name: str, title: str, down: str, say: Callable[[int], str], at: Callable[[int], str]
) -> Chart:
    sizes, across = sorted({p.size for p in points}), sorted({p.across for p in points})
    cells = {(across.index(p.across), sizes.index(p.size)): p for p in points}

    def where(i: int, j: int) -> str:
        if (i, j) not in cells:
            return ""
        point = cells[i, j]
        return (
            f"{exact_bytes_text(point.size)} {at(point.across)}<br>{plotly_text(point.stated.source, 120)}"
            f"<br>{plotly_text(point.stated.said, 120)}"
        )

    def grid(values: dict[tuple[int, int], float]) -> np.ndarray:
        found = np.full((len(across), len(sizes)), np.nan)
        for place, value in values.items():
            found[place] = value
        return found

    shown = [(Measure("Value", title, time_text), grid({place: p.stated.value for place, p in cells.items()}))]
    shares = grid({place: p.stated.share for place, p in cells.items()})
    if np.isfinite(shares).any():
        shown.append((KNOWN, shares))
    views = tuple(View(measure.label, (_written(values, measure, where),)) for measure, values in shown)
    fig = figure(
        int(90 + max(80, min(26 * len(across), 360))),
        xaxis=_ticked("message size", [exact_bytes_text(size) for size in sizes], MOST_TICKS),
        yaxis=_ticked(down, [say(one) for one in across], MOST_ROWS),
    )
    fig.add_heatmap(
        x=list(range(len(sizes))),
        y=list(range(len(across))),
        hovertemplate="%{customdata}<extra></extra>",
        texttemplate="%{text}" if len(sizes) <= MOST_WRITTEN else None,
        textfont={"shadow": "auto"},
        hoverongaps=False,
        xgap=1,
        ygap=1,
        showscale=True,
        **views[0].traces[0],
    )
    times = [p.stated.value for p in points]
    return Chart(
        fig,
        f"{name}: {time_text(min(times))} to {time_text(max(times))} at {_counted(len(points))}. "
        f"{_sources(p.stated for p in points)}",
        views if len(views) > 1 else (),
    )


def _written(values: np.ndarray, measure: Measure, where: Callable[[int, int], str]) -> dict[str, object]:
    """The measure's colours, with each value in its cell."""
    made = heat(values, measure, where)
    there = ~np.isnan(values)
    texts = [
        [measure.say(value) if known else "" for value, known in zip(row, some, strict=True)]
        for row, some in zip(values.tolist(), there.tolist(), strict=True)
    ]
    return {**made, "customdata": made["text"], "text": texts}


def _ticked(title: str, labels: list[str], most: int) -> dict[str, object]:
    step = max(1, -(-len(labels) // most))
    return axis(
        title,
        tickmode="array",
        tickvals=list(range(0, len(labels), step)),
        ticktext=labels[::step],
        showgrid=False,
        fixedrange=True,
    )


def _lines(lines: dict[str, dict[int, Stated]], name: str, per: str = "") -> Chart:
    every = [stated for line in lines.values() for stated in line.values()]
    factor, unit = time_unit(max(stated.value for stated in every))
    series = []
    for hue, (label, line) in enumerate(lines.items()):
        sizes = sorted(line)
        ends = [line[size].ends or (line[size].value,) * 2 for size in sizes]
        series.append(
            Curve(
                label,
                [float(size) for size in sizes],
                [_digits(line[size].value / factor) for size in sizes],
                "measured",
                hue,
                [_digits(low / factor) for low, _ in ends],
                [_digits(high / factor) for _, high in ends],
            )
        )
    sizes = sorted({size for line in lines.values() for size in line if size > 0})
    ticks = [float(size) for size in sizes[:: max(1, -(-len(sizes) // MOST_TICKS))]]
    return curves(
        series,
        Axis("message size", log=True, ticks=ticks, labels=[exact_bytes_text(int(tick)) for tick in ticks]),
        Axis(f"time{' per byte' if per else ''} ({unit}{per})", log=True),
        f"{name}. {_sources(every)}",
        height=330,
    )


def _counted(points: int) -> str:
    return "1 point" if points == 1 else f"{points} points"


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


def _sources(stated: Iterable[Stated]) -> str:
    """Where the values come from, and how many of them have an interval."""
    every = list(stated)
    known = sum(one.ends is not None for one in every)
    intervals = "each with its interval" if known == len(every) else f"{known or 'none'} with an interval"
    named = dict.fromkeys(one.source for one in every)
    return f"{intervals[0].upper()}{intervals[1:]}. Source: {plotly_text('; '.join(named), 300)}."
