"""Receives in a fixed order: a rank waits for one message while another one has arrived.

Cure: take messages as they arrive (MPI_Waitany, MPI_ANY_SOURCE), in rows of receives or waits at one call path, a
message each; a probe before a receive finds its message. In the graph the messages of a row trade the calls that wait
for them: the first call has the message that was sent first. What a message lasts is not in question, so that no
machine is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.cures.rows import rounds
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number
from logpost.replay.columns import Int64

KIND = "receive_order"
LEAST = 2
"""Messages that could trade places."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    return offered(evidence, propose, of_messages=False)


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
                    Number("messages", sum(map(len, rows)), "count"),
                    Number("out_of_order", overtaken, "count"),
                ),
                confidence=MEDIUM,
                certainty="the order of sends and receives is measured; whether the work behind a receive needs the "
                "messages before it is not known",
            )


def _probes(program: Program, messages: Int64) -> Int64:
    """The calls that look for these messages right before the receives of them."""
    before = program.messages.received_call[messages].astype(np.int64) - 1
    before = before[before >= 0]
    return before[program.is_kind("probe")[before] & program.follows[before + 1]]


def _rows(program: Program) -> Iterator[list[int]]:
    """Messages of calls in a row at one call path that complete one receive each, of different senders."""
    one_by_one, probes = program.is_kind("wait", "receive"), program.is_kind("probe")
    one_by_one[program.messages.sent_call[program.messages.sent_call >= 0]] = False
    sender = program.sender.tolist()
    for every in program.calls_of.values():
        row: list[int] = []
        path = -1
        calls = every[~probes[every]]
        paths, alone_in = program.callpath[calls].tolist(), one_by_one[calls].tolist()
        for call, at, one in zip(calls.tolist(), paths, alone_in, strict=True):
            messages = program.received_in.get(call, [])
            alone = one and len(messages) == 1
            if row and (not alone or at != path):
                yield from _long(row, sender)
                row = []
            if alone:
                path = at
                row.append(messages[0])
        yield from _long(row, sender)


def _long(row: Sequence[int], sender: Sequence[int]) -> Iterator[list[int]]:
    return (one for one in rounds(row, sender) if len(one) >= LEAST)
