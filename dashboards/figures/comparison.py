"""Two runs: what their ranks' time went to, and which category changed by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from logpost.analyzer.compare.change import Change
from logpost.analyzer.words.units import percent_text, time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis
from logpost.dashboards.figures.labels import time_unit


def totals(categories: Sequence[Change]) -> Chart:
    """Two stacked bars: time over all ranks of A and of B."""
    sums = [sum(getattr(change, side) or 0 for change in categories) for side in ("before", "after")]
    factor, unit = time_unit(max(sums, default=0.0))
    fig = figure(
        150,
        barmode="stack",
        bargap=0.3,
        xaxis=axis(f"time over all ranks ({unit})"),
        yaxis=row_axis(["A", "B"], ""),
    )
    known = {change.name: change for change in categories}
    for category in palette.INKS:
        change = known.get(category)
        if change is None:
            continue
        times = [change.before or 0, change.after or 0]
        if not any(times):
            continue
        fig.add_bar(
            orientation="h",
            y=[0, 1],
            x=[float(f"{t / factor:.6g}") for t in times],
            customdata=[
                f"{run}<br><b>{palette.label(category)}</b> {time_text(t)} · {percent_text(t / s if s else 0.0)}"
                for run, t, s in zip("AB", times, sums, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **category_trace(category),
        )
    return Chart(fig, f"Time over all ranks: A {time_text(sums[0])}, B {time_text(sums[1])}.")


def changes(categories: Sequence[Change]) -> Chart:
    """A bar per category that changed: left, B has less; right, B has more. The largest change is first."""
    shown = sorted((c for c in categories if c.difference), key=lambda c: -abs(c.difference or 0))
    most = max((abs(c.difference or 0) for c in shown), default=0.0)
    factor, unit = time_unit(most)
    room = 1.9 * most / factor
    fig = figure(
        70 + 30 * len(shown),
        bargap=0.35,
        xaxis=axis(f"B − A, time over all ranks ({unit})", range=[-room, room]),
        yaxis=row_axis([palette.label(c.name) for c in shown], ""),
    )
    for i, change in enumerate(shown):
        difference = change.difference or 0
        said = f"{'+' if difference > 0 else '−'}{time_text(abs(difference))}"
        marks: dict[str, Any] = category_trace(change.name)
        fig.add_bar(
            orientation="h",
            y=[i],
            x=[float(f"{difference / factor:.6g}")],
            text=[f" {said} "],
            textposition="outside",
            cliponaxis=False,
            customdata=[
                f"<b>{palette.label(change.name)}</b> {said}<br>"
                f"A {time_text(change.before or 0)}, B {time_text(change.after or 0)}"
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **marks,
        )
    fig.add_vline(x=0, line_width=1, line_color="#888888")
    worst = shown[0] if shown else None
    said = "Nothing changed."
    if worst:
        more = "more" if (worst.difference or 0) > 0 else "less"
        said = f"B has {time_text(abs(worst.difference or 0))} {more} {palette.label(worst.name)} than A."
    return Chart(fig, said)
