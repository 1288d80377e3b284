"""Where the time of all ranks went: a bar per category, compute first, then the largest; the page's first chart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from logpost.analyzer.report.data import Share
from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.units import percent_text, time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis

MOST_BARS = 8
"""The chart is above the fold; the rest is one bar, and the table below the breakdown has all of them."""


def shares(times: np.ndarray) -> list[Share]:
    """Of each category the time of all ranks and its share.

    Args:
        times: shape (ranks, categories of `SHOWN`), in ps.
    """
    sums = times.sum(axis=0)
    total = float(sums.sum())
    return [Share(c, int(t), t / total if total else 0.0) for c, t in zip(SHOWN, sums.tolist(), strict=True)]


def overview(shares: Sequence[Share]) -> Chart:
    """One horizontal bar per category with time, in per cent of all ranks' time.

    Args:
        shares: every category of the run.
    """
    compute = [share for share in shares if share.category == "compute" and share.exposed_ps > 0]
    others = sorted(
        (share for share in shares if share.category != "compute" and share.exposed_ps > 0),
        key=lambda share: -share.exposed_ps,
    )
    room = MOST_BARS - len(compute)
    hidden = others[room - 1 :] if len(others) > room else []
    shown = [*compute, *others[: len(others) - len(hidden)]]
    bars = [(palette.label(s.category), s.category, s.share, s.exposed_ps) for s in shown]
    if hidden:
        rest = (sum(s.share for s in hidden), sum(s.exposed_ps for s in hidden))
        bars.append((f"{len(hidden)} others", "mpi_other", *rest))
    longest = max((share for _, _, share, _ in bars), default=0.0)
    inside = {row for row, (_, category, share, _) in enumerate(bars)
              if share > 0.7 * longest and not palette.INKS[category].pattern}  # fmt: skip
    outside = any(share > 0.7 * longest and row not in inside for row, (_, _, share, _) in enumerate(bars))
    room_for = 180 if outside else 150
    fig = figure(
        46 + 27 * len(bars),
        bargap=0.3,
        xaxis=axis("share of all ranks' time (%)", range=[0, room_for * longest], fixedrange=True, nticks=5),
        yaxis=row_axis([name for name, *_ in bars], ""),
    )
    for row, (name, category, share, exposed_ps) in enumerate(bars):
        text = f"{percent_text(share)} · {time_text(exposed_ps)}"
        fig.add_bar(
            orientation="h",
            y=[row],
            x=[float(f"{100 * share:.4g}")],
            text=[f" {text} "],
            # Inside where the text surely fits, also on a narrow screen, and no pattern crosses it; else there is room
            # next to the bar.
            textposition="inside" if row in inside else "outside",
            insidetextanchor="end",
            cliponaxis=False,
            customdata=[f"<b>{name}</b> {text} over all ranks"],
            hovertemplate="%{customdata}<extra></extra>",
            **(category_trace(category) | {"name": name}),
        )
    said = ", ".join(f"{name} {percent_text(share)}" for name, _, share, _ in bars)
    return Chart(fig, f"Share of all ranks' time: {said or 'no time'}.")
