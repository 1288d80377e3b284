"""Missed overlap: a Wait stands directly behind what it completes, and work follows that could stand between.

The transfers of nonblocking calls run by themselves where the message needs no handshake, or the library answers one
outside of calls (asynchronous progress). A rank that waits for them at once, and computes afterwards, could compute
first (as far as that work needs none of the data: its author knows). Only waiting for the transfer itself counts, its
latency and serialization: a wait for a late rank, or in a queue, has another cause. Where an estimated machine does not
distinguish a transfer from a queue, only messages that were alone on their way count (`evidence.alone`).

A nonblocking collective operation is started so that ranks need not meet: waiting for its members counts there, as who
comes late in one step and early in the next is waited for no more behind that work. Where one rank is late each time,
the replay saves nothing.

Gain: the same program if each of these Waits were completed by the rank's next call only. Who moves a Wait in the
source moves it for every rank and step, also where the message was there already: such ranks are those who wait once
the others come earlier. So the calls of the same place with work behind them move too. What a processor spends on the
messages of such a Wait remains; where an estimated machine does not tell it, o_s is taken for it, and the error of the
gain reaches to where it is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.alone import alone
from logpost.analyzer.findings.evidence.graph import Flags, Graph, graph_of, sums_by
from logpost.analyzer.findings.evidence.machine_values import measures, value_ps
from logpost.analyzer.findings.evidence.message_errors import WITHIN
from logpost.analyzer.findings.evidence.queues import within_nodes
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of, lost_by_location
from logpost.analyzer.run.wide import wide_sum_of
from logpost.analyzer.words.categories import WAITING
from logpost.replay.columns import Float64, Int32, Int64

TRANSFER = ("latency", "serialization")
"""What goes on by itself."""
OPERATION = ("collective_wait", "collective")
"""Likewise of a nonblocking collective operation."""
LEAST_GAIN = 0.05
"""Splitting a loop costs something itself, and part of the work needs the data: less is not worth it."""
MUCH = 1 / 3
"""At least so much of the waiting there is for transfers: ranks that each wait for a transfer make others late."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    places = _transfer_bound(evidence) if evidence.worth_a_look(evidence.maybe(TRANSFER)) else set()
    operations = _completes_operations(evidence)
    if not places and not operations:
        return
    graph = graph_of(evidence)
    known = evidence.divides(*TRANSFER)
    answered = graph.messages.rendezvous & (not evidence.manifest.machine.asynchronous_progress)
    moved = np.union1d(
        _movable(graph, places, answered if known else answered | ~alone(graph)), _movable_operations(graph, answered)
    )
    if len(moved) < MIN_SAMPLES:
        return
    later = np.full(graph.count, -1, dtype=np.int32)
    everywhere = np.union1d(moved, _of_same_places(graph, moved, answered))
    later[everywhere] = graph.following[everywhere]
    handled = _handled(evidence, graph, everywhere)
    saving = saving_if(graph, Hypothesis(later=later, stay_ps=handled))
    if handled is not None and saving.cure is not None:
        # At the other end it takes the processor nothing.
        saving = replace(saving, cure=replace(saving.cure, at_least=Hypothesis(later=later)))
    if saving.gain < LEAST_GAIN:
        return
    waiting = (graph.length - graph.work_ps)[moved]
    by_place = sums_by(graph.callpath[moved], waiting)
    place = max(by_place, key=lambda callpath: by_place[callpath])
    lost = lost_by_location(saving)
    worst = max(lost, key=lambda location: lost[location], default=int(graph.location[moved[0]]))
    yield finding_of(
        evidence,
        graph,
        "missed_overlap",
        saving,
        at_fault=set(graph.location[moved].tolist()),
        callpath=place,
        cause_region=evidence.delaying_region(worst, place) or "",
        numbers=(
            Number("waits", len(moved), "count"),
            Number("of_operations", float(graph.completes[moved].mean()), "1"),
            Number("mean_wait", float(waiting.mean()), "ps"),
            Number("mean_work_behind_it", float(graph.gap_ps[graph.following[moved]].mean()), "ps"),
        ),
        confidence=evidence.confidence(
            MEDIUM,
            "waits and the work behind them are measured; whether that work needs the data is not known",
            OPERATION if graph.completes[moved].all() else TRANSFER,
        ),
    )


def _completes_operations(evidence: Evidence) -> bool:
    """Whether waiting in calls that complete nonblocking collective operations costs enough to look at it."""
    if not evidence.worth_a_look(OPERATION):
        return False
    of = evidence.tables["collectives"].filter(pl.col("call") != pl.col("complete_call"), pl.col("instance") >= 0)
    return not of.select("call").head(1).collect().is_empty()


def _transfer_bound(evidence: Evidence) -> set[int]:
    """Call paths much of whose waiting is for transfers, and not for queues or late ranks; where the machine does not
    tell transfers from queues, for one of these."""
    transfer = evidence.maybe(TRANSFER)
    rows = (
        evidence.exposure.group_by("callpath")
        .agg(
            transfer=wide_sum_of(pl.col("exposed_ps").filter(pl.col("category").is_in(transfer))),
            other=wide_sum_of(
                pl.col("exposed_ps").filter(
                    pl.col("category").is_in([one for one in (*WAITING, "residual") if one not in transfer])
                )
            ),
        )
        .filter(pl.col("transfer") > 0, pl.col("transfer") > MUCH * (pl.col("transfer") + pl.col("other")))
    )
    return set(rows["callpath"].to_list())


def _handled(evidence: Evidence, graph: Graph, moved: Int32) -> Int64 | None:
    """By call: what these take at least wherever they stand, since a processor receives their messages; None where that
    is part of their work.

    Where an estimated machine does not tell o_r from the transfer, it is taken for o_s: LogP has one o for both.
    """
    if evidence.divides("recv_overhead"):
        return None
    messages = graph.messages
    within = within_nodes(evidence, messages)
    machine = evidence.manifest.machine
    each = np.zeros(messages.count)
    for localities, here in ((WITHIN, within), (("other_node",), ~within)):
        known = [value_ps(machine, one, "o_s", 0.0) for one in localities if measures(machine, one, "o_s")]
        each[here] = max((value or 0.0 for value in known), default=0.0)
    stay = np.bincount(messages.recv_call, weights=each, minlength=graph.count)
    return np.where(np.isin(np.arange(graph.count), moved), np.minimum(stay, graph.length), 0).astype(np.int64)


def _movable(graph: Graph, places: set[int], bound: Flags) -> Int32:
    """Waits that could stand before the next call: they directly follow what they complete, and work follows them.

    `bound`: messages that do not run by themselves, or may be in a queue.
    """
    calls = graph.waiting_for("send")
    calls = calls[np.isin(graph.callpath[calls], list(places)) & _later_completes(graph, bound)[calls]]
    return _between(graph, calls, (graph.length - graph.work_ps)[calls])


def _movable_operations(graph: Graph, bound: Flags) -> Int32:
    """Likewise of those that wait for the members of a nonblocking collective operation."""
    calls = graph.waiting_for("member")
    calls = calls[graph.completes[calls] & _later_completes(graph, bound)[calls]]
    return _between(graph, calls, (graph.length - graph.work_ps)[calls])


def _of_same_places(graph: Graph, moved: Int32, bound: Flags) -> Int32:
    """Calls of the call paths of those, whether they waited or not, that stand as these do: by their mean wait."""
    count = int(graph.callpath.max()) + 1
    waits = np.bincount(graph.callpath[moved], minlength=count)
    waited = np.bincount(graph.callpath[moved], weights=(graph.length - graph.work_ps)[moved], minlength=count)
    (calls,) = np.nonzero((waits > 0)[graph.callpath] & _later_completes(graph, bound))
    path = graph.callpath[calls]
    return _between(graph, calls.astype(np.int32), waited[path] / waits[path])


def _later_completes(graph: Graph, but: Flags) -> Flags:
    """Calls that receive, or complete an operation, and whose receives the rank's next call could complete: none is
    among the messages `but`."""
    messages = graph.messages
    here = (messages.post_call == messages.recv_call) | but
    received = np.bincount(messages.recv_call, minlength=graph.count)
    blocking = np.bincount(messages.recv_call[here], minlength=graph.count)
    possible: Flags = (graph.following >= 0) & ((received > 0) | graph.completes) & (blocking == 0)
    return possible


def _between(graph: Graph, calls: Int32, waiting: Int64 | Float64) -> Int32:
    """Those of the calls that stand closer to what they complete than they wait (ps), with half as much work behind."""
    behind = graph.gap_ps[graph.following[calls]]
    return np.asarray(calls[(graph.gap_ps[calls] < waiting) & (behind >= waiting / 2)])
