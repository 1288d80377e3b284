"""A serial exchange: ranks that receive first and send then, each when the one before it has sent.

Cure: send and receive at once (MPI_Sendrecv, MPI_Isend before the receive). It applies to a send right behind a
receive, with less code in between than an empty message takes. In the graph such a message starts where that receive is
entered. Where it passes on what was received there is no such cure: of a chain that one rank starts and another one
ends, with equal sizes, that is assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Flags, Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, Finding, Number, Sum

KIND = "serial_exchange"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    return offered(evidence, propose)


def propose(program: Program) -> Iterator[Proposal]:
    """Sends before the receives at each call path of sends behind them."""
    messages = program.messages
    receives = program.is_kind("receive") & program.inside
    behind = np.zeros(messages.count, dtype=np.bool_)
    call = messages.send_call
    behind[:] = program.follows[call] & receives[call - 1] & (program.gap_ps[call] <= program.empty_message_ps)
    for callpath in np.unique(program.callpath[call[behind]]).tolist():
        here = behind & (program.callpath[call] == callpath)
        if not _closes(program, here):
            continue
        sent_from = column(messages.count)
        sent_from[here] = call[here] - 1
        yield Proposal(
            kind=KIND,
            callpath=int(program.callpath[call[here][0] - 1]),
            at_fault=frozenset(program.sender[here].tolist()),
            change=Transformation(sent_from=sent_from),
            numbers=(
                Sum("messages", int(here.sum()), "count"),
                Number("mean_size", float(messages.bytes[here].mean()), "B"),
            ),
            confidence=LOW,
            certainty="the order of receives and sends is measured; whether a message needs what was received before "
            "it is not known",
        )


def _closes(program: Program, here: Flags) -> bool:
    """Whether every rank that receives also sends, and the other way round: data that one rank has and passes on along
    a line ends somewhere."""
    senders = set(program.sender.tolist())
    receivers = set(program.receiver.tolist())
    return senders == receivers and set(program.receiver[here].tolist()) <= senders
