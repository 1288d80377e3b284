"""Strided datatypes: packing and unpacking in the middleware costs time that contiguous data does not.

The machine's table of middleware latency (log3P) says what a layout costs; the calls say how much of it ranks really
lost. Per sending place with a strided layout.

Gain: the same program with no middleware latency for these messages: data that lies contiguously from the start, or a
copy that costs little beside it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if
from logpost.analyzer.findings.finding import MEDIUM, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of
from logpost.analyzer.reporting.units import percent_text
from logpost.analyzer.wide import wide_sum


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run, at the place that sends most of it."""
    if not evidence.worth_a_look(["middleware"]):
        return
    places = (
        evidence.tables["messages"]
        .filter(pl.col("middleware_ps") > 0, pl.col("layout") >= 0)
        .group_by("send_callpath")
        .agg(pl.len(), pl.col("bytes").sum(), wide_sum("middleware_ps"), senders=pl.col("send_location").unique())
        .sort("middleware_ps", descending=True)
        .collect()
    )
    if places.is_empty():
        return
    graph = graph_of(evidence)
    without = np.maximum(0, graph.work_ps - graph.middleware_ps)
    saving = saving_if(graph, Hypothesis(work_ps=without, less_ps=graph.messages.parts["middleware"]))
    if saving.gain < MIN_SHARE:
        return
    place, count, size, cost, senders = places.row(0)
    machine = evidence.manifest.machine
    reason = f"the middleware latency is modelled ({machine.label}, "
    reason += f"{percent_text(machine.residual_share)} of message time unexplained)"
    yield finding_of(
        evidence,
        graph,
        "strided_datatype",
        saving,
        at_fault=senders,
        callpath=int(place),
        cause_region=evidence.region(evidence.parent(int(place))),
        numbers=(
            Number("messages", count, "count"),
            Number("mean_size", size / count, "B"),
            Number("middleware_per_message", cost / count, "ps"),
        ),
        confidence=evidence.confidence(MEDIUM, reason),
    )
