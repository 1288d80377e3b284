"""A barrier that could be left out: it moves no data, and the ranks wait in it for the slowest one of each step.

Cure: leave it out. In the graph its calls last nothing and wait for none. It applies to a barrier that is called often
enough to be a pattern, to which no rank is mostly the last, and on whose order no one-sided transfer may rely.

The duration of code varies on every machine, which a barrier turns into waiting; what it costs by that, and by its own
rounds, is no more than `NOISE`, and nothing is stated below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, NOISE, Finding, Number
from logpost.replay.columns import Int64

KIND = "needless_barrier"
MAINLY = 0.5
"""Of the steps: where one rank is the last more often, that one is slow."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    if not evidence.tables["transfers"].head(1).collect().is_empty():
        return []
    return (one for one in offered(evidence, propose, of_messages=False) if one.gain > NOISE)


def propose(program: Program) -> Iterator[Proposal]:
    """The program without each barrier."""
    barriers = program.is_kind("barrier") & program.inside
    for path in np.unique(program.callpath[barriers]).tolist():
        here = barriers & (program.callpath == path)
        locations = np.unique(program.location[here])
        if here.sum() < MIN_SAMPLES * len(locations):
            continue
        if _last_share(program, np.flatnonzero(here)) > MAINLY:
            continue
        lasts = column(program.count)
        lasts[here] = 0
        yield Proposal(
            kind=KIND,
            callpath=path,
            at_fault=frozenset(locations.tolist()),
            change=Transformation(lasts_ps=lasts),
            numbers=(Number("barriers", float(here.sum() / len(locations)), "count"),),
            confidence=MEDIUM,
            certainty="the waiting is measured; whether anything relies on the order that the barrier makes is not "
            "known",
        )


def _last_share(program: Program, calls: Int64) -> float:
    """Of the barriers at a call path, how many the rank enters last that does so most often."""
    enters = [program.enter_ps[calls[program.location[calls] == one]] for one in np.unique(program.location[calls])]
    least = min(map(len, enters))
    last = np.argmax(np.array([times[:least] for times in enters]), axis=0)
    return float(np.bincount(last).max() / least)
