"""Shared cores: ranks of a node take turns on its cores, and calls that need nobody any more go on until their turn.

A call *stalls* from when nothing of what it needs is missing: all that it completes has been sent and posted, by ranks
that are inside of the calls that complete it, or all members of its operation have entered. What a message takes then
is microseconds; a stall that is longer than a scheduler's slice, and a hundred times the shortest at its place, is
neither transport nor a queue. A network can stall so too, or a library that sleeps. Cores are told from these by the
ranks themselves: no more than some of them run at once (`evidence.at_once`).

Where the archive states the cores, the report says first whether ranks outnumber them; this is for those that do not.

Exposed: at each place the stalls, or the waiting that goes with them where that is more.

Gain: the same program with messages that take what the fastest of their size take, and operations what the shortest at
their place take, at most. Of what a rank computes, what lasts longer than the shortest at its place by more than a
slice goes as well, for as long as others can have had the core: with k cores for n ranks a rank has k of n parts of the
time at least.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.at_once import LOST_PS, Limit, beyond_shortest, limit_of
from logpost.analyzer.findings.evidence.graph import Graph, graph_of, lasts_longer
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number, worst_hit
from logpost.analyzer.findings.hypothesis import finding_of, sums_at_locations
from logpost.analyzer.run.wide import exact_sum
from logpost.replay.columns import Int64

SLICE_PS = LOST_PS
"""Stalls that are no longer may have other reasons. Linux lets a process run for 0.75 ms and more before it takes the
core away for another one (sched_min_granularity, base_slice)."""
TIMES = 100
"""Of the shortest stall at a place: no traffic of this node makes it so long."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    if evidence.manifest.hosts.oversubscribed is not None or evidence.locations.height < 2:
        return
    if not evidence.worth_a_look([*evidence.undivided, "residual", "collective", "latency", "processor_queueing"]):
        return
    if _longer_than_a_slice(evidence) < MIN_SAMPLES:
        return
    graph = graph_of(evidence)
    stall = _stalls(graph)
    shortest = _shortest_at_place(graph, stall)
    stalls = (stall > SLICE_PS) & (stall > TIMES * shortest)
    nodes: dict[int, list[int]] = {}
    for location, node in evidence.locations.select("location", "node").iter_rows():
        nodes.setdefault(node, []).append(location)
    limits: dict[int, Limit] = {}
    for node, locations in nodes.items():
        here = stalls & np.isin(graph.location, locations)
        if here.sum() >= MIN_SAMPLES and (limit := limit_of(graph, locations)) is not None:
            limits[node] = limit
    ranks = [location for node in limits for location in nodes[node]]
    stalls &= np.isin(graph.location, ranks)
    if not limits or not evidence.matters(
        {one: float(exact_sum(stall[stalls & (graph.location == one)])) for one in ranks}
    ):
        return
    lost = np.zeros(graph.count, dtype=np.int64)
    for node, node_limit in limits.items():
        for location in nodes[node]:
            lost[graph.calls_of(location)] = _core_lost(graph, location, node_limit.at_once / len(nodes[node]))
    saving = saving_if(graph, _with_a_core_each(graph, ranks, stall, shortest, lost))
    if saving.gain < MIN_SHARE:
        return
    by_place = np.bincount(graph.callpath[stalls], weights=stall[stalls])
    worst = max(limits, key=lambda node: limits[node].expected_ps)
    limit = limits[worst]
    found = finding_of(
        evidence,
        graph,
        "shared_cores",
        saving,
        at_fault=ranks,
        callpath=int(by_place.argmax()),
        cause_region="",
        numbers=(
            Number("ranks_of_a_node", len(nodes[worst]), "count"),
            Number("run_at_once", limit.at_once, "count"),
            Number("so_many_run", limit.time_ps, "ps"),
            Number("more_run", limit.beyond_ps, "ps"),
            Number("more_would_run_with_a_core_each", limit.expected_ps, "ps"),
            Number("stalls", int(stalls.sum()), "count"),
            Number("stalled", float(exact_sum(stall[stalls])), "ps"),
            Number("median_stall", float(np.median(stall[stalls])), "ps"),
            Number("shortest_there", float(shortest[stalls].max()), "ps"),
            Number("computation_beyond_shortest", float(exact_sum(lost)), "ps"),
        ),
        confidence=evidence.confidence(
            MEDIUM, "that nothing was missing and how many ranks run at once are measured; the cores are not recorded"
        ),
    )
    stalled = graph.by_place(np.where(stalls, stall, 0)) * lasts_longer(evidence, graph)
    at_places = {place: time for place, time in zip(graph.places[0], stalled.tolist(), strict=True) if time > 0}
    # A message that is under way for long makes its receiver's stall, and waiting that goes: the same time.
    costs = {
        place: max(at_places.get(place, 0.0), found.removes.get(place, 0.0)) for place in {*at_places, *found.removes}
    }
    exposed = sums_at_locations(costs)
    yield replace(
        found,
        exposed_ps=round(sum(exposed.values())),
        share=min(1.0, worst_hit(exposed, evidence.slowest_program_ps)),
        charges=at_places,
        lasts=at_places,
        fault={(one, "inside"): 1.0 / len(ranks) for one in ranks},
    )


def _longer_than_a_slice(evidence: Evidence) -> int:
    """How many calls are long enough to hold a stall."""
    length = pl.col("leave_ps") - pl.col("enter_ps")
    return int(evidence.tables["calls"].filter(length > SLICE_PS).select(pl.len()).collect().item())


def _stalls(graph: Graph) -> Int64:
    """By call: how long it goes on when all that it completes is under way and attended to, or all members are there; 0
    where it completes nothing."""
    messages = graph.messages
    needs = graph.enter_ps.copy()
    completes = graph.is_member.copy()
    ends = (messages.send_call, messages.complete_call, messages.post_call, messages.recv_call)
    known = np.all([call >= 0 for call in ends], axis=0)
    there = np.max([graph.enter_ps[call[known]] for call in ends], axis=0)
    for call in (messages.complete_call[known], messages.recv_call[known]):
        np.maximum.at(needs, call, there)
        completes[call] = True
    members = graph.members["call"]
    _, of = np.unique(graph.members["instance"], return_inverse=True)
    last = np.zeros(int(of.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(last, of, graph.enter_ps[members])
    np.maximum.at(needs, members, last[of])
    return np.asarray(np.where(completes, np.maximum(0, graph.leave_ps - needs), 0), dtype=np.int64)


def _shortest_at_place(graph: Graph, stall: Int64) -> Int64:
    """By call: the shortest stall at its call path, of those that last at all."""
    shortest = np.full(int(graph.callpath.max(initial=0)) + 1, np.iinfo(np.int64).max // (2 * TIMES))
    lasts = stall > 0
    np.minimum.at(shortest, graph.callpath[lasts], stall[lasts])
    return np.asarray(shortest[graph.callpath], dtype=np.int64)


def _core_lost(graph: Graph, location: int, at_least: float) -> Int64:
    """Of each stretch of a rank's computation, what others had its core for; it had this part of the time at least."""
    rows = graph.calls_of(location)
    beyond = beyond_shortest(graph)[rows]
    lost = np.where(beyond > SLICE_PS, beyond, 0)
    most = (1.0 - at_least) * float(exact_sum(graph.gap_ps[rows]))
    return np.asarray(lost * min(1.0, most / max(1.0, float(exact_sum(lost)))), dtype=np.int64)


def _with_a_core_each(graph: Graph, ranks: list[int], stall: Int64, shortest: Int64, lost: Int64) -> Hypothesis:
    """The same program with calls of these ranks that stall no longer than the shortest one at their place, with
    messages between them that take no longer than the fastest that has as many bytes or more, and with computation
    less what others had the core for."""
    here = np.isin(graph.location, ranks)
    messages = graph.messages
    between = np.isin(messages.sender, ranks) & np.isin(messages.receiver, ranks)
    most = np.full(messages.count, np.iinfo(np.int64).max)
    most[between] = _fastest(messages.bytes[between], _transfer(graph)[between])
    return Hypothesis(
        gap_ps=graph.gap_ps - lost,
        work_ps=np.where(here, np.maximum(0, graph.work_ps - np.maximum(0, stall - shortest)), graph.work_ps),
        most_ps=most,
        member_ps=np.where(here & graph.is_member, shortest, np.iinfo(np.int64).max),
    )


def _transfer(graph: Graph) -> Int64:
    """Of each message, from when it is sent and its receive posted to its receiver's leave."""
    messages = graph.messages
    there = np.maximum(graph.enter_ps[messages.send_call], graph.enter_ps[messages.post_call])
    return np.asarray(graph.leave_ps[messages.recv_call] - there, dtype=np.int64)


def _fastest(size: Int64, time: Int64) -> Int64:
    """The shortest of these times, of each size and all larger ones; times that clocks show as none do not count."""
    order = np.argsort(size, kind="stable")[::-1]
    counted = np.where(time > 0, time, np.iinfo(np.int64).max)[order]
    so_far = np.minimum.accumulate(counted)
    # Equal sizes: the last in this order has seen them all.
    first = np.searchsorted(-size[order], -size, side="right") - 1
    return np.asarray(so_far[first], dtype=np.int64)
