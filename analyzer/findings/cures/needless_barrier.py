"""A barrier that could be left out: it moves no data, and the ranks wait in it for the slowest one of each step.

Cure: leave it out. In the graph its calls last nothing and wait for none. It applies to a barrier that is called often
enough to be a pattern, and on whose order no one-sided transfer may rely. One that the same rank enters last most times
is that rank's matter, but where the barrier empties a pipeline in each step, whose end that rank is.

The duration of code varies on every machine. What a barrier makes of that, waiting for the slowest rank of each step,
is a cost of the barrier, as its own rounds are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.cures.wavefront import LEAST_DEPTH, depths
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, Finding, Number
from logpost.replay.columns import Int64

KIND = "needless_barrier"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    if not evidence.tables["transfers"].head(1).collect().is_empty():
        return []
    return offered(evidence, propose, of_messages=False)


def propose(program: Program) -> Iterator[Proposal]:
    """The program without each barrier."""
    barriers = program.is_kind("barrier") & program.inside
    for path in np.unique(program.callpath[barriers]).tolist():
        here = barriers & (program.callpath == path)
        locations = np.unique(program.location[here])
        if here.sum() < MIN_SAMPLES * len(locations):
            continue
        last = _mostly_last(program, np.flatnonzero(here))
        if last is not None and not _ends_pipeline(program, last):
            continue
        lasts = column(program.count)
        lasts[here] = 0
        yield Proposal(
            kind=KIND,
            callpath=path,
            at_fault=frozenset(locations.tolist()),
            change=Transformation(lasts_ps=lasts),
            numbers=(
                Number("barriers", float(here.sum() / len(locations)), "count"),
                *([] if last is None else [Number("empties_pipeline", 1.0, "1")]),
            ),
            confidence=MEDIUM,
            beyond=0.0,
            certainty="the waiting is measured; whether anything relies on the order that the barrier makes is not "
            "known",
        )


def _mostly_last(program: Program, calls: Int64) -> int | None:
    """The location that enters most of these barriers last; None: none does."""
    locations = np.unique(program.location[calls])
    each = [calls[program.location[calls] == one] for one in locations]
    least = min(map(len, each))
    last = np.argmax(np.array([program.enter_ps[some[:least]] for some in each]), axis=0)
    most = int(np.bincount(last).argmax())
    return int(locations[most]) if (last == most).sum() > least / 2 else None


def _ends_pipeline(program: Program, location: int) -> bool:
    """Whether during most of what a location waits for messages, ranks before it compute one after the other."""
    messages = program.messages
    waits = np.maximum(0, program.enter_ps[messages.send_call] - program.enter_ps[messages.received_call])
    waits[program.receiver != location] = 0
    deep, _ = depths(program)
    return bool(waits[deep >= LEAST_DEPTH].sum() > waits.sum() / 2)
