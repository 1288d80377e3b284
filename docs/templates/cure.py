"""Example: a barrier that moves no data.

Cure: leave it out. In the graph its calls last nothing and wait for none. It applies to every call path of a barrier.
State here what a reader must know to believe the cure: which edges change, the facts by which it applies, the doubt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number

KIND = "example"
"""In `schema.FINDING_KINDS`, `WORDS` of a file in `wording/`."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path; listed in `find.FINDERS`. `offered` replays each proposal and states what saves time."""
    return offered(evidence, propose, of_messages=False)


def propose(program: Program) -> Iterator[Proposal]:
    """The transformation of the graph at each place where the facts allow it; the gain is the replay's."""
    barriers = program.is_kind("barrier") & program.inside
    for path in np.unique(program.callpath[barriers]).tolist():
        here = barriers & (program.callpath == path)
        lasts = column(program.count)
        lasts[here] = 0
        yield Proposal(
            kind=KIND,
            callpath=path,
            at_fault=frozenset(program.location[here].tolist()),
            change=Transformation(lasts_ps=lasts),
            numbers=(Number("barriers", int(here.sum()), "count"),),
            confidence=MEDIUM,
            certainty="the waiting is measured; whether anything relies on the order that the barrier makes is not "
            "known",
        )
