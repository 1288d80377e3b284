"""Which call costs: exposed communication time by callpath, stacked by category."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.units import time_text
from logpost.dashboards.figures import palette
from logpost.dashboards.figures.chart import Chart, axis, category_trace, figure, row_axis
from logpost.dashboards.figures.labels import path_text, plotly_text, time_unit


def callpaths(exposure: pl.DataFrame, *, totals: bool = False) -> Chart:
    """Stacked bars, most expensive callpath first.

    Args:
        exposure: columns callpath, label, category, exposed_ps, summed over ranks; only the
            callpaths to show.
        totals: written next to the bars; a report's page, which is also read on a phone, has a table.
    """
    order = (
        exposure.group_by("callpath", "label")
        .agg(wide_sum("exposed_ps"))
        .sort("exposed_ps", "callpath", descending=[True, False])
    )
    position = {c: i for i, c in enumerate(order["callpath"].to_list())}
    labels = [path_text(name, 44) for name in order["label"]]
    full = [plotly_text(name, 200) for name in order["label"]]
    longest = float(order["exposed_ps"].max() or 0)  # type: ignore[arg-type]
    factor, unit = time_unit(longest)
    fig = figure(
        70 + 30 * order.height,
        barmode="stack",
        bargap=0.3,
        xaxis=axis(f"exposed, all ranks ({unit})", range=[0, (1.15 if totals else 1.05) * longest / factor or 1]),
        yaxis=row_axis(labels, ""),
        meta={"callpaths": list(position)},
    )
    for category in palette.INKS:
        part = exposure.filter((pl.col("category") == category) & (pl.col("exposed_ps") > 0))
        if part.is_empty():
            continue
        rows = [position[c] for c in part["callpath"]]
        times = part["exposed_ps"].to_list()
        fig.add_bar(
            orientation="h",
            y=rows,
            x=[float(f"{t / factor:.6g}") for t in times],
            customdata=[
                f"{full[r]}<br><b>{palette.label(category)}</b> {time_text(t)}"
                for r, t in zip(rows, times, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            **category_trace(category),
        )
    for row, total in enumerate(order["exposed_ps"] if totals else ()):
        fig.add_annotation(
            x=float(f"{total / factor:.6g}"), y=row, text=time_text(total), showarrow=False, xanchor="left", xshift=4
        )
    worst = order.row(0) if order.height else None
    said = f"Most expensive: {labels[0]} with {time_text(worst[2])}." if worst else "No communication calls."
    return Chart(fig, said)
