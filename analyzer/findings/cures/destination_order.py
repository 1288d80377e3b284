"""Ranks that send to the same destinations in the same order: all crowd at one receiver, then at the next.

Cure: each rank begins with the destination behind itself, then the next one. It applies to rows of at least three sends
to different ranks at one call path. In the graph the messages of a row trade the calls that send them; where single
calls wait for them, their receivers take them in that order too. A handshake is answered once the receive
is posted: in such an exchange every rank is in calls.

A NIC that shares itself among all its senders, instead of serving one after the other, makes all of a crowd late.
The time of such messages beyond the machine's model vanishes with the crowd at one end of the gain, and stays at the
other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.cures.rows import rounds, rows_of_sends
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number, Sum

KIND = "destination_order"
LEAST = 3
"""Destinations of a row, and ranks with rows: two can be no crowd."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    return offered(evidence, propose)


def propose(program: Program) -> Iterator[Proposal]:
    """Another order at each call path of rows of sends."""
    messages = program.messages
    for callpath, rows in rows_by_place(program).items():
        change = _rotated(program, rows)
        if change is None:
            continue
        here = np.zeros(messages.count, dtype=np.uint8)
        here[[message for _, row in rows for message in row]] = 1
        yield Proposal(
            kind=KIND,
            callpath=callpath,
            at_fault=frozenset(location for location, _ in rows),
            change=replace(change, as_modelled=here),
            other_ends=(change,),
            numbers=(
                Sum("messages", int(here.sum()), "count"),
                Number("in_a_row", float(here.sum() / len(rows)), "count"),
                Number("mean_size", float(messages.bytes[here > 0].mean()), "B"),
            ),
            confidence=MEDIUM,
            certainty="the order of the sends is measured; whether the receivers need the data in that order is not "
            "known",
        )


@once
def rows_by_place(program: Program) -> dict[int, list[tuple[int, list[int]]]]:
    """Call path to (location, messages to different ranks in a row), where at least three ranks have such rows."""
    at: dict[int, list[tuple[int, list[int]]]] = {}
    receiver = program.receiver.tolist()
    for location, sends in rows_of_sends(program):
        for row in rounds(sends, receiver):
            if len(row) >= LEAST:
                at.setdefault(int(program.callpath[program.messages.send_call[row[0]]]), []).append((location, row))
    return {path: rows for path, rows in at.items() if len({location for location, _ in rows}) >= LEAST}


def _rotated(program: Program, rows: Sequence[tuple[int, Sequence[int]]]) -> Transformation | None:
    """None: each row begins behind its sender already."""
    messages = program.messages
    place = {location: i for i, location in enumerate(program.calls_of)}
    ranks = len(place)
    send_as, receive_as, posted_by = (column(messages.count) for _ in range(3))
    for location, row in rows:
        behind = sorted(
            row, key=lambda message: (place.get(int(program.receiver[message]), 0) - place[location]) % ranks
        )
        posted_by[row] = messages.post_call[row]
        for of, message in zip(row, behind, strict=True):
            if of != message:
                send_as[message] = of
    if not (send_as >= 0).any():
        return None
    waits_for_all = program.is_kind("wait_multi")
    by_receiver: dict[int, list[int]] = {}
    for _, row in rows:
        for message in row:
            if not waits_for_all[messages.received_call[message]]:
                by_receiver.setdefault(int(program.receiver[message]), []).append(message)
    sender = program.sender.tolist()
    for location, received in by_receiver.items():
        in_order = sorted(received, key=lambda message: int(messages.received_call[message]))
        for row in rounds(in_order, sender):
            before = sorted(
                row, key=lambda message: (place[location] - place.get(int(program.sender[message]), 0)) % ranks
            )
            for of, message in zip(row, before, strict=True):
                if of != message:
                    receive_as[message] = of
    return Transformation(send_as=send_as, receive_as=receive_as, posted_by=posted_by)
