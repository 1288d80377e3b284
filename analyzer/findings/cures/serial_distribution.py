"""One rank sends to each of the others itself, one message after the other.

Where one rank alone sends rows of messages to at least three others at a call path, with the same amount in all for
each of them:

Cure: one message for each rank, along a broadcast's binomial tree (MPI_Bcast, or MPI_Scatter where the data differs),
in which ranks that have the data pass it on. In the graph the messages go; a rank's first receive ends when the one
above it in the tree has passed its message on, and has the data of all its messages of that row.

Ranks that get different amounts get different data, which no tree can pass on (`hot_sender`). Cure: the ranks share in
sending it. In the graph each rank's messages are the only ones of their row, and the sender keeps its own share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import NEVER, Program, Transformation
from logpost.analyzer.findings.cures.rows import rows_of_sends
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, Finding, Number, Sum

KIND, TO_EACH = KINDS = "serial_distribution", "hot_sender"
LEAST = 3
"""Receivers: a tree of two is a row."""

Row = Sequence[Sequence[int]]
"""Messages by receiver, in the order in which the sender turns to them first."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a rank and call path."""
    return offered(evidence, propose)


def propose(program: Program) -> Iterator[Proposal]:
    """A tree, or shared sends, at each call path at which one rank alone distributes."""
    messages = program.messages
    at: dict[int, dict[int, list[Row]]] = {}
    for location, sends in rows_of_sends(program):
        by_receiver: dict[int, list[int]] = {}
        for message in sends:
            by_receiver.setdefault(int(program.receiver[message]), []).append(message)
        callpath = int(program.callpath[messages.send_call[sends[0]]])
        at.setdefault(callpath, {}).setdefault(location, []).append(list(by_receiver.values()))
    for callpath, by_location in at.items():
        if len(by_location) != 1:
            continue
        ((location, rows),) = by_location.items()
        rows = [row for row in rows if len(row) >= LEAST]
        alike = [row for row in rows if len({int(messages.bytes[list(own)].sum()) for own in row}) == 1]
        if not rows:
            continue
        same = len(alike) == len(rows)
        every = [message for row in rows for own in row for message in own]
        receivers = sum(map(len, rows))
        yield Proposal(
            kind=KIND if same else TO_EACH,
            callpath=callpath,
            at_fault=frozenset({location}),
            change=_through_trees(program, rows) if same else _shared(program, rows),
            numbers=(
                Sum("messages", len(every), "count"),
                Number("in_a_row", receivers / len(rows), "count"),
                Number("messages_each", len(every) / receivers, "count"),
                Number("mean_size", float(messages.bytes[every].mean()), "B"),
            ),
            confidence=LOW,
            certainty="messages of one size, one after the other, are measured; whether all receivers get the same "
            "data is not known"
            if same
            else "messages one after the other are measured; whether the other ranks could have the data is not known",
        )


def _through_trees(program: Program, rows: Iterable[Row]) -> Transformation:
    """Each receiver gets its data from the one above it."""

    def above(order: int) -> tuple[int, int]:
        """Of the ranks with the root as 0: the one above this one, and how many that sends to before."""
        above = order - (1 << (order.bit_length() - 1))
        return above, order.bit_length() - 1 - above.bit_length()

    return _sent_by(program, rows, above, lambda row: len(row).bit_length())


def _shared(program: Program, rows: Iterable[Row]) -> Transformation:
    """Each receiver gets its data as the first one does."""
    return _sent_by(program, rows, lambda _: (0, 0), lambda _: 1)


def _sent_by(
    program: Program,
    rows: Iterable[Row],
    above: Callable[[int], tuple[int, int]],
    sends: Callable[[Row], int],
) -> Transformation:
    """One message for each receiver.

    Arguments:
        program: whose.
        rows: of one sender.
        above: of the ranks of a row, with the sender as 0: which one sends to this one, and to how many before it.
        sends: how many messages of a row the sender keeps.
    """
    messages = program.messages
    sent = np.zeros(messages.count, dtype=np.uint8)
    lasts = column(program.count)
    edges: list[tuple[int, int, int]] = []
    for row in rows:
        start = 2 * int(messages.send_call[row[0][0]])
        keeps = sends(row)
        for order, own in enumerate(row, 1):
            cost = program.costs(float(messages.bytes[list(own)].sum()))
            handshake = 2 * (cost.L_control + cost.o_control) if cost.rendezvous else 0
            takes = float(cost.o_s + cost.L + cost.serialization + cost.o_r + handshake)
            apart = max(float(cost.service), float(cost.o_s))
            sent[list(own)] = NEVER
            sender, before = above(order)
            begin = start if sender == 0 else 2 * int(messages.received_call[row[sender - 1][0]]) + 1
            edges.append((begin, 2 * int(messages.received_call[own[0]]) + 1, round(takes + before * apart)))
            lasts[messages.received_call[list(own)]] = 0
            lasts[messages.send_call[list(own)]] = 0
            if order <= keeps:
                lasts[messages.send_call[own[0]]] = round(apart)
    ends = np.array(edges, dtype=np.int64)
    return Transformation(sent=sent, lasts_ps=lasts, edges=((ends[:, 0], ends[:, 1], ends[:, 2]),))
