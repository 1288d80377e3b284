"""Synchronous sends: the sender waits until its message is received, though its size needs no handshake.

Cure: a standard send (MPI_Send for MPI_Ssend). In the graph the message's data leaves at once, and nothing at its
sender waits for the receive any more. It applies to messages up to the eager limit whose sender waits: larger ones
need the handshake by their size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, offered
from logpost.analyzer.findings.cures.program import EAGER, Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number, Sum

KIND = "synchronous_sends"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    return offered(evidence, propose)


def propose(program: Program) -> Iterator[Proposal]:
    """Standard sends at each call path of synchronous ones."""
    messages = program.messages
    synchronous = (messages.sender_waits > 0) & ~program.costs(messages.bytes).rendezvous
    synchronous &= program.inside[messages.send_call]
    for callpath in dict.fromkeys(program.callpath[messages.send_call[synchronous]].tolist()):
        here = synchronous & (program.callpath[messages.send_call] == callpath)
        yield Proposal(
            kind=KIND,
            callpath=callpath,
            at_fault=frozenset(program.sender[here].tolist()),
            change=Transformation(sent=np.where(here, EAGER, 0).astype(np.uint8)),
            numbers=(
                Sum("messages", int(here.sum()), "count"),
                Number("mean_size", float(messages.bytes[here].mean()), "B"),
            ),
            confidence=MEDIUM,
            certainty="sends that wait for their receives are measured; whether the program relies on it is not known",
        )
