"""A barrier that could be left out: it moves no data, and the ranks wait in it for the slowest one of each step.

Cure: leave it out. In the graph its calls last nothing and wait for none. It applies to a barrier that is called often
enough to be a pattern, and on whose order no one-sided transfer may rely. Where the same rank enters it last most
times, the waiting is that rank's matter, and the cure applies if the rounds of the barrier cost more than that and it
orders no messages: none is received between the operation before it and the barrier, those in flight are not ordered;
or if the barrier empties a pipeline in each step, whose end that rank is.

Likewise of an operation in which all wait for a root, behind others in a pipeline, and empty it in each step: called
less often, or complete a step later, it keeps none waiting for that. One rank before the root is enough: the root, for
which all wait, computes behind it. Where the root has more code before it than the others have, as one that computes
for all, that code may be gone as well, which is the other end of the gain.

The duration of code varies on every machine. What a barrier makes of that, waiting for the slowest rank of each step,
is a cost of the barrier, as its own rounds are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.code import code_of
from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Flags, Program, Transformation
from logpost.analyzer.findings.cures.stretches import every_stretch
from logpost.analyzer.findings.cures.wavefront import LEAST_DEPTH, ends_pipeline, last_before
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, Finding, Number, Sum
from logpost.analyzer.run.before_last import FROM_ROOT
from logpost.replay.columns import Int64

KIND, OF_DATA = KINDS = "needless_barrier", "collective_wait"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    if not evidence.tables["transfers"].head(1).collect().is_empty():
        return []
    return (_named(evidence, found) for found in offered(evidence, partial(propose, evidence), of_messages=False))


def _named(evidence: Evidence, found: Finding) -> Finding:
    """The finding of a root's operations with the code that all wait for."""
    program = found.replayed.program
    root = _root(program, np.flatnonzero(program.callpath == found.callpath)) if found.kind == OF_DATA else None
    place = next((one for one in every_stretch(program) if one.callpath == found.callpath), None)
    if root is None or place is None or root not in place.locations:
        return found
    code = code_of(evidence, program, place.at(root))
    return replace(found, cause_region=code.name, evidence=(*found.evidence, *code.samples))


def propose(evidence: Evidence, program: Program) -> Iterator[Proposal]:
    """The program without each barrier, or operation from a root that empties a pipeline."""
    barriers = program.is_kind("barrier")
    operations = (barriers | (program.is_operation & ~program.ends_operation)) & program.inside
    received = _received(program)
    for path in np.unique(program.callpath[operations]).tolist():
        here = operations & (program.callpath == path)
        locations = np.unique(program.location[here])
        if here.sum() < MIN_SAMPLES * len(locations):
            continue
        calls = np.flatnonzero(here)
        is_barrier = bool(barriers[here].all())
        last = (mostly_last if is_barrier else _root)(program, calls)
        empties = last is not None and ends_pipeline(program, last, LEAST_DEPTH if is_barrier else LEAST_DEPTH - 1)
        waits = program.own_ps[here].sum() < program.spent_ps("collective_wait")[here].sum()
        orders = received[here].sum() > len(locations)  # more than what is before the first one
        if not empties and (not is_barrier or (last is not None and (waits or orders))):
            continue
        lasts = column(program.count)
        lasts[here] = 0
        without = Transformation(lasts_ps=lasts)
        yield Proposal(
            kind=KIND if is_barrier else OF_DATA,
            callpath=path,
            at_fault=frozenset(locations.tolist()),
            change=without,
            other_ends=()
            if last is None or is_barrier
            else (replace(without, longer_ps=_as_others(program, here, last)),),
            numbers=(
                Sum("operations", float(here.sum() / len(locations)), "count"),
                *([Number("empties_pipeline", 1.0, "1")] if empties else []),
                *([] if last is None else evidence.rank_numbers("last_rank", [last])),
            ),
            confidence=MEDIUM,
            beyond=0.0,
            certainty="the waiting is measured; whether anything relies on the order that the operation makes is not "
            "known",
        )


def _received(program: Program) -> Flags:
    """By call: whether its rank has received a message since the operation before it."""
    receives = np.zeros(program.count, dtype=np.int64)
    receives[program.messages.received_call[program.messages.received_call >= 0]] = 1
    before = np.cumsum(receives)
    since = last_before(program, program.is_operation)
    first = np.maximum.accumulate(np.where(program.follows, 0, np.arange(program.count)))
    return np.asarray(before > np.where(since >= 0, before[since], before[first] - receives[first]))


def _as_others(program: Program, here: Flags, last: int) -> Int64:
    """By call: how much longer the code before it is, if the last location has no more before these than the others."""
    longer = column(program.count, 0)
    mine = here & (program.location == last)
    longer[mine] = np.minimum(0, round(program.gap_ps[here & ~mine].mean()) - program.gap_ps[mine])
    return longer


def _root(program: Program, calls: Int64) -> int | None:
    """The location that hands out data in all of these operations; None: there is no such one."""
    members = program.facts("communicators").select("comm", root_location="members").collect()
    rows = program.operations.filter(
        pl.col("call").is_in(pl.Series(calls.astype(np.int32)).implode()), pl.col("operation").is_in(FROM_ROOT)
    )
    roots = rows.join(members, on="comm").select(pl.col("root_location").list.get(pl.col("root"), null_on_oob=True))
    found = roots.to_series().drop_nulls().unique().to_list()
    return found[0] if len(found) == 1 else None


def mostly_last(program: Program, calls: Int64) -> int | None:
    """The location that enters most of these operations last; None: none does."""
    locations = np.unique(program.location[calls])
    each = [calls[program.location[calls] == one] for one in locations]
    least = min(map(len, each))
    last = np.argmax(np.array([program.enter_ps[some[:least]] for some in each]), axis=0)
    most = int(np.bincount(last).argmax())
    return int(locations[most]) if (last == most).sum() > least / 2 else None
