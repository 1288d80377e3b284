"""Receives in a fixed order, or all at once: a rank waits for one message while another one has arrived.

Cure: take messages as they arrive (MPI_Waitany, MPI_ANY_SOURCE), in rows of receives or waits at one call path, a
message each; a probe before a receive finds its message. In the graph the messages of a row trade the calls that wait
for them: the first call has the message that was sent first. What a message lasts is not in question, so that no
machine is needed.

Likewise of one call that waits for messages of several ranks (MPI_Waitall), with code behind it: it waits for the first
one, and each of n messages has an n-th of that code. In the graph the next call waits for the others, and begins so
long behind the k-th message as the n - k + 1 parts of the code last that are left then. It applies where one sender is
the last of most calls: which one is last by chance differs from call to call, and on every machine. So only more than
`NOISE` is stated, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.cures.rows import in_rows, rounds
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, NOISE, Finding, Number, Sum
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.replay.columns import Int64

KIND = "receive_order"
LEAST = 2
"""Messages that could trade places."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    return offered(evidence, lambda program: chain(propose(program), _one_by_one(program)), of_messages=False)


def propose(program: Program) -> Iterator[Proposal]:
    """The order of arrival at each call path with rows of receives."""
    at: dict[int, list[list[int]]] = {}
    paths = program.callpath[program.messages.received_call].tolist()
    sent_at = program.enter_ps[program.messages.send_call].tolist()
    for row in _rows(program):
        at.setdefault(paths[row[0]], []).append(row)
    for callpath, rows in at.items():
        receive_as, lasts = column(program.messages.count), column(program.count)
        lasts[_probes(program, np.concatenate(rows))] = 0
        for row in rows:
            sent = sorted(row, key=sent_at.__getitem__)
            for place, message in zip(row, sent, strict=True):
                if place != message:
                    receive_as[message] = place
        overtaken = int((receive_as >= 0).sum())
        if overtaken:
            yield Proposal(
                kind=KIND,
                callpath=callpath,
                at_fault=frozenset(int(program.receiver[row[0]]) for row in rows),
                change=Transformation(receive_as=receive_as, lasts_ps=lasts),
                numbers=(
                    Sum("messages", sum(map(len, rows)), "count"),
                    Sum("out_of_order", overtaken, "count"),
                ),
                confidence=MEDIUM,
                certainty="the order of sends and receives is measured; whether the work behind a receive needs the "
                "messages before it is not known",
            )


def _one_by_one(program: Program) -> Iterator[Proposal]:
    """Each message worked on as it arrives, at each call path that waits for several ranks' at once."""
    messages = program.messages
    behind = np.append(program.follows[1:], False) & (np.append(program.gap_ps[1:], 0) > 0)
    every = np.flatnonzero(program.is_kind("wait_multi") & program.inside & behind)
    at: dict[int, list[list[int]]] = {}
    for call in every.tolist():
        received = program.received_in.get(call, [])
        if len(np.unique(program.sender[received])) >= LEAST:
            in_order = sorted(received, key=lambda message: program.enter_ps[messages.send_call[message]])
            at.setdefault(int(program.place_of[call]), []).append(in_order)
    of_path: dict[int, list[list[int]]] = {}
    for rows in at.values():
        last = program.sender[[row[-1] for row in rows]]
        if np.bincount(last).max() > MAINLY * len(rows):
            path = int(program.callpath[messages.received_call[rows[0][0]]])
            of_path.setdefault(path, []).extend(rows)
    for callpath, rows in of_path.items():
        later: list[int] = []
        behind_send: list[int] = []
        for row in rows:
            call, send_of_last = (int(calls[row[-1]]) for calls in (messages.received_call, messages.send_call))
            lasts = int(program.leave_ps[call] - max(program.enter_ps[call], program.enter_ps[send_of_last]))
            code = int(program.gap_ps[call + 1])
            later += row[1:]
            behind_send += [lasts + code * left // len(row) for left in range(len(row) - 1, 0, -1)]
        send, receive = (calls[later].astype(np.int64) for calls in (messages.send_call, messages.received_call))
        received_by = column(messages.count)
        received_by[later] = receive + 1
        yield Proposal(
            kind=KIND,
            callpath=callpath,
            at_fault=frozenset(program.receiver[later].tolist()),
            change=Transformation(
                received_by=received_by,
                edges=((2 * send, 2 * (receive + 1), np.array(behind_send, dtype=np.int64)),),
            ),
            beyond=NOISE,
            numbers=(
                Sum("messages", len(rows) + len(later), "count"),
                Number("messages_of_a_wait", 1 + len(later) / len(rows), "count"),
            ),
            confidence=MEDIUM,
            certainty="when messages are sent and the code behind the wait are measured; whether each message can be "
            "worked on alone is not known",
        )


def _probes(program: Program, messages: Int64) -> Int64:
    """The calls that look for these messages right before the receives of them."""
    before = program.messages.received_call[messages].astype(np.int64) - 1
    before = before[before >= 0]
    return before[program.is_kind("probe")[before] & program.follows[before + 1]]


def _rows(program: Program) -> Iterator[list[int]]:
    """Messages of calls in a row at one call path that complete one receive each, of different senders."""
    messages = program.messages
    one_by_one = program.is_kind("wait", "receive")
    one_by_one[messages.sent_call[messages.sent_call >= 0]] = False
    completed = messages.received_call >= 0
    one_by_one &= np.bincount(messages.received_call[completed], minlength=program.count) == 1
    message_of = column(program.count)
    message_of[messages.received_call[completed]] = np.flatnonzero(completed)
    calls = np.flatnonzero(program.inside & ~program.is_kind("probe"))
    alone = one_by_one[calls]
    in_a_row = alone[1:] & alone[:-1] & (np.diff(program.place_of[calls]) == 0)
    sender = program.sender.tolist()
    for row in in_rows(calls, in_a_row, LEAST):
        yield from (one for one in rounds(message_of[row].tolist(), sender) if len(one) >= LEAST)
