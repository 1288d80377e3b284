"""Unattended transfers: a handshake waits for a processor that computes outside of calls.

Without asynchronous progress the library replies to a request, and begins to send the data once it has the answer, only
inside of calls. Cure: it does so at once (calls of MPI_Test between smaller blocks of work, a progress thread). It
applies where the receiver is outside of calls once it has posted the receive and the request is there, or the sender
once that is answered. In the graph such a receiver replies where it posts, and such a sender has its reply where it
starts the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from logpost.analyzer.findings.cures.code import code_before
from logpost.analyzer.findings.cures.offered import Proposal, column, offered, program_of
from logpost.analyzer.findings.cures.program import Program, Rows, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number, Sum
from logpost.replay.columns import Int64

KIND = "unattended"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    return (_of_code(evidence, found) for found in offered(evidence, propose, of_messages=False))


def _of_code(evidence: Evidence, found: Finding) -> Finding:
    """The finding with the code that its ranks run instead."""
    late = min((rank for rank in found.replayed.proposal.at_fault), default=-1) if found.replayed else -1
    program = program_of(evidence)
    assert program is not None
    code = code_before(evidence, program, late, found.callpath)
    return replace(found, cause_region=code.name, evidence=(*found.evidence, *code.samples))


def propose(program: Program) -> Iterator[Proposal]:
    """Replies at once to all handshakes that wait for code."""
    messages = program.messages
    requests = np.flatnonzero((messages.handshake > 0) & program.inside[messages.send_call])
    if program.recorded.asynchronous_progress or not len(requests):
        return
    send, post = messages.send_call[requests], messages.post_call[requests]
    way = round(program.empty_message_ps)
    there = np.maximum(program.enter_ps[send] + way, program.enter_ps[post])
    clears, answered = attended(program, post, there)
    begins, begun = attended(program, send, answered + way)
    late_receiver, late_sender = answered - there, begun - answered - way
    posted_by, sent_from = column(messages.count), column(messages.count)
    posted_by[requests[late_receiver > 0]] = post[late_receiver > 0]
    sent_from[requests[late_sender > 0]] = send[late_sender > 0]
    delays = np.concatenate([late_receiver, late_sender])
    calls = np.concatenate([clears, begins])[delays > 0]
    delays = delays[delays > 0]
    if not len(delays):
        return
    by_rank = np.bincount(program.location[calls], weights=delays)
    enough = MIN_SHARE * program.base.program_ps
    yield Proposal(
        kind=KIND,
        callpath=int(np.argmax(np.bincount(program.callpath[calls], weights=delays))),
        at_fault=frozenset(np.flatnonzero(by_rank >= min(enough, by_rank.max())).tolist()),
        change=Transformation(posted_by=posted_by, sent_from=sent_from),
        numbers=(
            Sum("handshakes_unanswered", len(delays), "count"),
            Number("mean_delay", float(delays.mean()), "ps"),
        ),
        confidence=HIGH if len(delays) >= MIN_SAMPLES else MEDIUM,
        certainty="that the ranks named were outside of calls is measured; what an answer at once saves is modelled",
        rests_on=("latency",),
    )


def attended(program: Program, since: Rows, ready_ps: Int64) -> tuple[Int64, Int64]:
    """The first call from `since` on in which the library runs and which is not over when something is ready, and when
    its rank attends to that."""
    call = since.astype(np.int64)
    runs = ~program.is_kind("user", "other", "not_recorded")
    for location in np.unique(program.location[since]).tolist():
        rows = np.flatnonzero((program.location == location) & runs)
        here = program.location[since] == location
        at = np.searchsorted(program.leave_ps[rows], ready_ps[here], side="right")
        at = np.maximum(at, np.searchsorted(rows, since[here]))
        call[here] = rows[np.minimum(at, len(rows) - 1)]
    return call, np.maximum(ready_ps, program.enter_ps[call])
