"""Wavefront: ranks work one after the other, each on what the one before it has passed on; the rest waits meanwhile.

While a rank waits for a message, its sender computes, having waited itself for its own sender, which computed before
that, and so on: the *depth* of a wait is the number of ranks that compute one after the other during it. A late rank
gives depth 1, and whatever propagates through ranks that all compute at the same time as well. A pipeline filled
once per sweep gives as many as there are ranks in front.

Gain: the same program in k blocks, for the k that saves most. With w the work of a rank, c what a message takes beyond
its bytes and o what its ends' processors spend, a wait of depth d becomes d (w / k + c), and each rank has k - 1 more
messages to handle:

    wait_k = (wait - d c) / k + d c + (k - 1) o
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from logpost.analyzer.findings.evidence.graph import Flags, Graph, graph_of, sums_by
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving, saving_if
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of
from logpost.analyzer.wide import exact_sum
from logpost.replay.columns import Int32

LEAST_DEPTH = 2
"""Ranks that compute one after the other while the last one waits: from two on it is a chain, not a late rank."""
BLOCKS = tuple(2**i for i in range(1, 11))
"""Numbers of blocks that are tried."""
MAINLY = 0.5
"""More than half of the waiting for senders."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run, where most waiting for senders is for a chain of ranks."""
    if not evidence.worth_a_look(["late_sender"]):
        return
    graph = graph_of(evidence)
    waits = _waits(graph)
    depths = graph.native.depths(waits)
    total = exact_sum(graph.length[waits])
    chained, depths = waits[depths >= LEAST_DEPTH], depths[depths >= LEAST_DEPTH]
    times = graph.length[chained]
    time = exact_sum(times)
    if not len(chained) or time <= MAINLY * total:
        return
    saving = _if_in_blocks(graph, chained)
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


def _if_in_blocks(graph: Graph, chained: Int32) -> Saving:
    """The same program with the waits at the places of these cut into the number of blocks that saves most."""
    waits = _waits(graph)
    waits = waits[np.isin(graph.callpath[waits], np.unique(graph.callpath[chained]))]
    depth = np.maximum(1, graph.native.depths(waits))
    message = graph.waits["message"][graph.waited_last[waits]]
    parts = graph.messages.parts
    hop = (graph.messages.transport - parts["serialization"])[message]
    handled = (parts["send_overhead"] + parts["recv_overhead"])[message]
    waiting = (graph.length - graph.work_ps)[waits]
    fixed = np.minimum(waiting, depth * hop)
    freed: Flags = np.zeros(graph.count, dtype=np.bool_)
    freed[waits] = True
    best = Saving(0.0, {})
    for blocks in BLOCKS:
        work = graph.work_ps.copy()
        work[waits] += (waiting - fixed) // blocks + fixed + (blocks - 1) * handled
        saving = saving_if(graph, Hypothesis(work_ps=work, freed=freed))
        best = max(best, saving, key=lambda one: one.gain)
    return best


def _waits(graph: Graph) -> Int32:
    """The calls that wait for a sender which comes after them."""
    calls = graph.waiting_for("send")
    return calls[graph.enter_ps[graph.last_source(calls)] > graph.enter_ps[calls]]
