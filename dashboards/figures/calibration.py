"""A calibration's figures: LOGP's signature, o(n) and T(n), bandwidth, o(S, b), G(P, S), strides, eager or rendezvous.

Points are measured, with their 95 % intervals; dashed lines are what was fitted or what the model predicts from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from logpost.analyzer.words.units import bytes_text, quantity_text, time_text
from logpost.dashboards.figures.chart import Chart, View, axis, figure, rounded
from logpost.dashboards.figures.curves import INKS
from logpost.dashboards.figures.labels import plotly_text, significant, time_unit
from logpost.machines.calibration.bursts import BurstPoint
from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.patterns import Gap
from logpost.machines.calibration.signature import Signature
from logpost.machines.calibration.sizes import SizeRange

PS = 1e12
"""Of a second."""
HEIGHT = 420
"""Pixels."""


def signature(found: Signature, title: str) -> Chart:
    """cost(M, Delta) against M, one curve for each Delta, with the send-only and the steady lines."""
    factor, unit = _unit([e.value for curve in found.curves for e in curve.costs])
    fig = _lines(
        _powers("M, messages in a burst", [m for curve in found.curves for m in curve.bursts]),
        axis(f"time per message ({unit})", rangemode="tozero"),
    )
    for number, curve in enumerate(found.curves):
        name = "Δ = 0" if curve.delta_s == 0 else f"Δ = {_time(curve.delta_s)}"
        _measured(fig, number, name, curve.bursts, curve.costs, factor)
        for line, first, last in (
            (curve.send_only, curve.bursts[0], curve.send_only_until),
            (curve.steady, curve.steady_from, curve.bursts[-1]),
        ):
            # T = c + s M, so the cost per message is s + c/M: it approaches s as 1/M.
            at = np.geomspace(first, max(last, first + 1), 24)
            _fitted(
                fig, number, f"{name}, fitted", at, (line.slope.value + line.intercept.value / at) * factor, group=name
            )
    marks = {label: e.value * factor for label, e in (("o<sub>s</sub>", found.o_s), ("g", found.g)) if e is not None}
    for y in marks.values():
        fig.add_hline(y=y, line={"width": 1, "dash": "dot", "color": "#808a99"})
    highest = max(e.value for curve in found.curves for e in curve.costs) * factor
    if len(marks) == 2 and max(marks.values()) - min(marks.values()) < 0.05 * highest:
        marks = {", ".join(marks): max(marks.values())}
    # Room for "o_s, g" right of the plot.
    fig.update_layout(margin_r=44)
    for label, y in marks.items():
        fig.add_annotation(x=1, xref="paper", y=y, text=label, showarrow=False, xanchor="left", xshift=2)
    said = ", ".join(
        f"{name} {_time(item.value)}"
        for name, item in (("o_s", found.o_s), ("o_r", found.o_r), ("g", found.g), ("L", found.L))
        if item is not None
    )
    return Chart(
        fig, f"Signature of {title}: time per message over the burst length for {len(found.curves)} delays. {said}."
    )


def sizes(curves: Mapping[str, Mapping[int, Estimate]], ranges: Sequence[SizeRange], eager_limit: int | None) -> Chart:
    """o_s(n), o_r(n), T(n) against the size with the lines of the ranges; the last view is the bandwidth n/T(n)."""
    shown = {name: points for name, points in curves.items() if points}
    factor, unit = _unit([float(np.median([e.value for e in curves["T(n)"].values()]))])
    everything = [size for points in shown.values() for size in points]
    fig = _lines(
        _bytes_axis("message size", everything),
        _log_axis(f"time ({unit})", [e.value * factor for points in shown.values() for e in points.values()]),
    )
    for number, (name, points) in enumerate(shown.items()):
        at = sorted(points)
        _measured(fig, number, name, at, [points[n] for n in at], factor)
    for i, r in enumerate(ranges):
        first = max(r.first_bytes, 1)
        last = r.up_to_bytes or max(everything)
        at_ = np.geomspace(first, max(last, first + 1), 32)
        _fitted(fig, len(shown), "LogGP", at_, np.array([r.time(n) for n in at_]) * factor, shown=not i)
    _switch_line(fig, eager_limit)
    biggest = ranges[-1] if ranges else None
    said = ""
    if biggest is not None and biggest.G is not None:
        said = f" From {bytes_text(biggest.first_bytes)} on: G {quantity_text(biggest.G.value * 1e9, 'ns/B')}."
    return Chart(fig, f"Overheads and transfer time over the message size, {len(ranges)} ranges.{said}")


def bandwidth(one_way: Mapping[int, Estimate], ranges: Sequence[SizeRange], eager_limit: int | None) -> Chart:
    """BW(n) = n/T(n), measured and as the ranges have it; a message of no duration on this clock has none."""
    at = sorted(n for n in one_way if n > 0 and one_way[n].value > 0.0)
    fig = _lines(
        _bytes_axis("message size", at), _log_axis("bandwidth (MB/s)", [n / one_way[n].value / 1e6 for n in at])
    )
    rates = [
        Estimate(n / one_way[n].value / 1e6, n / one_way[n].value / 1e6 * one_way[n].half_width / one_way[n].value)
        for n in at
    ]
    _measured(fig, 0, "n / T(n)", at, rates, 1.0, unit="MB/s")
    for i, r in enumerate(ranges):
        first = max(r.first_bytes, 1)
        ns = np.geomspace(first, max(r.up_to_bytes or at[-1], first + 1), 32)
        times = np.array([r.time(n) for n in ns])
        timed = times > 0.0
        _fitted(fig, 1, "LogGP", ns[timed], ns[timed] / times[timed] / 1e6, shown=not i)
    _switch_line(fig, eager_limit)
    best = max(range(len(at)), key=lambda i: rates[i].value)
    said = f"the best is {significant(rates[best].value)} MB/s at {bytes_text(at[best])}"
    return Chart(fig, f"Bandwidth over the message size; {said}.")


def bursts(points: Sequence[BurstPoint], depth: int | None) -> Chart:
    """o(S, b) against the burst length, one curve for each size, and HD."""
    by_size: dict[int, list[BurstPoint]] = {}
    for point in points:
        by_size.setdefault(point.size, []).append(point)
    factor, unit = _unit([p.o.value for p in points])
    fig = _lines(
        _powers("b, operations in a burst", [p.burst for p in points]),
        _log_axis(f"time per initiation ({unit})", [p.o.value * factor for p in points]),
    )
    for number, (size, row) in enumerate(sorted(by_size.items())):
        _measured(fig, number, size_label(size), [p.burst for p in row], [p.o for p in row], factor)
    if depth is not None:
        _vertical(fig, depth, f"HD = {depth}")
    said = f"; initiation blocks beyond {depth} operations" if depth is not None else ""
    return Chart(fig, f"Time per initiation over the burst length for {len(by_size)} sizes{said}.")


def gaps(found: Sequence[Gap]) -> Chart:
    """G against the size, for each pattern and number of processes two curves: its slowest and its fastest pair."""
    curves: dict[tuple[str, int], dict[int, dict[str, Estimate]]] = {}
    for gap in found:
        curves.setdefault((gap.pattern, gap.processors), {}).setdefault(gap.size, {})[gap.level] = gap.G
    fig = _lines(
        _bytes_axis("message size", [gap.size for gap in found]),
        _log_axis("G, time per byte (ns/B)", [gap.G.value * 1e9 for gap in found]),
    )
    for number, ((pattern, processors), row) in enumerate(sorted(curves.items())):
        for level in ("lowest", "highest"):
            at = sorted(size for size, levels in row.items() if level in levels)
            pair = "slowest pair" if level == "lowest" else "fastest pair"
            name = f"{pattern}, P = {processors}, {pair}"
            symbol = "circle" if level == "lowest" else "circle-open"
            _measured(fig, number, name, at, [row[n][level] for n in at], 1e9, unit="ns/B", symbol=symbol)
    return Chart(fig, f"Time per byte of the slowest and the fastest pair for {len(curves)} patterns.")


def strides(
    measured: Mapping[int, Mapping[int, Estimate]],
    predicted: Mapping[int, Mapping[int, float]],
    packed: Mapping[int, Mapping[int, Estimate]],
) -> Chart:
    """Half round trips against the stride, one curve for each size; dashed: log3P's o_mw + l_mw + o_net.

    Two views: sent with a datatype, and packed by hand.
    """
    columns = [e.value for rows in (measured, packed) for row in rows.values() for e in row.values()]
    factor, unit = _unit(columns)
    all_strides = [d for rows in (measured, packed) for row in rows.values() for d in row]
    fig = _lines(
        _bytes_axis("stride, from one block to the next", all_strides),
        _log_axis(f"half round trip ({unit})", [value * factor for value in columns]),
    )
    numbers = {size: number for number, size in enumerate(sorted({*measured, *packed}))}
    on: list[str] = []
    for kind, rows in (("datatype", measured), ("packed", packed)):
        for size, row in sorted(rows.items()):
            at = sorted(row)
            _measured(fig, numbers[size], size_label(size), at, [row[d] for d in at], factor)
            on.append(kind)
            if kind == "datatype" and predicted.get(size):
                ds = sorted(predicted[size])
                values = np.array([predicted[size][d] for d in ds]) * factor
                _fitted(
                    fig,
                    numbers[size],
                    f"{size_label(size)}, log3P",
                    np.array(ds, dtype=float),
                    values,
                    group=size_label(size),
                )
                on.append(kind)
    views = tuple(
        View(label, tuple({"visible": kind == wanted} for kind in on))
        for label, wanted in (("MPI_Type_vector", "datatype"), ("Packed by hand", "packed"))
        if wanted in on
    )
    return Chart(fig, f"Half round trips over the stride for {len(numbers)} sizes.", views if len(views) > 1 else ())


def switch(points: Sequence[tuple[int, float, Estimate]], eager_limit: int | None) -> Chart:
    """Time in a send whose receive is posted late, against the size; a size whose send waits is a rendezvous."""
    at = sorted(points, key=lambda point: point[0])
    factor, unit = _unit([max(delay for _, delay, _ in at)])
    fig = _lines(_bytes_axis("message size", [size for size, _, _ in at]), axis(f"time in the send ({unit})"))
    _measured(fig, 0, "send", [size for size, _, _ in at], [send for _, _, send in at], factor)
    _fitted(
        fig,
        1,
        "the receiver's delay",
        [float(n) for n, _, _ in at],
        np.array([d for _, d, _ in at]) * factor,
        shown=True,
    )
    _switch_line(fig, eager_limit)
    said = (
        f"up to {bytes_text(eager_limit)} a send is done before its receive" if eager_limit else "no switch was found"
    )
    return Chart(fig, f"Time in a send whose receive is posted late: {said}.")


def _lines(x: dict[str, object], y: dict[str, object]) -> go.Figure:
    return figure(
        HEIGHT,
        xaxis=x,
        yaxis=y,
        hovermode="closest",
        margin={"l": 28, "r": 24, "t": 8, "b": 8},
        showlegend=True,
        legend={
            "orientation": "h",
            "y": 1.06,
            "yanchor": "bottom",
            "x": 0,
            "xanchor": "left",
            "groupclick": "togglegroup",
        },
    )


def _measured(
    fig: go.Figure,
    number: int,
    name: str,
    at: Sequence[int],
    found: Sequence[Estimate],
    factor: float,
    *,
    unit: str = "",
    symbol: str = "circle",
) -> None:
    """Points joined by a thin line, with error bars."""
    texts = [
        f"<b>{plotly_text(name)}</b><br>{_shown(e, unit, factor)}<br>{'' if e.reached else '±5 % not reached'}"
        for e in found
    ]
    fig.add_scatter(
        x=list(at),
        y=rounded(np.array([e.value for e in found]) * factor),
        error_y={
            "type": "data",
            "symmetric": False,
            "array": rounded(np.array([e.high - e.value for e in found]) * factor),
            # No time is negative, so no bar reaches below zero.
            "arrayminus": rounded(np.array([e.value - max(e.low, 0.0) for e in found]) * factor),
            "thickness": 1,
            "width": 3,
        },
        mode="lines+markers",
        legendgroup=plotly_text(name),
        name=plotly_text(name),
        meta={"ink": _ink(number)},
        marker={"size": 6, "symbol": _symbol(number, symbol), "color": _ink(number)["light"]},
        line={"width": 1, "color": _ink(number)["light"]},
        opacity=0.95,
        customdata=texts,
        hovertemplate="%{customdata}<extra>%{x}</extra>",
    )


def _fitted(
    fig: go.Figure,
    number: int,
    name: str,
    x: Sequence[float] | np.ndarray,
    y: np.ndarray,
    *,
    group: str | None = None,
    shown: bool = False,
) -> None:
    fig.add_scatter(
        x=rounded(np.asarray(x, dtype=float)),
        y=rounded(np.asarray(y, dtype=float)),
        mode="lines",
        name=plotly_text(name),
        legendgroup=plotly_text(name if group is None else group),
        showlegend=shown,
        meta={"ink": _ink(number)},
        line={"width": 2.5, "dash": "dash", "color": _ink(number)["light"]},
        hoverinfo="skip",
    )


def _symbol(number: int, symbol: str) -> str:
    """Curves beyond the last ink begin with the first one again, with another symbol."""
    return symbol if number < len(INKS) else ("diamond", "square", "cross")[(number // len(INKS) - 1) % 3]


def _ink(number: int) -> dict[str, str]:
    light, dark = INKS[number % len(INKS)]
    return {"light": light, "dark": dark}


def _powers(title: str, values: Sequence[int]) -> dict[str, object]:
    ticks = [2**k for k in range(int(np.log2(max(min(values), 1))), int(np.ceil(np.log2(max(values)))) + 1)]
    return axis(title, type="log", tickmode="array", tickvals=ticks, ticktext=[str(t) for t in ticks])


MANTISSAS = ((6.0, (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)), (300.0, (1, 2, 5)), (np.inf, (1,)))
"""Up to this ratio of the largest to the smallest value: the ticks within each decade."""


def _log_axis(title: str, values: Sequence[float]) -> dict[str, object]:
    """Every tick with its whole number, where plotly's own say "2" and "5" in every decade; few on a wide axis."""
    positive = [value for value in values if value > 0.0] or [1.0]
    low, high = min(positive), max(positive)
    within = next(marks for ratio, marks in MANTISSAS if high <= ratio * low)
    # Two decades more at each end, for error bars and for a zoom out.
    exponents = range(int(np.floor(np.log10(low))) - 2, int(np.ceil(np.log10(high))) + 3)
    ticks = [float(f"{mark}e{k}") for k in exponents for mark in within]
    labels = [f"{tick:,.0f}" if tick >= 10 else f"{tick:g}" for tick in ticks]
    return axis(title, type="log", tickmode="array", tickvals=ticks, ticktext=labels)


def _bytes_axis(title: str, values: Sequence[int]) -> dict[str, object]:
    low, high = max(min(values), 1), max(values)
    exponents = range(int(np.floor(np.log2(low))), int(np.ceil(np.log2(high))) + 1)
    step = max(1, len(exponents) // 10)
    ticks = [2**k for k in exponents][::step]
    return axis(title, type="log", tickmode="array", tickvals=ticks, ticktext=[size_label(t) for t in ticks])


def _switch_line(fig: go.Figure, eager_limit: int | None) -> None:
    if eager_limit is not None:
        _vertical(fig, eager_limit, f"eager up to {size_label(eager_limit)}")


def _vertical(fig: go.Figure, at: float, text: str) -> None:
    # Shapes take a logarithmic axis's values as they are, annotations want the logarithm.
    fig.add_shape(
        type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line={"width": 1, "dash": "dot", "color": "#808a99"}
    )
    fig.add_annotation(
        x=float(np.log10(at)), y=1, yref="paper", yanchor="bottom", text=text, showarrow=False, font={"size": 11}
    )


def _unit(seconds: Sequence[float]) -> tuple[float, str]:
    """Factor from seconds, and the unit's name, for times of this size."""
    factor, unit = time_unit(max(seconds, default=1e-6) * PS)
    return PS / factor, unit


def _time(seconds: float) -> str:
    return time_text(seconds * PS)


def size_label(count: int) -> str:
    """A size of an axis or a curve: powers of two without decimals, others in bytes while these are few."""
    for factor, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if count >= factor and count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count:,} B" if count < 100_000 else bytes_text(count)


def _shown(found: Estimate, unit: str, factor: float) -> str:
    if unit:
        low, high = significant(max(found.low, 0.0) * factor), significant(found.high * factor)
        return f"{significant(found.value * factor)} {unit}, {low} to {high}"
    return f"{_time(found.value)}, {_time(max(found.low, 0.0))} to {_time(found.high)}"
