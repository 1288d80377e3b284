"""Late ranks: code that some ranks alone run, for whose end others wait.

Cure: the ranks that wait take their part of it. In the graph, the code of the ranks that run it is shorter by what they
compute in all beyond the mean of every rank, and the ranks that wait compute longer before the call in which they do,
up to that mean. It applies to a stretch of code (`stretches`) that less than all ranks run. At the other end of the
gain none has to do it, and the late ranks compute no longer than the fastest one does. The same loss ends where the
code is done after the call for which the others wait; what depends on it only the programmer knows. A rank whose send
waits for a receiver is `late_receiver`'s matter.

Where the ranks that send compute no longer than others, and most of what their receivers wait is for these sends, the
code before them is behind them at every visit: send earlier, work later. At the other ends of the gain only as much of
it moves as a receiver waits for, or the receivers need none of these messages. The code of every rank varies, so that
only more than `NOISE` is stated. What ranks pass on one after the other is the work of a `wavefront`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from logpost.analyzer.findings.cures.code import code_of
from logpost.analyzer.findings.cures.late_receiver import behind
from logpost.analyzer.findings.cures.offered import Proposal, column, offered, program_of
from logpost.analyzer.findings.cures.one_exchange import left_out
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.cures.stretches import Floats, Stretch, every_stretch
from logpost.analyzer.findings.cures.wavefront import LEAST_DEPTH, depths
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, MEDIUM, MIN_SHARE, NOISE, Finding, Number, Sum, sums_at_locations
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.replay.columns import Int32, Int64

IN_MESSAGES, IN_OPERATIONS = KINDS = "late_sender_chain", "collective_wait"
"""Kinds, by where the others wait."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a stretch of code."""
    return (_described(evidence, found) for found in offered(evidence, propose, of_messages=False))


def propose(program: Program) -> Iterator[Proposal]:
    """Each stretch in which some ranks compute longer than the mean."""
    totals, mean = program.code_ps, program.mean_code_ps
    sends = _paths(program, program.messages.sent_call) - _paths(program, program.messages.received_call)
    sends -= set(program.callpath[program.is_operation].tolist())
    for place in every_stretch(program):
        less = _beyond(program, place, mean)
        if len(place.locations) == len(totals) or less.max(initial=0.0) < MIN_SHARE * program.length_ps:
            yield from _sent_earlier(program, place)
            continue
        longer = _shorter(program, place, less)
        freed = program.saved_at(Transformation(longer_ps=longer))
        waits = {spot: time for spot, time in freed.items() if spot[0] not in place.locations and spot[1] not in sends}
        if not waits:
            continue
        room = {location: max(0.0, mean - totals[location]) for location in {location for location, _ in waits}}
        part = min(1.0, float(less.sum()) / max(1.0, sum(room.values())))
        for location, most in room.items():
            path = max((spot for spot in waits if spot[0] == location), key=lambda spot: waits[spot])[1]
            calls = program.calls_of[location]
            calls = calls[program.callpath[calls] == path]
            longer[calls] += round(part * most / len(calls))
        least = min(total for total in totals.values() if total <= mean)
        not_done = Transformation(longer_ps=_shorter(program, place, _beyond(program, place, least)))
        lost: dict[int, float] = {}
        for (_, path), time in waits.items():
            lost[path] = lost.get(path, 0.0) + time
        waits_in = max(lost, key=lambda path: lost[path])
        yield Proposal(
            kind=IN_OPERATIONS if _is_operation(program, waits_in) else IN_MESSAGES,
            callpath=waits_in,
            callpaths=frozenset((place.callpath,)),
            at_fault=frozenset(one for one, gone in zip(place.locations, less, strict=True) if gone > 0),
            change=Transformation(longer_ps=longer),
            other_ends=(not_done,),
            numbers=(Sum("they_compute_there", float(place.totals.sum()), "ps"),),
            confidence=MEDIUM,
            certainty="compute time is measured; whether others can take a part of it is not known",
        )


def _sent_earlier(program: Program, place: Stretch) -> Iterator[Proposal]:
    """The code before sends behind them, where receivers wait for these."""
    messages = program.messages
    calls = np.concatenate(place.calls)
    waits = np.maximum(0, program.enter_ps[messages.send_call] - program.enter_ps[messages.received_call])
    waits[~np.isin(messages.send_call, calls) | (messages.received_call < 0)] = 0
    late = np.flatnonzero(waits)
    here = np.unique(messages.received_call[late])
    deep, _ = depths(program)
    of_wavefront = waits[deep >= LEAST_DEPTH].sum() > MAINLY * waits.sum()
    if of_wavefront or waits.sum() <= MAINLY * (program.leave_ps - program.enter_ps)[here].sum():
        return
    by_path = np.bincount(program.callpath[messages.received_call[late]], weights=waits[late])
    yield Proposal(
        kind=IN_MESSAGES,
        callpath=int(by_path.argmax()),
        callpaths=frozenset((place.callpath,)),
        at_fault=frozenset(program.sender[late].tolist()),
        change=Transformation(longer_ps=behind(program, calls, program.gap_ps[calls])),
        other_ends=(
            Transformation(longer_ps=behind(program, *_latest(program, late, waits))),
            left_out(program, np.flatnonzero(np.isin(messages.send_call, calls))),
        ),
        numbers=(Sum("they_compute_there", float(place.totals.sum()), "ps"),),
        confidence=LOW,
        beyond=NOISE,
        certainty="compute time is measured; whether a message needs what is computed before it is not known",
    )


def _latest(program: Program, late: Int64, waits: Int64) -> tuple[Int64, Int64]:
    """The calls that send these, and how long a receiver waits for each."""
    calls, of = np.unique(program.messages.send_call[late], return_inverse=True)
    longest = np.zeros(len(calls), dtype=np.int64)
    np.maximum.at(longest, of, waits[late])
    return calls.astype(np.int64), longest


def _beyond(program: Program, place: Stretch, norm_ps: float) -> Floats:
    """By location of a stretch: how much longer it computes there, as far as it computes longer in all than that."""
    beyond = [max(0.0, program.code_ps[location] - norm_ps) for location in place.locations]
    return np.minimum(place.totals, beyond)


def _shorter(program: Program, place: Stretch, less: Floats) -> Int64:
    """By call: how much longer the code before it is, with so much less at each location of a stretch."""
    longer = column(program.count, 0)
    for calls, gaps, total, gone in zip(place.calls, place.gaps, place.totals, less, strict=True):
        longer[calls] = np.rint(-gaps * (gone / max(1.0, total)))
    return longer


def _paths(program: Program, calls: Int32) -> set[int]:
    return set(program.callpath[calls[calls >= 0]].tolist())


def _is_operation(program: Program, path: int) -> bool:
    return bool(program.is_operation[program.callpath == path].any())


def _described(evidence: Evidence, found: Finding) -> Finding:
    """The finding with the names of the code and of the ranks that wait."""
    program = program_of(evidence)
    assert program is not None
    proposal = found.replayed.proposal
    place = next(one for one in every_stretch(program) if one.callpath in proposal.callpaths)
    lost = sums_at_locations({spot: time for spot, time in found.removes.items() if spot[1] == found.callpath})
    waiters = [location for location in lost if location not in proposal.at_fault]
    late = sorted(proposal.at_fault)
    code = code_of(evidence, program, place)
    name = "late_rank" if found.kind == IN_MESSAGES else "last_rank"
    return replace(
        found,
        named=evidence.named(sorted({*waiters, *late})),
        cause_region=code.name,
        evidence=(
            *found.evidence,
            *evidence.rank_numbers("waiting_rank", waiters),
            *evidence.rank_numbers(name, late),
            *code.samples,
            *((Number("cause_works", 1.0, "1"),) if found.kind == IN_OPERATIONS else ()),
        ),
    )
