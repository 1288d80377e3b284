"""Waits of receivers that poll: Probe, or Test and Iprobe in a loop, until the message is there."""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import Graph, graph_of, sums_by
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.spinning import polling_places
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.replay.columns import Int64

SCHEMA = {
    "receiver": pl.Int32(),
    "location": pl.Int32(),
    "callpath": pl.Int32(),
    "begin_ps": pl.Int64(),
    "end_ps": pl.Int64(),
}


@once
def polled_waits(evidence: Evidence) -> pl.DataFrame:
    """Rows (receiver; location: the sender that it waits for; callpath of the send; begin_ps: of the first query;
    end_ps: when the sender entered its send)."""
    if not polling_places(evidence):
        return pl.DataFrame(schema=SCHEMA)
    graph = graph_of(evidence)
    calls = graph.waiting_for("send")
    calls = calls[graph.polls[calls]]
    sends = graph.last_source(calls)
    begins = row_begins(graph)[calls]
    rows = pl.DataFrame(
        {
            "receiver": graph.location[calls],
            "location": graph.location[sends],
            "callpath": graph.callpath[sends],
            "begin_ps": begins,
            "end_ps": graph.enter_ps[sends],
        },
        schema=SCHEMA,
    )
    return rows.filter(pl.col("end_ps") > pl.col("begin_ps"))


def row_begins(graph: Graph) -> Int64:
    """By call: enter of the first query of the loop that it ends; its own, where it ends none."""
    loops = graph.follows & (graph.gap_ps <= 0)
    loops[1:] &= graph.polls[:-1] & (graph.callpath[1:] == graph.callpath[:-1])
    first = np.maximum.accumulate(np.where(loops, 0, np.arange(graph.count)))
    return graph.enter_ps[first]


def polled_ps(evidence: Evidence) -> dict[int, int]:
    """Location to the time in which it polls for messages that have not been sent yet."""
    waits = polled_waits(evidence)
    return sums_by(waits["receiver"].to_numpy(), (waits["end_ps"] - waits["begin_ps"]).to_numpy())
