"""Round trips: a rank asks another one, waits for the answer, and asks again at once.

A round trip is a message whose receiver answers in its next call, to a sender whose next call takes the answer, with
less code in between than the messages take. Trips between the same two that follow each other like that are a series;
each pays overheads and latency both ways, one after the other, whatever the size of the data.

Gain: the same program if each series took one trip (all questions in one message, all answers in another).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from logpost.analyzer.findings.evidence.graph import TRANSPORT, Graph, Node, Wait, graph_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import saving_if
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of

LEAST_SERIES = 3
"""Shorter series are an exchange, not a habit."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    if not evidence.worth_a_look(["latency", "late_sender", "recv_overhead", "send_overhead"]):
        return
    graph = graph_of(evidence)
    series = [trips for trips in _series(graph, _trips(graph)) if len(trips) >= LEAST_SERIES]
    trips = sum(len(some) for some in series)
    if trips < MIN_SAMPLES:
        return
    spared = {call for some in series for trip in some[1:] for call in trip}

    def waits(call: int, node: Node) -> list[Wait]:
        return [] if call in spared else node.waits

    saving = saving_if(
        graph,
        gap=lambda call, node: 0 if call in spared else node.gap,
        work=lambda call, node: 0 if call in spared else node.work,
        waits=waits,
    )
    if saving.gain < MIN_SHARE:
        return
    asks: dict[int, int] = defaultdict(int)
    for some in series:
        asks[graph.nodes[some[0][1]].callpath] += len(some)
    place = max(asks, key=lambda callpath: asks[callpath])
    each = [graph.nodes[trip[1]].leave - graph.nodes[trip[0]].enter for some in series for trip in some]
    yield finding_of(
        evidence,
        graph,
        "round_trips",
        saving,
        at_fault={graph.nodes[call].location for some in series for trip in some for call in trip},
        callpath=place,
        cause_region=evidence.region(evidence.parent(place)),
        numbers=(
            Number("round_trips", trips, "count"),
            Number("in_a_row", trips / len(series), "count"),
            Number("mean_round_trip", sum(each) / len(each), "ps"),
        ),
        confidence=evidence.confidence(
            MEDIUM, "questions and answers are measured; whether a question needs the answer before it is not known"
        ),
    )


Trip = tuple[int, int, int, int]
"""The calls that ask, take the answer, take the question, and answer."""


def _trips(graph: Graph) -> list[Trip]:
    nodes, after = graph.nodes, graph.after
    found = []
    for question in graph.messages:
        ask, asked = question.send_call, question.recv_call
        take, answer = after.get(ask, -1), after.get(asked, -1)
        if take < 0 or answer < 0:
            continue
        replies = [graph.messages[number] for number in graph.sent.get(answer, [])]
        close = sum(question.parts[part] for part in TRANSPORT)
        if (
            any(reply.recv_call == take and reply.receiver == question.sender for reply in replies)
            and nodes[take].gap <= close
            and nodes[answer].gap <= close
        ):
            found.append((ask, take, asked, answer))
    return _by_asker(graph, found)


def _by_asker(graph: Graph, trips: list[Trip]) -> list[Trip]:
    """The trips of those who ask: an answer that the next question follows is no question itself."""
    asked, answers = [], set()
    for trip in sorted(trips, key=lambda trip: graph.nodes[trip[0]].enter):
        if trip[0] not in answers:
            asked.append(trip)
            answers.add(trip[3])
    return sorted(asked)


def _series(graph: Graph, trips: list[Trip]) -> list[list[Trip]]:
    """Trips whose asking call follows the one that took the answer before."""
    found: list[list[Trip]] = []
    for trip in trips:
        node = graph.nodes[trip[0]]
        trip_time = graph.nodes[trip[1]].leave - node.enter
        if found and node.before == found[-1][-1][1] and node.gap <= trip_time / 2:
            found[-1].append(trip)
        else:
            found.append([trip])
    return found
