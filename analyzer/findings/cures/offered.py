"""What a cure offers, as findings: each proposal is replayed, and stated where it saves what a reader could check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.graph import MOST_CALLS
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MIN_SHARE, Finding, Number, worst_hit
from logpost.analyzer.findings.hypothesis import sums_at_locations
from logpost.analyzer.words.categories import WAITING
from logpost.errors import InputError
from logpost.replay.columns import Int64


@dataclass(frozen=True)
class Proposal:
    """A cure at a place, before its replay."""

    kind: str
    callpath: int
    """the place that loses time"""
    at_fault: frozenset[int]
    """locations"""
    change: Transformation
    numbers: tuple[Number, ...]
    confidence: float
    certainty: str
    other_end: Transformation | None = None
    """the same at the other end of what the trace leaves open"""


@dataclass(frozen=True)
class ReplayedCure:
    """The program without a cause, by a transformation of its graph."""

    program: Program
    proposal: Proposal
    ends_of_machine: Callable[[], tuple[Program, ...]]

    def gain(self) -> float:
        """What it saves: fraction of the longest program."""
        return max(0.0, self.program.gain(self.proposal.change))

    def ends(self) -> list[float]:
        """The same at the ends of what is not known: of the machine's values, and of what the trace leaves open."""
        other = self.proposal.other_end
        found = [] if other is None else [self.program.gain(other)]
        found += [program.gain(self.proposal.change) for program in self.ends_of_machine()]
        return [max(0.0, gain) for gain in found]


def offered(
    evidence: Evidence, propose: Callable[[Program], Iterable[Proposal]], *, of_messages: bool = True
) -> Iterator[Finding]:
    """Findings of a cure's proposals; `of_messages`: it rests on what the machine says of messages."""
    program = program_of(evidence)
    if program is None or (of_messages and not (program.messages.count and evidence.divides("latency"))):
        return
    for proposal in propose(program):
        cure = ReplayedCure(program, proposal, lambda: ends_of(evidence))
        gain = cure.gain()
        if gain >= MIN_SHARE:
            yield _finding(evidence, cure, gain)


@once
def program_of(evidence: Evidence) -> Program | None:
    """The run's program; None: it is too long to be replayed as a whole, or there is nothing to replay it with."""
    run = evidence.run
    if run is None or run.manifest.machine.refused:
        return None
    if evidence.tables["calls"].select(pl.len()).collect().item() > (evidence.most_calls or MOST_CALLS):
        return None
    try:
        return Program(run)
    except InputError:  # the recorded order contradicts itself, or the tables do
        return None


@once
def ends_of(evidence: Evidence) -> tuple[Program, ...]:
    """The program at the ends of its machine's values."""
    program = program_of(evidence)
    try:
        return () if program is None else tuple(program.at_ends())
    except InputError:  # at an end, messages contradict each other
        return ()


def _finding(evidence: Evidence, cure: ReplayedCure, gain: float) -> Finding:
    proposal, program = cure.proposal, cure.program
    saved = program.saved_at(proposal.change)
    lost = sums_at_locations(saved)
    first, last = evidence.active_windows(WAITING, lost)
    confidence, certainty = evidence.confidence(proposal.confidence, proposal.certainty)
    return Finding(
        kind=proposal.kind,
        named=evidence.named(sorted(proposal.at_fault)),
        region=evidence.region(proposal.callpath),
        cause_region=evidence.region(evidence.parent(proposal.callpath)),
        evidence=proposal.numbers,
        confidence=confidence,
        certainty=certainty,
        callpath=proposal.callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(sum(lost.values())),
        share=min(1.0, worst_hit(lost, evidence.slowest_program_ps)),
        gain=min(1.0, gain),
        removes=saved,
        replayed=cure,
    )


def by_callpath(program: Program, calls: Iterable[int]) -> dict[int, list[int]]:
    """Calls by their call path."""
    found: dict[int, list[int]] = {}
    for call in calls:
        found.setdefault(int(program.callpath[call]), []).append(call)
    return found


def column(count: int, otherwise: int = -1) -> Int64:
    """A column in which nothing differs."""
    return np.full(count, otherwise, dtype=np.int64)
