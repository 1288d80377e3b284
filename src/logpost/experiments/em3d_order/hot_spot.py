"""LOGPC 5.3: the hot spot of EM3D's original order, as the analyzer finds it and as messages crowd at receivers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from logpost.dashboards.figures.receivers import in_flight, receivers
from logpost.experiments.em3d_order.runs import IMPROVED, ORDERS, ORIGINAL, RANKS, Runs
from logpost.experiments.framework.context import Context
from logpost.experiments.framework.result import Cell, Column, Figure, Origin, Part, Table
from logpost.experiments.support.alewife import MACHINE

if TYPE_CHECKING:
    from logpost.analyzer.report.data import PlacedFinding
    from logpost.analyzer.run.directory import Run

HOTSPOT = "destination_order"
WINDOW, STEPS = 1.1, 88
"""Iterations that the figure shows, the beginning of the next one included, and its steps: 80 an iteration."""


def hot_spot(context: Context, runs: Runs) -> Part:
    """Analyze both orders at the largest span with the machine's own file."""
    from logpost.analyzer.report.build import build

    span = runs.largest
    traces = {order: context.analyze(runs.own(order).archive, MACHINE, f"{order}-span-{span}") for order in ORDERS}
    found = {order: build(traces[order]).findings for order in ORDERS}
    first = found[ORIGINAL][0] if found[ORIGINAL] else None
    gone = all(finding.kind != HOTSPOT for finding in found[IMPROVED])
    return Part(
        said=f"logpost's first finding of the original order: {'none' if first is None else first.title}; the improved "
        f"order has {'none of its kind' if gone else 'one of its kind, too'}.",
        tables=(_findings_table(found, span),),
        figures=_crowds(traces, runs.own(ORIGINAL).values["total_s"] / runs.analyzed * 1e12),
    )


def _findings_table(found: dict[str, tuple[PlacedFinding, ...]], span: int) -> Table:
    from logpost.analyzer.words.units import percent_text, time_text

    def rows(order: str) -> list[tuple[Cell, ...]]:
        if not found[order]:
            return [(order, "–", "no hotspot passed the thresholds", "", "", "", "")]
        return [
            (
                order,
                str(place),
                finding.title,
                finding.ranks_text,
                finding.region,
                f"{time_text(finding.begin_ps)} – {time_text(finding.end_ps)}" if finding.first_window >= 0 else "–",
                f"{time_text(finding.exposed_ps)}, {percent_text(finding.share)} of the worst-hit rank",
            )
            for place, finding in enumerate(found[order][:3], start=1)
        ]

    return Table(
        f"What `logpost analyze` finds at span {span}, with the machine's own file",
        tuple(
            Column(name, Origin.SETTING) for name in ("order", "place", "finding", "ranks", "region", "when", "costs")
        ),
        tuple(row for order in ORDERS for row in rows(order)),
        note="The first three findings of each order, worst first.",
    )


def _crowds(traces: Mapping[str, Run], iteration_ps: float) -> tuple[Figure, ...]:
    """Messages in flight to each receiver during one iteration of the original order, in both orders."""
    counts, edges = {}, {}
    for order, run in traces.items():
        messages = run.table("messages").select("recv_location", "send_enter_ps", "send_complete_ps", "recv_leave_ps")
        sent = messages.filter(
            pl.col("send_enter_ps") < pl.col("send_enter_ps").min() + int(WINDOW * iteration_ps)
        ).collect()
        begin = sent["send_enter_ps"].to_numpy()
        end = np.maximum(
            begin, sent.select(pl.min_horizontal("send_complete_ps", "recv_leave_ps")).to_series().to_numpy()
        )
        edges[order] = np.linspace(0, WINDOW * iteration_ps, STEPS + 1).astype(np.int64)
        receiver = sent["recv_location"].to_numpy().astype(np.int64)
        counts[order] = in_flight(begin - begin.min(), end - begin.min(), receiver, RANKS, edges[order])
    most = max(float(of.max()) for of in counts.values())
    names = [f"rank {rank}" for rank in range(RANKS)]
    return tuple(
        Figure(
            f"The hot spot: messages in flight to each receiver, {order} order",
            receivers(counts[order], edges[order], names, most, f"{order} order"),
            "The time of one iteration of the original order, two exchanges; both charts have one scale.",
        )
        for order in traces
    )
