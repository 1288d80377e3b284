"""Unattended transfers: a message that must ask first gets no answer, because a processor computes outside of calls.

Under rendezvous the request, the answer and the start of the transfer need the library; without asynchronous progress
it runs only inside calls. A rank that has begun a send, or posted a receive, and computes until its Wait keeps the
other one waiting, and the transfer starts only then. Named are the ranks that compute, as far as the call that attends
in the end was the last thing that the other side waited for (`evidence.graph`, attend and begin).

Gain: the same program if every handshake were answered at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from logpost.analyzer.findings.evidence.graph import Graph, Wait, graph_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import saving_if
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of

ASKS = ("attend", "begin")
NAMED = 0.25
"""A rank is named if it keeps others waiting at least this fraction of what the foremost one does."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run, where unanswered handshakes cost it `MIN_SHARE`."""
    if not bool((evidence.tables["messages"].select("protocol").collect()["protocol"] == "rendezvous").any()):
        return
    graph = graph_of(evidence)
    delays = _delays(graph)
    if not delays:
        return
    saving = saving_if(graph, waits=lambda _, node: [wait for wait in node.waits if wait.reason not in ASKS])
    if saving.gain < MIN_SHARE:
        return
    by_rank: dict[int, float] = defaultdict(float)
    by_place: dict[int, float] = defaultdict(float)
    for call, delay in delays:
        by_rank[graph.nodes[call].location] += delay
        by_place[graph.nodes[call].callpath] += delay
    late = [location for location, time in by_rank.items() if time >= NAMED * max(by_rank.values())]
    place = max(by_place, key=lambda callpath: by_place[callpath])
    cause = evidence.delaying_region(late[0], place) or evidence.code_before(place)
    reason = "that the ranks named were outside of calls is measured; what an answer at once saves is modelled"
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
            Number("mean_delay", sum(delay for _, delay in delays) / len(delays), "ps"),
        ),
        confidence=evidence.confidence(HIGH if len(delays) >= MIN_SAMPLES else MEDIUM, reason),
    )


def _delays(graph: Graph) -> list[tuple[int, float]]:
    """(call that attends in the end, how much later it did than everything else was ready)."""
    found = []
    for node in graph.nodes.values():
        last = graph.binding(node)
        if last is None or last.reason not in ASKS:
            continue
        ready = [graph.nodes[wait.call].enter + wait.lag for wait in node.waits if wait.reason not in ASKS]
        delay = node.leave - max([node.enter + node.work, *ready])
        # Else a call was busy with others, which it attends to in turn.
        if delay > 0 and _code_since_begun(graph, last) >= delay / 2:
            found.append((last.call, float(delay)))
    return found


def _code_since_begun(graph: Graph, last: Wait) -> int:
    """Time outside of calls from the call that began the send, or posted the receive, to the one that attends."""
    message = graph.messages[last.message]
    begun = message.send_call if last.reason == "begin" else message.post_call
    call, code = last.call, 0
    while call > begun:
        code += graph.nodes[call].gap
        call = graph.nodes[call].before
    return code
