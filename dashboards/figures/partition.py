"""One message's partition: its time under each model as labelled segments, as the papers draw it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from logpost.analyzer.explain.messages import ExplainedMessage
from logpost.analyzer.words.units import time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis
from logpost.dashboards.figures.labels import plotly_text, time_unit

BAR = 0.7
"""Height of a bar, of its row."""


def partition(message: ExplainedMessage) -> Chart:
    """A row per model; the segments follow each other without gap from the begin to the end of the envelope. The legend
    has the parts that the message has.

    Args:
        message: under each model that the machine has values for.
    """
    length = message.end_ps - message.begin_ps
    factor, unit = time_unit(float(length))
    names = [f"{split.model.label}{'' if not split.deficit_ps else f' (deficit {time_text(split.deficit_ps)})'}"
             for split in message.splits]  # fmt: skip
    fig = figure(
        120 + 38 * len(names),
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        barmode="overlay",
        xaxis=axis(f"time from the message's begin ({unit})", range=[0, length / factor]),
        yaxis=row_axis(names, ""),
    )
    for category in palette.INKS:
        found = [
            (row, piece)
            for row, split in enumerate(message.splits)
            for piece in split.pieces
            if piece.part == category and piece.end_ps > piece.begin_ps
        ]
        if not found:
            continue
        fig.add_bar(
            orientation="h",
            y=[row for row, _ in found],
            width=BAR,  # plotly's own follows from the rows of a trace, of which some have few
            base=[float(f"{(piece.begin_ps - message.begin_ps) / factor:.9g}") for _, piece in found],
            x=[float(f"{(piece.end_ps - piece.begin_ps) / factor:.6g}") for _, piece in found],
            text=[
                f"{palette.label(category)} {time_text(piece.end_ps - piece.begin_ps)}"
                if piece.end_ps - piece.begin_ps > 0.12 * length
                else ""
                for _, piece in found
            ],
            textposition="inside",
            insidetextanchor="middle",
            constraintext="both",
            customdata=[
                f"{names[row]}<br><b>{palette.label(category)}</b> {time_text(piece.end_ps - piece.begin_ps)}"
                for row, piece in found
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **_plain(category),
        )
    ends = f"{plotly_text(message.sender)} → {plotly_text(message.receiver)}"
    return Chart(fig, f"Message {message.name}, {ends}, {time_text(length)}: {_said(message)}.")


def _plain(category: str) -> dict[str, Any]:
    """The look of a category without its pattern, in which no text can be read: the segments bear their names."""
    look = category_trace(category)
    return {**look, "marker": {**look["marker"], "pattern": {"shape": ""}}}


def _said(message: ExplainedMessage) -> str:
    parts: Sequence[tuple[str, int]] = sorted(message.splits[0].parts_ps.items(), key=lambda one: -one[1])[:3]
    return ", ".join(f"{palette.label(part)} {time_text(time)}" for part, time in parts if time > 0)
