"""Messages in flight: one row per receiver, over time. A hot spot is a bright stroke."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from logpost.dashboards.figures.chart import Chart, axis, figure, rounded, row_axis, row_height
from logpost.dashboards.figures.labels import significant, time_unit

LEAST = 0.5
"""Messages at the lower end of the scale, which is logarithmic: half a message is one message half of the time."""
TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Labels of the colour scale, by thirds of a decade."""

Times = npt.NDArray[np.int64]


def in_flight(begin: Times, end: Times, receiver: Times, rows: int, edges: Times) -> npt.NDArray[np.float64]:
    """Mean number of messages in flight to each receiver, per interval between edges; shape (rows, intervals).

    Args:
        begin, end: when each message was sent and when it was received, ps.
        receiver: its row.
        rows: how many there are.
        edges: bounds of the intervals, ps.
    """
    found = np.zeros((rows, len(edges) - 1))
    for row in range(rows):
        mine = receiver == row
        # The sum of all messages' times in flight until an edge.
        until = np.clip(edges[:, None] - begin[mine][None, :], 0, (end - begin)[mine][None, :]).sum(axis=1)
        found[row] = np.diff(until) / np.diff(edges)
    return found


def receivers(counts: npt.NDArray[np.float64], edges: Times, names: Sequence[str], most: float, what: str) -> Chart:
    """Receiver x time heat map of `in_flight`.

    Args:
        counts: messages per receiver and interval.
        edges: of the intervals, ps.
        names: of the receivers.
        most: end of the colour scale, so that two charts can share it.
        what: whose messages, for a reader who cannot see the chart.
    """
    factor, unit = time_unit(float(edges[-1]))
    middle = (edges[:-1] + edges[1:]) / 2 / factor

    def where(row: int, column: int) -> str:
        return f"to {names[row]} at {significant(float(middle[column]))} {unit}"

    fig = figure(
        70 + row_height(len(names), 8, 4, 480),
        xaxis=axis(f"time ({unit})", showgrid=False),
        yaxis=row_axis([name.removeprefix("rank ") for name in names], "receiver", 8),
    )
    there = np.where(counts > 0, np.clip(counts, LEAST, most), np.nan)
    ticks = [tick for tick in TICKS if tick <= most]
    fig.add_heatmap(
        x0=float(middle[0]),
        dx=float(middle[1] - middle[0]) if len(middle) > 1 else 1.0,
        y=list(range(len(names))),
        z=rounded(np.log10(there)),
        zmin=float(np.log10(LEAST)),
        zmax=float(np.log10(most)),
        colorbar={
            "title": {"text": "messages in flight", "side": "right"},
            "thickness": 12,
            "outlinewidth": 0,
            "tickmode": "array",
            "tickvals": np.log10(ticks).tolist(),
            "ticktext": [f"{tick:g}" for tick in ticks],
        },
        text=[
            [f"{where(i, j)}<br>{significant(float(v))} messages" if v > 0 else "" for j, v in enumerate(of)]
            for i, of in enumerate(counts)
        ],
        meta={"scale": "magnitude"},
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
    )
    row, column = np.unravel_index(int(counts.argmax()), counts.shape)
    said = f"{what}: at most {counts.max():.0f} messages at once are in flight to one receiver"
    return Chart(fig, f"{said}, {where(int(row), int(column))}.")
