"""Unattended transfers: a message that must ask first gets no answer, because a processor computes outside of calls.

Under rendezvous the request, the answer and the start of the transfer need the library; without asynchronous progress
it runs only inside calls. A rank that has begun a send, or posted a receive, and computes until its Wait keeps the
other one waiting, and the transfer starts only then. Named are the ranks that compute, as far as the call that attends
in the end was the last thing that the other side waited for (`evidence.graph`, attend and begin).

Gain: the same program if these handshakes were answered at once. Those that a busy processor takes in turn stay.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from logpost.analyzer.findings.evidence.graph import Flags, Graph, Reason, graph_of, sums_by
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of
from logpost.replay._native import wait_reasons
from logpost.replay.columns import Int32, Int64

ASKS: tuple[Reason, ...] = ("attend", "begin")
NAMED = 0.25
"""A rank is named if it keeps others waiting at least this fraction of what the foremost one does."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run, where unanswered handshakes cost it `MIN_SHARE`."""
    if not bool((evidence.tables["messages"].select("protocol").collect()["protocol"] == "rendezvous").any()):
        return
    graph = graph_of(evidence)
    attending, delays, unanswered = _delays(graph)
    if not len(delays):
        return
    saving = saving_if(graph, Hypothesis(dropped=ASKS, of=unanswered))
    if saving.gain < MIN_SHARE:
        return
    by_rank = sums_by(graph.location[attending], delays)
    by_place = sums_by(graph.callpath[attending], delays)
    longest = max(by_rank.values())
    late = [location for location, time in by_rank.items() if time >= NAMED * longest]
    place = max(by_place, key=lambda callpath: by_place[callpath])
    cause = evidence.delaying_region(late[0], place) or evidence.code_before(place)
    reason = "that the ranks named were outside of calls is measured; what an answer at once saves is modelled"
    sure = len(delays) >= MIN_SAMPLES and evidence.divides("latency")
    if not evidence.divides("latency"):
        reason += ", with a latency that the trace only bounds"
    yield finding_of(
        evidence,
        graph,
        "unattended",
        saving,
        at_fault=late,
        callpath=place,
        cause_region=cause,
        numbers=(
            Number("handshakes_unanswered", len(delays), "count"),
            Number("mean_delay", float(delays.mean()), "ps"),
        ),
        confidence=evidence.confidence(HIGH if sure else MEDIUM, reason),
    )


def _delays(graph: Graph) -> tuple[Int32, Int64, Flags]:
    """The calls that attend in the end, how much later each did than everything else was ready (ps), and for which
    messages."""
    calls = graph.waiting_for(*ASKS)
    asks = np.isin(graph.waits["reason"], [wait_reasons().index(reason) for reason in ASKS])
    ready = graph.enter_ps + graph.work_ps
    np.maximum.at(ready, graph.waits["call"][~asks], graph.waits["arrival_ps"][~asks])
    delays = (graph.leave_ps - ready)[calls]
    # Else a call was busy with others, which it attends to in turn.
    away = (delays > 0) & (_code_since_begun(graph, calls) >= delays / 2)
    unanswered = np.zeros(graph.messages.count, dtype=np.bool_)
    unanswered[graph.waits["message"][graph.waited_last[calls[away]]]] = True
    return graph.last_source(calls)[away], delays[away], unanswered


def _code_since_begun(graph: Graph, calls: Int32) -> Int64:
    """By call: time outside of calls from what began the send, or posted the receive, to the call that attends."""
    last = graph.waited_last[calls]
    attends, message = graph.waits["source"][last], graph.waits["message"][last]
    begins = graph.waits["reason"][last] == wait_reasons().index("begin")
    begun = np.where(begins, graph.messages.send_call[message], graph.messages.post_call[message])
    code = np.cumsum(graph.gap_ps)
    return np.where(attends > begun, code[attends] - code[begun], 0)
