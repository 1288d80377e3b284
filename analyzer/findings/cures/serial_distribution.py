"""One rank sends the same amount to each of the others itself, one message after the other.

Cure: a broadcast's binomial tree (MPI_Bcast, or MPI_Scatter where the data differs), in which ranks that have the data
pass it on. It applies where one rank alone sends rows of at least three messages of one size at a call path. In the
graph the messages go; a rank's receive ends when the one above it in the tree has passed its message on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import NEVER, Program, Transformation
from logpost.analyzer.findings.cures.rows import rounds, rows_of_sends
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, Finding, Number

KIND = "serial_distribution"
LEAST = 3
"""Messages: a tree of two is a row."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a rank and call path."""
    return offered(evidence, propose)


def propose(program: Program) -> Iterator[Proposal]:
    """A tree at each call path at which one rank alone distributes."""
    messages = program.messages
    at: dict[int, dict[int, list[list[int]]]] = {}
    for location, sends in rows_of_sends(program):
        for row in rounds(sends, program.receiver):
            if len(row) >= LEAST and len(set(messages.bytes[row].tolist())) == 1:
                callpath = int(program.callpath[messages.send_call[row[0]]])
                at.setdefault(callpath, {}).setdefault(location, []).append(row)
    for callpath, by_location in at.items():
        if len(by_location) == 1:
            ((location, rows),) = by_location.items()
            yield Proposal(
                kind=KIND,
                callpath=callpath,
                at_fault=frozenset({location}),
                change=_through_trees(program, rows),
                numbers=(
                    Number("messages", sum(map(len, rows)), "count"),
                    Number("in_a_row", sum(map(len, rows)) / len(rows), "count"),
                    Number("mean_size", float(messages.bytes[rows[0][0]]), "B"),
                ),
                confidence=LOW,
                certainty="messages of one size, one after the other, are measured; whether all receivers get the same "
                "data is not known",
            )


def _through_trees(program: Program, rows: list[list[int]]) -> Transformation:
    messages = program.messages
    sent = np.zeros(messages.count, dtype=np.uint8)
    lasts = column(program.count)
    edges: list[tuple[int, int, int]] = []
    for row in rows:
        cost = program.costs(float(messages.bytes[row[0]]))
        handshake = 2 * (cost.L + cost.o_control) if cost.rendezvous else 0
        takes = float(cost.o_s + cost.L + cost.serialization + cost.o_r + handshake)
        apart = max(float(cost.service), float(cost.o_s))
        sent[row] = NEVER
        height = len(row).bit_length()
        for order, message in enumerate(row):  # of the ranks with the root as 0, this one is order + 1
            rank = order + 1
            above = rank - (1 << (rank.bit_length() - 1))
            before = rank.bit_length() - 1 - above.bit_length()  # messages that the rank above sends first
            received = int(messages.received_call[message])
            begin = (
                2 * int(messages.send_call[row[0]])
                if above == 0
                else 2 * int(messages.received_call[row[above - 1]]) + 1
            )
            edges.append((begin, 2 * received + 1, round(takes + before * apart)))
            lasts[received] = 0
            lasts[messages.send_call[message]] = round(apart) if order < height else 0
    ends = np.array(edges, dtype=np.int64)
    return Transformation(sent=sent, lasts_ps=lasts, edges=((ends[:, 0], ends[:, 1], ends[:, 2]),))
