"""Two sides of several runs each: by how much a quantity changes, and whether that is more than the runs' own noise.

A bar is mean(B) − mean(A), its whisker the 95 % interval of Welch (`analyzer.repeats.contrast`). What lies within the
noise is pale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from logpost.analyzer.compare.repeats.compare import FASTER, SLOWER, RepeatedChange
from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.units import percent_text, time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis, row_height
from logpost.dashboards.figures.labels import plotly_text, time_unit

MOST = 24
"""Rows: so many fit on a screen."""
PALE = 0.35
"""Opacity of a change that is within the noise."""
ROOM = {1: 1.7, 2: 3.0}
"""How far the axis extends on a side with bars, in longest bars, by the number of such sides."""
INK = {"light": "#0072b2", "dark": "#56a9e8"}


@dataclass(frozen=True)
class Row:
    """One quantity, in ps."""

    label: str
    change: RepeatedChange
    category: str = ""
    """Whose colour it has; empty: that of no category."""

    @property
    def certain(self) -> bool:
        """Whether the change is more than noise."""
        return self.change.verdict in (SLOWER, FASTER)

    @property
    def said(self) -> str:
        """The change with its half interval, or that it is unknown."""
        value, half = self.change.contrast.value, self.change.contrast.half_width
        text = f"{'+' if value > 0 else '−' if value < 0 else ''}{time_text(abs(value))}"
        return f"{text} ± {time_text(half)}" if half is not None else f"{text}, noise not known"


def repeated_changes(rows: Sequence[Row], what: str, *, sort: bool = True) -> Chart:
    """A bar for each quantity: left, B takes less; right, B takes more.

    Args:
        rows: the quantities; at least one.
        what: title of the axis, which gets its unit here.
        sort: certain changes first, then by size; else as they are given. At most `MOST` are drawn, the largest.
    """
    largest = sorted(rows, key=lambda row: (not row.certain, -abs(row.change.contrast.value)))[:MOST]
    shown = largest if sort else [row for row in rows if row in largest]
    ends = [abs(row.change.contrast.value) + (row.change.contrast.half_width or 0.0) for row in shown]
    factor, unit = time_unit(max(ends, default=0.0) or 1.0)
    longest = max(ends, default=0.0) / factor or 1.0
    sides = {row.change.contrast.value < 0 for row in shown}
    # For the text next to the longest bar, in half a page.
    room = [ROOM[len(sides)] * longest if less in sides else 0.05 * longest for less in (True, False)]
    fig = figure(
        80 + row_height(len(shown), 28, 16, 620),
        bargap=0.35,
        xaxis=axis(f"B − A, {what} ({unit})", range=[-room[0], room[1]], fixedrange=True),
        yaxis=row_axis([plotly_text(row.label, 40) for row in shown], ""),
    )
    for i, row in enumerate(shown):
        contrast = row.change.contrast
        trace: dict[str, Any] = (
            category_trace(row.category) if row.category else {"meta": {"ink": INK}, "marker": {"line": {"width": 0}}}
        )
        half = contrast.half_width
        if half is not None:
            trace["error_x"] = {
                "type": "constant", "value": float(f"{half / factor:.5g}"), "thickness": 1.4, "width": 4,
                "color": "#8b95a5",
            }  # fmt: skip
        fig.add_bar(
            orientation="h",
            y=[i],
            x=[float(f"{contrast.value / factor:.5g}")],
            opacity=1.0 if row.certain else PALE,
            customdata=[
                f"<b>{plotly_text(row.label, 80)}</b><br>A {time_text(contrast.a.mean)} of {_runs(contrast.a.count)}, "
                f"B {time_text(contrast.b.mean)} of {_runs(contrast.b.count)}<br>{row.said}: {row.change.verdict}"
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **trace,
        )
        less = contrast.value < 0
        fig.add_annotation(
            x=float(f"{(-1 if less else 1) * ends[i] / factor:.5g}"), y=i, text=row.said, showarrow=False,
            xanchor="right" if less else "left", xshift=-6 if less else 6,
        )  # fmt: skip
    fig.add_vline(x=0, line_width=1, line_color="#888888")
    certain = [row for row in rows if row.certain]
    if not certain:
        known = any(row.change.contrast.half_width is not None for row in rows)
        return Chart(fig, "No change is more than noise." if known else "The noise is not known: no side has repeats.")
    first = max(certain, key=lambda row: abs(row.change.contrast.value))
    of = f" ({percent_text(abs(share))})" if (share := first.change.relative) not in (None, 0.0) else ""
    return Chart(
        fig,
        f"{len(certain)} of {len(rows)} changes are more than noise (95 % intervals); the largest is "
        f"{plotly_text(first.label, 80)} with {first.said}{of}.",
    )


def runs_by_category(names: Sequence[str], means: np.ndarray) -> Chart:
    """A stacked bar for each run: the mean time of its ranks by category.

    Args:
        names: of the runs, with their side.
        means: shape (runs, categories), in ps, categories in the order of `SHOWN`.
    """
    factor, unit = time_unit(float(means.sum(axis=1).max(initial=0.0)))
    fig = figure(
        80 + row_height(len(names), 30, 16, 620),
        barmode="stack",
        bargap=0.3,
        xaxis=axis(f"time, mean of the ranks ({unit})", fixedrange=True),
        yaxis=row_axis([plotly_text(name, 40) for name in names], ""),
    )
    whole = means.sum(axis=1)
    for category in palette.INKS:
        times = means[:, SHOWN.index(category)]
        if not times.any():
            continue
        fig.add_bar(
            orientation="h",
            y=list(range(len(names))),
            x=[float(f"{time / factor:.6g}") for time in times],
            customdata=[
                f"{plotly_text(name, 80)}<br><b>{palette.label(category)}</b> {time_text(time)} · "
                f"{percent_text(time / of if of else 0.0)} of {time_text(of)}"
                for name, time, of in zip(names, times.tolist(), whole.tolist(), strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **category_trace(category),
        )
    shortest = int(whole.argmin())
    return Chart(fig, f"{plotly_text(names[shortest], 80)} is the shortest: {time_text(float(whole[shortest]))}.")


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
