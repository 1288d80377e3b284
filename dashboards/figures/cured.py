"""The program without the cause of a finding next to the program as it was: its critical path, and each rank's time."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.findings.cured import Cured, Execution
from logpost.analyzer.words.units import percent_text, time_text
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis, row_height
from logpost.dashboards.figures.folding import Rows
from logpost.dashboards.figures.labels import time_unit

NAMES = ("as it was", "without it")
INK_OF = {"code": "compute", "work": "send_overhead", "wait": "late_sender"}
"""What the replay divides a rank's time into, and the ink of the category that is nearest."""
SAID_OF = {"code": "code between calls", "work": "calls' own work", "wait": "waiting"}
SAID_ON_PATH = {**SAID_OF, "wait": "on the way between ranks"}
BAR = 0.38
"""Height of one of a row's two bars."""


def both_paths(found: Cured) -> Chart:
    """Two bars: what the critical path consists of, as it was and without the cause.

    Args:
        found: the finding.
    """
    executions = (found.before, found.after)
    factor, unit = time_unit(float(max(one.length_ps for one in executions)))
    fig = figure(
        150,
        barmode="stack",
        bargap=0.3,
        xaxis=axis(f"critical path ({unit})", fixedrange=True),
        yaxis=row_axis(list(NAMES), ""),
    )
    for what, said in SAID_ON_PATH.items():
        times = [int(_on_path(one, what)) for one in executions]
        fig.add_bar(
            orientation="h",
            y=[0, 1],
            x=[float(f"{time / factor:.6g}") for time in times],
            customdata=[
                f"{name}<br><b>{said}</b> {time_text(time)} · {percent_text(time / max(1, one.length_ps))}"
                for name, time, one in zip(NAMES, times, executions, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **(category_trace(INK_OF[what]) | {"name": said}),
        )
    before, after = (time_text(one.length_ps) for one in executions)
    part = f" of {found.part}" if found.part else ""
    kept = f"; the finding states {percent_text(found.gain)}" if found.saves < 0.9 * found.gain else ""
    return Chart(fig, f"Without its cause: {after} instead of {before}{part}, {percent_text(found.saves)} less{kept}.")


def ranks_before_and_after(found: Cured, on: Rows) -> Chart:
    """Each rank's time, two bars a row: above as it was, below without the cause; a row of several ranks is their mean.

    Args:
        found: the finding.
        on: the rows.
    """
    executions = (found.before, found.after)
    times = [_by_row(one, on) for one in executions]
    factor, unit = time_unit(float(max((one.sum(axis=1).max(initial=0.0) for one in times), default=0.0)))
    fig = figure(
        90 + row_height(on.count, 34, 10),
        barmode="overlay",
        xaxis=axis(f"time ({unit})", fixedrange=True),
        yaxis=row_axis(on.labels, on.axis),
    )
    for number, (name, each) in enumerate(zip(NAMES, times, strict=True)):
        base = np.zeros(on.count)
        for column, (what, said) in enumerate(SAID_OF.items()):
            part = each[:, column]
            drawn = category_trace(INK_OF[what])
            drawn["marker"] = {**drawn["marker"], "opacity": 1.0 if number else 0.55}
            fig.add_bar(
                orientation="h",
                y=[row + (number - 0.5) * BAR for row in range(on.count)],
                x=[float(f"{time / factor:.6g}") for time in part.tolist()],
                base=[float(f"{time / factor:.6g}") for time in base.tolist()],
                width=BAR * 0.94,
                customdata=[
                    f"{title}, {name}<br><b>{said}</b> {time_text(time)} of {time_text(whole)}"
                    for title, time, whole in zip(on.titles, part.tolist(), each.sum(axis=1).tolist(), strict=True)
                ],
                hovertemplate="%{customdata}<extra></extra>",
                **(drawn | {"name": f"{said}, {name}"}),
            )
            base = base + part
    waited = [float(one[:, 2].sum()) for one in times]
    less = 1 - waited[1] / waited[0] if waited[0] else 0.0
    return Chart(fig, f"Above as it was, below without it; the ranks wait {percent_text(abs(less))} "
                 f"{'less' if less >= 0 else 'more'}.")  # fmt: skip


def _on_path(execution: Execution, what: str) -> int:
    rows = execution.path.filter(pl.col("what") == what)
    return int((rows["end_ps"] - rows["begin_ps"]).sum())


def _by_row(execution: Execution, on: Rows) -> np.ndarray:
    """Mean time of a row's locations by (row, `SAID_OF`); ps."""
    parts = ("code_ps", "work_ps", "wait_ps")
    rows = execution.by_location.join(on.of, on="location").group_by("row").agg(pl.col(*parts).sum())
    times = np.zeros((on.count, 3))
    times[rows["row"].to_numpy()] = rows.select(parts).to_numpy()
    times /= np.maximum(on.sizes, 1)[:, None]
    return times
