"""What a cure offers, as findings: each proposal is replayed, and stated where it saves what a reader could check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.program import Program, Rows, Transformation
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, MIN_SHARE, Finding, Number, sums_at_locations, worst_hit
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.sample import Sample, SampleWindows
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.categories import WAITING
from logpost.errors import InputError
from logpost.replay.columns import Int64

MOST_CALLS = 200_000
"""Calls of a program whose cures are replayed: a replay of so many lasts 40 ms, all cures 3 s."""
FEWER = 2
"""Times by which a sample has fewer calls where its windows are alike: of 20 million events, all cures last 0.42 to
0.46 of the rest of the analysis then, else 0.66 to 0.71. Those of a program that polls and has few operations of all
ranks are not alike."""
VALUE = 16
"""Bytes of the largest predefined type of C that is one number (MPI_LONG_DOUBLE; MPI 4.1, table 3.2)."""
WINDOWS = (10, 6, 3)
"""Of a longer program, that are a sample: three deviate with two degrees of freedom, the fewest that have a quantile,
and beyond nine it hardly changes (`gain_interval.STUDENT`)."""


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
    rests_on: tuple[str, ...] = ()
    """categories whose time the cause is read from"""
    callpaths: frozenset[int] = frozenset()
    """all places, of several"""
    other_ends: tuple[Transformation, ...] = ()
    """the same at the other ends of what the trace leaves open"""
    beyond: float | None = None
    """it divides work anew: not stated where the gain's interval begins at that, or below; None: in any case"""


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
        others = self.proposal.other_ends
        changes = (self.proposal.change, *others) if others else ()
        found = [self.program.gain(change) for change in changes]
        return [*(max(0.0, gain) for gain in found), *self.at_ends_of_machine()]

    def at_ends_of_machine(self) -> list[float]:
        """The same at the ends of the machine's values alone."""
        return [max(0.0, program.gain(self.proposal.change)) for program in self.ends_of_machine()]


@dataclass(frozen=True)
class TriedCure:
    """A cure that was replayed, without the columns of its transformation."""

    kind: str
    callpath: int
    at_fault: frozenset[int]
    """locations"""
    gain: float
    """fraction of the longest program; negative: it lasts so much longer"""

    @classmethod
    def of(cls, cure: ReplayedCure) -> TriedCure:
        """What remains of it."""
        one = cure.proposal
        return cls(one.kind, one.callpath, one.at_fault, cure.program.gain(one.change))


def offered(
    evidence: Evidence,
    propose: Callable[[Program], Iterable[Proposal]],
    *,
    of_messages: bool = True,
    removes_messages: bool = False,
) -> Iterator[Finding]:
    """Findings of a cure's proposals.

    Arguments:
        evidence: of the run.
        propose: the cure.
        of_messages: it rests on what the machine says of messages.
        removes_messages: of that, it rests on bounds alone: messages that are gone take nothing, whatever of. Where the
            machine is only bounded, it is stated if it saves enough at every bound.
    """
    program = program_of(evidence)
    if program is None:
        return
    known = program.knows_bytes or (removes_messages and not program.as_measured)
    if of_messages and not (known and program.messages.count):
        return
    for proposal in propose(program):
        cure = ReplayedCure(program, proposal, lambda: ends_of(evidence))
        evidence.tried.append(TriedCure.of(cure))
        gain = cure.gain()
        least = gain if program.knows_bytes or not of_messages else min([gain, *cure.at_ends_of_machine()])
        if least >= MIN_SHARE:
            yield _finding(evidence, cure, gain)


@once
def program_of(evidence: Evidence) -> Program | None:
    """The run's program, or a sample of it; None: there is nothing to replay it with.

    Where no value of a machine is known, or they contradict the trace, messages take what they did: also where a named
    machine is so much slower that its servers serve in another order than the trace shows. Values that are only bounded
    are what messages cost at least: beyond that, they keep their durations.
    """
    program = _read(evidence)
    if program is None:
        return None
    try:
        low = program.at_low_end if program.bounded else None
    except InputError:  # there, messages contradict each other
        low = None
    try:
        built = low or program.build()
        return built if built.repeats else built.as_recorded()
    except InputError:  # the recorded order contradicts itself
        return None


@once
def _read(evidence: Evidence) -> Program | None:
    """Without its graph."""
    run = evidence.run
    if run is None:
        return None
    whole = evidence.tables["calls"].select(pl.len()).collect().item() <= MOST_CALLS
    machine = run.manifest.machine
    known = not machine.contradicts_messages and any(
        value.value > 0 or (value.high or 0.0) > 0 for value in machine.values
    )
    try:
        return Program(run if whole else _sampled(run), as_measured=not known, bounded=not evidence.divides("latency"))
    except InputError:  # the tables contradict each other
        return None


def _sampled(run: Run) -> Sample:
    """The most windows that cut less of the ranks' time than can be stated, if need be where all ranks meet: calls that
    are cut keep it. Else the first part."""
    windows = SampleWindows(run)
    tried = [windows.of(most, count) for most, count in product((MOST_CALLS // FEWER, MOST_CALLS), WINDOWS)]
    tried = [some for one in tried for some in (one, windows.at_meetings(*one)) if some is not None]
    uncut = (some for some, cut in zip(tried, windows.cut_shares(tried), strict=True) if cut < MIN_SHARE)
    return Sample(run, *next(uncut, windows.of(MOST_CALLS, 1)))


@once
def ends_of(evidence: Evidence) -> tuple[Program, ...]:
    """The program at the ends of its machine's values: low, high; without an end that contradicts the recorded times:
    calls would last longer than they did, of clocks that are coarser than latencies."""
    program = _read(evidence)
    try:
        ends = () if program is None else tuple(program.at_ends())
    except InputError:  # at an end, messages contradict each other
        return ()
    return tuple(one for one in ends if not one.contradicts_times)


def _finding(evidence: Evidence, cure: ReplayedCure, gain: float) -> Finding:
    proposal, program = cure.proposal, cure.program
    saved = program.saved_at(proposal.change)
    lost = sums_at_locations(saved if program.whole else _of_whole(evidence, program, saved))
    first, last = evidence.active_windows(WAITING, lost)
    stated = program.stated(proposal.certainty)
    longer = program.times_longer(sum(evidence.program_ps.values()))
    confidence, certainty = evidence.confidence(proposal.confidence, stated, proposal.rests_on)
    return Finding(
        kind=proposal.kind,
        named=evidence.named(sorted(proposal.at_fault)),
        region=evidence.region(proposal.callpath),
        cause_region=evidence.region(evidence.parent(proposal.callpath)),
        evidence=proposal.numbers if program.whole else tuple(one.of_whole(longer) for one in proposal.numbers),
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


def _of_whole(
    evidence: Evidence, program: Program, saved: dict[tuple[int, int], float]
) -> dict[tuple[int, int], float]:
    """What a sample saves at each (location, call path), as many times as the program is longer; no more than the
    program's calls there last."""
    longer = program.times_longer(sum(evidence.program_ps.values()))
    rows = evidence.exposure.filter(pl.col("category") != "compute").group_by("location", "callpath")
    lasts = {(at, path): time for at, path, time in rows.agg(wide_sum("exposed_ps")).iter_rows()}
    return {place: max(time, min(time * longer, lasts.get(place, 0))) for place, time in saved.items()}


def in_one(proposal: Proposal, largest: int, *, known: bool) -> Iterator[Proposal]:
    """A cure whose one message, transfer or operation has the bytes of several, the largest of so many bytes.

    Where it is not known what a byte costs, bytes may cost all of their duration, so that nothing may be saved. Offered
    are single values only, whose bytes cost nearly nothing.
    """
    cost = "modelled" if known else "not known"
    certainty = f"{proposal.certainty}; what the one with all of their bytes costs is {cost}"
    if known:
        yield replace(proposal, certainty=certainty)
    elif largest <= VALUE:
        ends = (*proposal.other_ends, Transformation())
        yield replace(proposal, other_ends=ends, confidence=LOW, certainty=certainty)


def by_callpath(program: Program, calls: Rows) -> dict[int, Rows]:
    """Calls by their call path."""
    paths = program.callpath[calls]
    return {path: calls[paths == path] for path in dict.fromkeys(paths.tolist())}


def column(count: int, otherwise: int = -1) -> Int64:
    """A column in which nothing differs."""
    return np.full(count, otherwise, dtype=np.int64)
