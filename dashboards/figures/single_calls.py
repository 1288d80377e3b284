"""Single calls on ranks over time, and the messages between them: what a timeline is when it is zoomed in."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from logpost.analyzer.run.undivided import SHOWN
from logpost.analyzer.words.units import bytes_text, count_text, time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis, row_height
from logpost.dashboards.figures.folding import Rows
from logpost.dashboards.figures.labels import plotly_text, time_unit

MOST_CALLS = 5_000
MOST_ARROWS = 600
"""More of them are a thicket: a call under the pointer shows its own instead."""
MOST_MESSAGES = 10_000
"""That a page knows: 50 bytes each."""
BAR = 0.65
"""Of a row."""


def single_calls(calls: pl.DataFrame, messages: pl.DataFrame, on: Rows, begin_ps: int, end_ps: int) -> Chart:
    """A bar per call in the colour of what took most of it, and a line per message from its send to its receive.

    Args:
        calls: columns row, call, enter_ps, leave_ps, name, and a column `{category}_ps` for each of `SHOWN` but
            compute; at most `MOST_CALLS`.
        messages: columns send_row, recv_row, send_enter_ps, recv_leave_ps, send_call, send_complete_call, recv_call,
            bytes and name (`RECEIVER:NUMBER`); of more than `MOST_MESSAGES` none is drawn.
        on: the rows, one per location.
        begin_ps, end_ps: what to show.
    """
    factor, unit = time_unit(end_ps)
    fig = figure(
        max(300, 90 + row_height(on.count, 34, 8, 560)),
        barmode="overlay",
        xaxis=axis(f"time ({unit})", showgrid=False, range=[begin_ps / factor, end_ps / factor]),
        yaxis=row_axis(on.labels, on.axis),
        meta={"ps_per_x": factor, "pick": "call or message"},
        hovermode="closest",
    )
    parts = [category for category in SHOWN[1:] if f"{category}_ps" in calls.columns]
    if calls.height:
        times = calls.select(f"{part}_ps" for part in parts).to_numpy().astype(np.float64)
        largest = times.argmax(axis=1)
        enter, leave = (np.clip(calls[name].to_numpy(), begin_ps, end_ps) for name in ("enter_ps", "leave_ps"))
        length = (calls["leave_ps"] - calls["enter_ps"]).to_list()
        names = [plotly_text(name or "call") for name in calls["name"]]
        rows, ids = calls["row"].to_numpy(), calls["call"].to_list()
        order = sorted(set(largest.tolist()), key=lambda i: list(palette.INKS).index(parts[i]))
        for number in order:
            mine = np.nonzero(largest == number)[0]
            fig.add_bar(
                orientation="h",
                width=BAR,  # plotly's own follows from the rows of a trace, of which some have few
                y=rows[mine].tolist(),
                base=[float(f"{v / factor:.9g}") for v in enter[mine].tolist()],
                x=[float(f"{v / factor:.6g}") for v in (leave - enter)[mine].tolist()],
                customdata=[
                    [ids[i], f"{on.titles[rows[i]]}: {names[i]}, {time_text(length[i])}<br>{_largest(times[i], parts)}"]
                    for i in mine.tolist()
                ],
                hovertemplate="%{customdata[1]}<br>click: its parts<extra></extra>",
                **category_trace(parts[number]),
            )
    if MOST_ARROWS < messages.height <= MOST_MESSAGES:
        fig.update_layout(meta={**fig.layout.meta, "arrows": _arrows(messages, factor)})
    elif 0 < messages.height <= MOST_ARROWS:
        x: list[float | None] = []
        y: list[float | None] = []
        custom: list[list[str] | None] = []
        for row in messages.iter_rows(named=True):
            x += [row["send_enter_ps"] / factor, row["recv_leave_ps"] / factor, None]
            y += [row["send_row"], row["recv_row"], None]
            said = f"{bytes_text(row['bytes'])}, {time_text(row['recv_leave_ps'] - row['send_enter_ps'])}"
            custom += [[row["name"], said], [row["name"], said], None]
        fig.add_scatter(
            x=x,
            y=y,
            mode="lines+markers",
            customdata=custom,
            meta={"ink": {"light": "#17202c", "dark": "#e6ebf2"}},
            line={"width": 1},
            marker={"size": 5, "symbol": "arrow", "angleref": "previous"},
            opacity=0.55,
            hovertemplate="message %{customdata[0]}: %{customdata[1]}<br>click: its partition<extra></extra>",
            name="messages",
        )
    held = count_text(calls.height, "call")
    said = f"{held} and {count_text(messages.height, 'message')}."
    if messages.height > MOST_MESSAGES:
        said = f"{held}. Over {MOST_MESSAGES:,} messages are not drawn: select less to see them."
    elif messages.height > MOST_ARROWS:
        said = f"{said} The pointer on a call shows its messages; over {MOST_ARROWS} at once would cover the calls."
    return Chart(fig, said)


def _arrows(messages: pl.DataFrame, factor: float) -> dict[str, list[Any]]:
    """The ends of each message, and the calls that send it, that complete its send, and that complete its receive."""
    x0, x1 = (pl.col(name) / factor for name in ("send_enter_ps", "recv_leave_ps"))
    calls = pl.concat_list("send_call", "send_complete_call", "recv_call")
    return messages.select(calls=calls, x0=x0, y0="send_row", x1=x1, y1="recv_row").to_dict(as_series=False)


def _largest(times: np.ndarray, parts: list[str]) -> str:
    order = np.argsort(-times, kind="stable")[:3]
    return "<br>".join(f"{palette.label(parts[i])} {time_text(float(times[i]))}" for i in order if times[i] > 0)
