"""Wavefront: ranks work one after the other, each on what the one before it has passed on; the rest waits meanwhile.

While a rank waits for a message, its sender computes, having waited itself for its own sender, which computed before
that, and so on: the *depth* of a wait is the number of ranks that compute one after the other during it. A late rank
gives depth 1, and whatever propagates through ranks that all compute at the same time as well. A pipeline filled
once per sweep gives as many as there are ranks in front.

Gain: no shorter than the busiest rank; pipelines of many small blocks come near to that (`gain`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from logpost.analyzer.findings.evidence.graph import Graph, graph_of, sums_by
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of
from logpost.replay.columns import Int32

LEAST_DEPTH = 2
"""Ranks that compute one after the other while the last one waits: from two on it is a chain, not a late rank."""
MAINLY = 0.5
"""More than half of the waiting for senders."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run, where most waiting for senders is for a chain of ranks."""
    if not evidence.worth_a_look(["late_sender"]):
        return
    graph = graph_of(evidence)
    waits = _waits(graph)
    depths = graph.native.depths(waits)
    total = int(graph.length[waits].sum())
    chained, depths = waits[depths >= LEAST_DEPTH], depths[depths >= LEAST_DEPTH]
    times = graph.length[chained]
    time = int(times.sum())
    if not len(chained) or time <= MAINLY * total:
        return
    places = np.unique(graph.callpath[chained])
    saving = saving_if(graph, Hypothesis(freed=np.isin(graph.callpath, places) | graph.is_member))
    if saving.gain < MIN_SHARE:
        return
    by_place = sums_by(graph.callpath[chained], times)
    place = max(by_place, key=lambda callpath: by_place[callpath])
    worst = int(graph.location[chained[depths.argmax()]])
    yield finding_of(
        evidence,
        graph,
        "wavefront",
        saving,
        at_fault={*graph.location[waits].tolist(), worst},
        callpath=place,
        cause_region=evidence.delaying_region(worst, place) or "",
        numbers=(
            Number("depth", int(depths.max()) + 1, "count"),
            Number("chained_waits", len(chained), "count"),
            Number("share_of_waiting_for_senders", time / total, "1"),
            Number("mean_wait", time / len(chained), "ps"),
        ),
        confidence=evidence.confidence(
            HIGH if len(chained) >= MIN_SAMPLES else MEDIUM,
            "who computes while others wait is measured",
            ["late_sender"],
        ),
    )


def _waits(graph: Graph) -> Int32:
    """The calls that wait for a sender which comes after them."""
    calls = graph.waiting_for("send")
    return calls[graph.enter_ps[graph.last_source(calls)] > graph.enter_ps[calls]]
