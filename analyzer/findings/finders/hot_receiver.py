"""Hot receiver: one endpoint gets more than the others, or all senders turn to the same endpoint at once.

Two patterns, told apart because their cures differ:

* **Load.** In some windows an endpoint serves more than twice what the other endpoints serve on average
  (`hot_endpoint`): the decomposition sends it too much.
* **Crowding.** The endpoints get alike in total, but at any instant the senders crowd at one of them, which moves from
  rank to rank (`collisions`): the order of communication is to blame. EM3D's original communication phase is the
  classic case (LoGPC, section 5.3).

Both are findings only if ranks lose time by it: exposed endpoint and network contention, late receiver and processor
queueing of the messages to those endpoints. Of that time the share 1 - 1/R is charged to the hot spot, R being how many
times over the expected load or crowding is: the rest would be there with an even load or an independent order too.

A receiver that is hot over the whole run may be busy without a pause, by its processor or its NIC, while the others
have long sent and wait for it in a barrier, say. So its gain is that of the same program with its load spread
(`evidence.what_if`), and what disappears with it is its symptom, wherever it is waited. A receiver that is hot in some
windows only gains the worst-hit rank's charged time at most, with the work shared (`gain`).

Crowding's cure is another order, which the recorded one does not tell: who walks a list behind the others also receives
late, and sends late to the next. So its gain is that of the same program in the best order there could be: each rank
does its own work between two operations that all take part in, and no message of the crowded exchange (`exchange`)
queues, or is waited for by either side. With the calls in their recorded order, part of these waits stays; what is
saved then is named beside it. A staggered order comes near to the first, one by chance lies below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.attribution import attribute
from logpost.analyzer.findings.evidence.collisions import Crowding, crowding
from logpost.analyzer.findings.evidence.graph import Flags, Graph, Reason, graph_of, longer_graph_of
from logpost.analyzer.findings.evidence.hot_endpoint import HotEndpoint, hot_endpoints
from logpost.analyzer.findings.evidence.met_again import met_again
from logpost.analyzer.findings.evidence.queues import QUEUES, queued_ps
from logpost.analyzer.findings.evidence.queues_at_processors import queues_at_processors
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving, saving_if
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number, worst_hit
from logpost.analyzer.findings.gain import gain_by_moving, gain_by_sharing
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.wide import exact_sum, wide_sum
from logpost.analyzer.words.categories import WAITING, WAITS_AT_RECEIVER

LEAST_CROWDING = 1.5
"""Half as many meetings again as senders that ignore each other have. A random order lies at 1 by construction, and
four ranks in lockstep, each with three receivers, reach no more than 3: the threshold must lie well between these
two."""

SERVED = (*WAITS_AT_RECEIVER, "recv_overhead")
"""What a receiver serves, and who waits for that: the claim rests on these."""

OF_EXCHANGE = 0.1
"""Part of the crowd's waits behind sends of one place that makes them a part of the exchange."""

MAINLY = 0.5
"""Of the time for which a crowd waits: receivers that compute for more of it are late, in whatever order it comes."""

CERTAIN_LOAD = 3.0
"""From three times the others' load on, no drift of the load explains it."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """Findings of both patterns."""
    if not evidence.worth_a_look(evidence.maybe(WAITING)):
        return
    costs = evidence.worth_a_look(evidence.maybe(WAITS_AT_RECEIVER))
    measured = crowding(evidence.tables["messages"], evidence.pairs) if costs else None
    loaded = hot_endpoints(evidence, "recv")
    crowded = {} if measured is None else _crowded_receivers(measured)
    for hot in loaded:
        if hot.whole_run:
            crowded.pop(hot.location, None)  # no order takes its load away
    if measured is not None and crowded:
        finding = _crowded(evidence, measured, crowded, [hot.location for hot in loaded if hot.whole_run])
        if finding is not None:
            yield finding
    for hot in loaded:
        # Crowding that lasts for whole windows is load in these windows; it is one finding, and order its cure.
        if hot.location in crowded and not hot.whole_run:
            continue
        finding = _loaded(evidence, hot)
        if finding is not None:
            yield finding


def _crowded_receivers(measured: Crowding) -> dict[int, float]:
    """Receiver to its crowding, of those above the threshold, if the crowding as a whole is so beyond doubt."""
    if measured.judged < MIN_SAMPLES or measured.ratio - 2 * measured.standard_error < LEAST_CROWDING:
        return {}
    return {location: ratio for location, ratio in measured.by_receiver().items() if ratio >= LEAST_CROWDING}


@dataclass(frozen=True)
class Charge:
    """What waiting for some endpoints costs; ps."""

    beyond: dict[int, float]
    """Location to the time beyond what an even load or an independent order would cost"""
    at_endpoint: dict[int, float]
    """Endpoint to that time"""
    waiting: dict[int, float]
    """Location to all of its waiting for them"""


def _charge(evidence: Evidence, endpoints: dict[int, float], windows: tuple[int, ...] | None) -> Charge:
    """What is charged to these endpoints (endpoint to R)."""
    waits = evidence.maybe(WAITS_AT_RECEIVER)
    queues = queues_at_processors(evidence) if windows is None else None
    if queues is not None:
        # For whose processor a rank waits is known by intervals.
        waits = tuple(one for one in waits if one != "processor_queueing")
    exposed = evidence.exposed_of(waits) if windows is None else _exposed_within(evidence, waits, windows)
    rows = attribute(evidence.pairs, waits, exposed, direction="recv")
    if queues is not None:
        rows = pl.concat([rows, queues.by_processor().cast(rows.schema)])
    charge = Charge({}, {}, {})
    for location, endpoint, time in rows.iter_rows():
        if endpoint in endpoints:
            excess = time * (1 - 1 / endpoints[endpoint])
            charge.beyond[location] = charge.beyond.get(location, 0.0) + excess
            charge.at_endpoint[endpoint] = charge.at_endpoint.get(endpoint, 0.0) + excess
            charge.waiting[location] = charge.waiting.get(location, 0.0) + time
    return charge


def _exposed_within(evidence: Evidence, categories: Iterable[str], windows: tuple[int, ...]) -> dict[int, int]:
    rows = (
        program(evidence.tables["accounting"])
        .filter(pl.col("category").cast(pl.String).is_in(list(categories)), pl.col("window").is_in(list(windows)))
        .group_by("location")
        .agg(wide_sum("exposed_ps"))
        .collect()
    )
    return dict(rows.iter_rows())


def _loaded(evidence: Evidence, hot: HotEndpoint) -> Finding | None:
    charge = _charge(evidence, {hot.location: hot.excess}, hot.windows)
    saving = _if_spread(evidence, hot) if hot.whole_run else Saving(0.0, {})
    if not evidence.matters(charge.beyond) and saving.gain < MIN_SHARE:
        return None
    numbers = (Number("load_over_others", hot.excess, "x"), *hot.numbers)
    level = HIGH if hot.excess >= CERTAIN_LOAD else MEDIUM
    return _finding(
        evidence,
        [hot.location],
        charge,
        numbers,
        evidence.confidence(
            level, graph_of(evidence).stated(hot.certainty) if hot.whole_run else hot.certainty, SERVED
        ),
        (hot.windows[0], hot.windows[-1]),
        saving.gain if hot.whole_run else gain_by_sharing(evidence, max(charge.beyond.values())),
        saving,
    )


def _if_spread(evidence: Evidence, hot: HotEndpoint) -> Saving:
    """The same program if this endpoint took its share of all load only: so much of each queue before it is left, and
    its processor, which may be busy without a pause while others wait behind it somewhere else, handles so much less.
    What it does not handle the others do, in their calls that complete the sends to it: there they get as much as they
    send, where that is another call than the send itself no sooner than a message takes without a queue. All then meet
    at once in the operations that follow.

    Where queues are not divided from the transfers, what is beyond the shortest transfer may be a queue's.
    """
    graph = graph_of(evidence)
    messages = graph.messages
    to_it = messages.receiver == hot.location
    share = min(1.0, hot.even)
    takes = np.ones(graph.count)
    takes[messages.recv_call[to_it]] = share
    complete = messages.complete_call[to_it]
    handled = np.bincount(complete, weights=(1 - share) * messages.handling[to_it], minlength=graph.count)
    work = graph.work_ps + np.rint(handled).astype(np.int64)
    queued = queued_ps(evidence, graph)
    alone = (messages.transport - queued)[to_it]
    since = graph.enter_ps[complete] - graph.enter_ps[messages.send_call[to_it]]
    stay = np.zeros(graph.count, dtype=np.int64)
    np.maximum.at(stay, complete, np.where(complete != messages.send_call[to_it], alone - since, 0))
    spread = Hypothesis(work_ps=work, share=takes, stay_ps=stay)
    if not evidence.divides(*QUEUES):
        less = (1 - share) * np.where(to_it, queued, 0)
        return saving_if(graph, met_again(graph, replace(spread, less_ps=less.astype(np.int64))))
    most = np.where(to_it, messages.transport - np.rint((1 - share) * queued).astype(np.int64), np.iinfo(np.int64).max)
    return saving_if(graph, met_again(graph, replace(spread, most_ps=most)))


def _crowded(evidence: Evidence, measured: Crowding, hot: dict[int, float], overloaded: list[int]) -> Finding | None:
    """Of the hot ones; no order takes away what the overloaded ones have to serve."""
    error = measured.standard_error
    charge = _charge(evidence, hot, None)
    if not evidence.matters(charge.waiting):
        return None
    worst = max(charge.at_endpoint, key=lambda location: charge.at_endpoint[location])
    numbers = (
        Number("crowding", measured.ratio, "x"),
        Number("crowding_standard_error", error, "x"),
        Number("messages_judged", measured.judged, "count"),
        *evidence.rank_numbers("worst_receiver", [worst]),
        Number("share_of_worst_receiver", charge.at_endpoint[worst] / sum(charge.at_endpoint.values()), "1"),
        *(
            Number(part, time, "ps")
            for part in WAITS_AT_RECEIVER
            if (time := sum(evidence.exposed_of([part]).values())) > 0
        ),
    )
    certain = measured.ratio - 2 * error >= 2 * LEAST_CROWDING - 1
    reason = "send times are measured; the waits are shared over receivers in proportion to the messages' own waits"
    graph = longer_graph_of(evidence)
    of = exchange(graph, list(hot)) & ~np.isin(graph.messages.receiver, overloaded)
    if computing_before_posts(graph, of) > MAINLY:
        return None
    saving = saving_if(graph, _in_turn(evidence, graph, of, BY_ORDER))
    in_its_order = saving_if(graph, _in_turn(evidence, graph, of, BY_RECEIVER))
    confidence, certainty = evidence.confidence(HIGH if certain else MEDIUM, reason, SERVED)
    return _finding(
        evidence,
        list(hot),
        charge,
        (*numbers, Number("saved_with_calls_in_recorded_order", in_its_order.gain, "1")),
        (confidence, graph.stated(certainty)),
        evidence.active_windows(evidence.maybe(WAITS_AT_RECEIVER), charge.waiting),
        min(saving.gain if graph.whole else _in_all(evidence, graph, saving.gain), _beyond_service(evidence)),
        saving,
    )


BY_RECEIVER: tuple[Reason, ...] = ("post", "attend")
"""What a receiver that is busy with other messages keeps a sender waiting for."""
BY_ORDER: tuple[Reason, ...] = ("send", "begin", *BY_RECEIVER)
"""For what nobody waits whose messages come in the best order."""


def exchange(graph: Graph, hot: list[int]) -> Flags:
    """By message: whether it belongs to the exchange in which senders crowd at these receivers: it is sent from a place
    behind whose messages much of the waiting for them is."""
    messages = graph.messages
    weight = np.sum([messages.parts[part] for part in QUEUES], axis=0).astype(np.float64)
    calls = graph.waiting_for(*BY_RECEIVER)
    message = graph.waits["message"][graph.waited_last[calls]]
    np.add.at(weight, message, (graph.length - graph.work_ps)[calls])
    place = graph.callpath[messages.send_call]
    at_them = np.where(np.isin(messages.receiver, hot), weight, 0.0)
    by_place = np.bincount(place, weights=at_them, minlength=1)
    return np.asarray((by_place >= OF_EXCHANGE * max(1.0, at_them.sum()))[place], dtype=np.bool_)


def computing_before_posts(graph: Graph, of: Flags) -> float:
    """Of the time for which senders of these messages wait for the receiver only to post them: the part in which the
    receiver computes directly before it does, and so handles no other message."""
    calls = graph.waiting_for(*BY_RECEIVER)
    calls = calls[of[graph.waits["message"][graph.waited_last[calls]]]]
    source = graph.last_source(calls)
    waited = np.maximum(0, graph.enter_ps[source] - graph.enter_ps[calls])
    computing = np.minimum(waited, graph.gap_ps[source])
    queues = np.sum([graph.messages.parts[part] for part in QUEUES], axis=0)
    return exact_sum(computing) / max(1, exact_sum(waited) + exact_sum(queues[of]))


def _in_turn(evidence: Evidence, graph: Graph, of: Flags, reasons: tuple[Reason, ...]) -> Hypothesis:
    """The same program with an order in which none of these messages meets another one: none queues, and nobody waits
    for these reasons."""
    return Hypothesis(less_ps=np.where(of, queued_ps(evidence, graph), 0), dropped=reasons, of=of)


def _beyond_service(evidence: Evidence) -> float:
    """What the program takes longer than the busiest endpoint takes to serve its messages, in any order."""
    by_end = evidence.tables["load"].group_by("location", "direction").agg(pl.col("busy_ps").sum())
    busiest = by_end.select(pl.col("busy_ps").max()).collect().item() or 0
    return max(0.0, 1.0 - busiest / max(1, evidence.slowest_program_ps))


def _in_all(evidence: Evidence, graph: Graph, gain: float) -> float:
    """What a part's gain is of the whole program, which may wait more than that part does."""
    waits = evidence.maybe(WAITS_AT_RECEIVER)
    width = evidence.manifest.windows.width_ps
    within = program(evidence.tables["accounting"]).filter(pl.col("window") < int(graph.leave_ps.max()) // width)
    times = within.group_by(waiting=pl.col("category").cast(pl.String).is_in(waits)).agg(pl.col("exposed_ps").sum())
    part = dict(times.collect().iter_rows())
    waited, everything = sum(evidence.exposed_of(waits).values()), sum(evidence.program_ps.values())
    seen = part.get(True, 0) / max(1, sum(part.values()))
    more = waited / max(1, everything) / seen if seen > 0 else 1.0
    return max(gain, min(gain * more, gain_by_moving(evidence, evidence.program_ps)))


def _finding(
    evidence: Evidence,
    hot: list[int],
    charge: Charge,
    numbers: tuple[Number, ...],
    confidence: tuple[float, str],
    windows: tuple[int, int],
    gain: float,
    saving: Saving | None = None,
) -> Finding:
    removes = saving.removes if saving is not None else {}
    waits = evidence.maybe(WAITS_AT_RECEIVER)
    callpath, region = evidence.where(waits, charge.beyond)
    if callpath < 0 and removes:
        callpath = max(removes, key=lambda place: removes[place])[1]
        region = evidence.region(callpath)
    lost = charge.beyond if evidence.matters(charge.beyond) else _by_location(removes)
    total = sum(lost.values())
    return Finding(
        kind="hot_receiver",
        named=evidence.named(hot),
        region=region,
        cause_region="",
        evidence=(
            *numbers,
            Number("waiting_for_them", sum(charge.waiting.values()), "ps"),
            Number("beyond_an_even_load_or_order", total, "ps"),
        ),
        confidence=confidence[0],
        certainty=confidence[1],
        callpath=callpath,
        first_window=windows[0],
        last_window=windows[1],
        exposed_ps=round(total),
        share=worst_hit(lost, evidence.slowest_program_ps),
        gain=gain,
        charges=evidence.charges(charge.waiting, waits),
        fault={
            (location, "handling"): time / max(1.0, sum(charge.at_endpoint.values()))
            for location, time in charge.at_endpoint.items()
        },
        removes=removes,
        cure=saving.cure if saving is not None else None,
    )


def _by_location(removes: Mapping[tuple[int, int], float]) -> dict[int, float]:
    found: dict[int, float] = {}
    for (location, _), time in removes.items():
        found[location] = found.get(location, 0.0) + time
    return found
