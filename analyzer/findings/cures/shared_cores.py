"""Shared cores: ranks of a node have its cores by turns, and calls that wait for no other rank last until their turn.

A call *stalls* from when nothing of what it needs is missing: all that it completes has been sent and posted, by ranks
that are inside of the calls that complete it, or all members of its operation have entered. What a message costs then
is microseconds; a stall that lasts longer than the shortest at its place by more than a scheduler's slice is neither
transport nor a queue. A network can stall so too, or a library that sleeps. What distinguishes shared cores is
measured where the archive states for how long ranks were ready to run and had none; else it is that no more than some
of the ranks run at once (`evidence.concurrent_ranks`). Where ranks outnumber the cores, the report says so first; this
is for archives that do not state them, and for ranks that share their cores with something else.

Cure: a core for each rank. In the graph a call of theirs ends as long after the enters of all that it needs as the
shortest one at its place does; at the other end of the gain, only a call that stalls. Code that lasts longer than the
shortest at its place by more than a slice has that, for as long as others can have had the core: as measured, or with k
cores for n ranks, of which a rank has k of n parts of the time at least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Flags, Program, Transformation
from logpost.analyzer.findings.evidence.concurrent_ranks import LOST_PS, Limit, beyond_shortest, limit_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, Finding, Number, Sum
from logpost.analyzer.run.wide import exact_sum
from logpost.replay.columns import Int64

KIND = "shared_cores"
SLICE_PS = LOST_PS
"""Stalls that are no longer may have other reasons. Linux lets a process run for 0.75 ms and more before it takes the
core away for another one (sched_min_granularity, base_slice)."""


@dataclass(frozen=True)
class Needs:
    """What calls need: from call to call that needs it; of operations, members with the numbers of theirs."""

    source: Int64
    target: Int64
    surely: Flags
    """By these: false: of a message whose protocol does not show whether it is needed."""
    member: Int64
    instance: Int64
    """from 0 on"""

    @staticmethod
    def of(program: Program) -> Needs:
        """Of the messages that calls complete, and of blocking operations."""
        messages = program.messages
        at_sender = (messages.send_call, messages.sent_call)
        at_receiver = (messages.post_call, messages.received_call)
        known = np.all([call >= 0 for call in (*at_sender, *at_receiver)], axis=0)
        always = np.ones(messages.count, dtype=np.bool_)
        waits, handshake = messages.sender_waits > 0, messages.handshake > 0
        ways = (
            *((call, messages.sent_call, always) for call in at_sender),
            *((call, messages.sent_call, waits) for call in at_receiver),
            *((call, messages.received_call, always) for call in (messages.send_call, *at_receiver)),
            (messages.sent_call, messages.received_call, handshake),
        )
        source, target, surely = (np.concatenate([way[i][known] for way in ways]) for i in range(3))
        blocking = program.operations.filter(pl.col("call") == pl.col("complete_call"))
        _, instance = np.unique(blocking["instance"].to_numpy(), return_inverse=True)
        member = blocking["call"].to_numpy().astype(np.int64)
        return Needs(source.astype(np.int64), target.astype(np.int64), surely, member, instance)

    def stalls(self, program: Program) -> Int64:
        """By call: how long it lasts when nothing is missing; 0 where it completes nothing."""
        there = program.enter_ps.copy()
        np.maximum.at(there, self.target, program.enter_ps[self.source])
        last = np.zeros(int(self.instance.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(last, self.instance, program.enter_ps[self.member])
        there[self.member] = np.maximum(there[self.member], last[self.instance])
        completes = np.zeros(program.count, dtype=np.bool_)
        completes[self.target] = completes[self.member] = True
        return np.where(completes & program.inside, np.maximum(0, program.leave_ps - there), 0)

    def without(self, program: Program, stalls: Flags, shortest: Int64, less_ps: Int64) -> Transformation:
        """The program in which these calls end so long after what they need, with so much less code."""
        of_message = stalls[self.target] & self.surely
        source, target = self.source[of_message], self.target[of_message]
        waits = stalls[self.member]
        return Transformation(
            longer_ps=-less_ps,
            lasts_ps=np.where(stalls, shortest, -1),
            edges=(
                (2 * source, 2 * target + 1, shortest[target]),
                (2 * self.member, -1 - self.instance, np.zeros_like(self.member)),
                (-1 - self.instance[waits], 2 * self.member[waits] + 1, shortest[self.member[waits]]),
            ),
            further_nodes=int(self.instance.max(initial=-1)) + 1,
        )


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    hosts = evidence.manifest.hosts
    known = hosts.oversubscribed is not None
    if (known and (hosts.oversubscribed or not evidence.scheduled())) or evidence.locations.height < 2:
        return ()
    if _longer_than_a_slice(evidence) < MIN_SAMPLES:
        return ()
    return (replace(one, cause_region="") for one in offered(evidence, partial(propose, evidence), of_messages=False))


def propose(evidence: Evidence, program: Program) -> Iterator[Proposal]:
    """A core for each rank of the nodes on which they have them by turns."""
    needs = Needs.of(program)
    stall = needs.stalls(program)
    shortest = _shortest_at_place(program, stall)
    stalls = stall - shortest > SLICE_PS
    nodes: dict[int, list[int]] = {}
    for location, node in evidence.locations.select("location", "node").iter_rows():
        nodes.setdefault(node, []).append(location)
    without = evidence.manifest.hosts.without_core if evidence.scheduled() else None
    limits: dict[int, Limit] = {}
    for node, locations in nodes.items() if without is None else ():
        here = stalls & np.isin(program.location, locations)
        if here.sum() >= MIN_SAMPLES and (limit := limit_of(program, locations)) is not None:
            limits[node] = limit
    if without is None and not limits:
        return
    ranks = [location for node in limits or nodes for location in nodes[node]]
    here = np.isin(program.location, ranks)
    stalls &= here
    if stalls.sum() < MIN_SAMPLES:
        return
    lost = column(program.count, 0)
    beyond = beyond_shortest(program)
    for node in limits or nodes:
        part = without if without is not None else 1.0 - limits[node].ranks / len(nodes[node])
        for location in nodes[node]:
            calls = program.calls_of[location]
            lost[calls] = _core_lost(program.gap_ps[calls], beyond[calls], part)
    by_place = np.bincount(program.callpath[stalls], weights=stall[stalls])
    yield Proposal(
        kind=KIND,
        callpath=int(by_place.argmax()),
        at_fault=frozenset(ranks),
        change=needs.without(program, here & (stall > shortest), shortest, lost),
        other_ends=(needs.without(program, stalls, shortest, lost),),
        numbers=(
            *([] if without is None else [Number("without_core", without, "1")]),
            *_at_once(limits, nodes),
            Sum("stalls", int(stalls.sum()), "count"),
            Sum("stalled", float(exact_sum(stall[stalls])), "ps"),
            Number("median_stall", float(np.median(stall[stalls])), "ps"),
            Number("shortest_there", float(shortest[stalls].max()), "ps"),
            Sum("computation_beyond_shortest", float(exact_sum(lost)), "ps"),
        ),
        confidence=MEDIUM,
        certainty="that nothing was missing and how many ranks run at once are measured; the cores are not recorded"
        if without is None
        else "that nothing was missing and for how long ranks had no core are measured; what had them is not",
    )


def _at_once(limits: Mapping[int, Limit], nodes: Mapping[int, list[int]]) -> Iterator[Number]:
    """Of the node that this shows most for; nothing where no node is limited."""
    if not limits:
        return
    worst = max(limits, key=lambda node: limits[node].expected_ps)
    yield Number("ranks_of_a_node", len(nodes[worst]), "count")
    yield Number("run_at_once", limits[worst].ranks, "count")
    yield Number("so_many_run", limits[worst].time_ps, "ps")
    yield Number("more_run", limits[worst].beyond_ps, "ps")
    yield Number("more_would_run_with_a_core_each", limits[worst].expected_ps, "ps")


def _longer_than_a_slice(evidence: Evidence) -> int:
    """How many calls are long enough to hold a stall."""
    length = pl.col("leave_ps") - pl.col("enter_ps")
    return int(evidence.tables["calls"].filter(length > SLICE_PS).select(pl.len()).collect().item())


def _shortest_at_place(program: Program, stall: Int64) -> Int64:
    """By call: the shortest stall at its call path, of those that last at all."""
    shortest = np.full(int(program.callpath.max(initial=0)) + 1, np.iinfo(np.int64).max // 2)
    lasts = stall > 0
    np.minimum.at(shortest, program.callpath[lasts], stall[lasts])
    return np.asarray(shortest[program.callpath], dtype=np.int64)


def _core_lost(code_ps: Int64, beyond: Int64, part: float) -> Int64:
    """Of each stretch of a rank's code, what others had its core for: this part of the time at most."""
    lost = np.where(beyond > SLICE_PS, beyond, 0)
    most = part * float(exact_sum(code_ps))
    return np.asarray(lost * min(1.0, most / max(1.0, float(exact_sum(lost)))), dtype=np.int64)
