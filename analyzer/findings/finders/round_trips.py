"""Round trips: a rank asks another one, waits for the answer, and asks again at once.

A round trip is a message whose receiver answers in its next call, to a sender whose next call takes the answer, with
less code in between than the messages take. Trips between the same two that follow each other like that are a series;
each pays overheads and latency both ways, one after the other, whatever the size of the data.

Gain: the same program if each series took one trip (all questions in one message, all answers in another). What either
does between its calls, with an answer or to give one, is left. To answer all questions at once may also take no longer
than to answer one: the middle of both gains is stated, and reaches to either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Graph, graph_of, sums_by
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of
from logpost.replay.columns import Int32, Int64

LEAST_SERIES = 3
"""Shorter series are an exchange, not a habit."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    if not evidence.worth_a_look(["latency", "late_sender", "recv_overhead", "send_overhead"]):
        return
    graph = graph_of(evidence)
    trips, series = _in_series(graph, _trips(graph))
    if len(trips) < MIN_SAMPLES:
        return
    spared = np.zeros(graph.count, dtype=np.bool_)
    spared[trips[1:][series[1:] == series[:-1]].ravel()] = True
    one_trip = Hypothesis(work_ps=np.where(spared, 0, graph.work_ps), freed=spared)
    saving = saving_if(graph, one_trip)
    answers = np.zeros(graph.count, dtype=np.bool_)
    answers[trips[:, [ASKED, ANSWER]]] = True
    together = saving_if(graph, replace(one_trip, gap_ps=np.where(answers & spared, 0, graph.gap_ps)))
    numbers: tuple[Number, ...] = ()
    if together.gain > saving.gain:
        numbers = (Number(TOGETHER, together.gain, "1"),)
        saving = replace(saving, gain=(saving.gain + together.gain) / 2)
    if saving.gain < MIN_SHARE:
        return
    firsts = trips[np.searchsorted(series, series)]
    asks = sums_by(graph.callpath[firsts[:, TAKE]], np.ones(len(trips), dtype=np.int64))
    place = max(asks, key=lambda callpath: asks[callpath])
    each = graph.leave_ps[trips[:, TAKE]] - graph.enter_ps[trips[:, ASK]]
    yield finding_of(
        evidence,
        graph,
        "round_trips",
        saving,
        at_fault=set(graph.location[trips.ravel()].tolist()),
        callpath=place,
        cause_region=evidence.region(evidence.parent(place)),
        numbers=(
            Number("round_trips", len(trips), "count"),
            Number("in_a_row", len(trips) / len(np.unique(series)), "count"),
            Number("mean_round_trip", float(each.mean()), "ps"),
            *numbers,
        ),
        confidence=evidence.confidence(
            MEDIUM, "questions and answers are measured; whether a question needs the answer before it is not known"
        ),
    )


TOGETHER = "gain_if_answered_together"

Trips = npt.NDArray[np.int32]
"""A row each: the calls that ask, take the answer, take the question, and answer."""
ASK, TAKE, ASKED, ANSWER = range(4)


def _trips(graph: Graph) -> Trips:
    """In the order of the calls that ask."""
    messages = graph.messages
    ask, asked = messages.send_call, messages.recv_call
    take, answer = graph.following[ask], graph.following[asked]
    sent = _pair(graph, messages.send_call, messages.recv_call)
    close = messages.transport
    found = (
        (take >= 0)
        & (answer >= 0)
        & np.isin(_pair(graph, answer, take), sent)
        & (graph.gap_ps[take] <= close)
        & (graph.gap_ps[answer] <= close)
    )
    trips = np.stack([ask, take, asked, answer], axis=1)[found]
    return _by_asker(trips[np.argsort(graph.enter_ps[trips[:, ASK]], kind="stable")])


def _pair(graph: Graph, one: Int32, other: Int32) -> Int64:
    """A number for each pair of calls."""
    return one.astype(np.int64) * (graph.count + 1) + other


def _by_asker(trips: Trips) -> Trips:
    """The trips of those who ask: an answer that the next question follows is no question itself."""
    kept, answers = [], set()
    for row, (ask, answer) in enumerate(trips[:, [ASK, ANSWER]].tolist()):
        if ask not in answers:
            kept.append(row)
            answers.add(answer)
    asked = trips[kept]
    return asked[np.lexsort(asked.T[::-1])]


def _in_series(graph: Graph, trips: Trips) -> tuple[Trips, Int64]:
    """The trips in series that are long enough, and the number of the series of each.

    A trip continues a series if its asking call follows the one that took the answer before.
    """
    trip_time = graph.leave_ps[trips[:, TAKE]] - graph.enter_ps[trips[:, ASK]]
    goes_on = np.zeros(len(trips), dtype=np.bool_)
    asks = trips[1:, ASK]
    goes_on[1:] = (graph.following[trips[:-1, TAKE]] == asks) & (graph.gap_ps[asks] <= trip_time[1:] / 2)
    series: Int64 = np.cumsum(~goes_on)
    long = np.bincount(series)[series] >= LEAST_SERIES
    return trips[long], series[long]
