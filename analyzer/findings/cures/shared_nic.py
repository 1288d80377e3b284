"""A shared NIC: ranks of one node send to other nodes through one NIC, and wait for each other's messages to leave.

Cure: each rank has a separate NIC, or sends when the others of its node do not. In the graph each node has as many NICs
as ranks, also for the messages of collective operations. An estimated machine that does not distinguish this queue from
other transport says nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number, Sum

KIND = "shared_nic"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    return offered(evidence, partial(propose, evidence)) if evidence.divides("endpoint_contention") else ()


def propose(evidence: Evidence, program: Program) -> Iterator[Proposal]:
    """A NIC for each rank, where several of a node send to other nodes."""
    crosses = program.crosses
    senders = np.unique(program.sender[crosses])
    nodes, sharing = np.unique(program.node_of[senders], return_counts=True)
    shared = np.isin(program.node_of[program.sender], nodes[sharing > 1]) & crosses
    if not shared.any():
        return
    change = Transformation(nics_per_node=int(np.unique(program.locations["node"], return_counts=True)[1].max()))
    saved = program.saved_at(change)
    if not saved:
        return
    queued = program.measured("endpoint_contention")[shared]
    yield Proposal(
        kind=KIND,
        callpath=max(saved, key=lambda place: saved[place])[1],
        at_fault=frozenset(program.sender[shared].tolist()),
        change=change,
        numbers=(
            Number("ranks_share_a_nic", float(sharing.max()), "count"),
            Sum("messages", int(shared.sum()), "count"),
            Number("mean_queue", float(queued.mean()), "ps"),
            *evidence.rank_numbers("waiting_rank", {location for location, _ in saved}),
        ),
        confidence=MEDIUM,
        certainty="send times are measured; the queues follow from the machine's values",
    )
