"""Waits of one-sided communication for one other process: what had to happen before memory could be accessed.

* **Late post**: an origin waits, in MPI_Win_start or a later call of its access, until the target has posted.
* **Late complete**: a target waits in MPI_Win_wait until the last origin has entered MPI_Win_complete.
* **Late put**: a process waits for a change of its memory (shmem_wait_until) that no other one has made yet.
* **Lock contention**: an origin waits for a lock of memory that others hold.
* **Unattended target**: a transfer needs the processor of a target that is outside of calls.

Which process is waited for is a fact of the table `epochs` (of a put and a lock: the last transfer before the wait's
end, and the holder that released last, docs/split.md), of an unattended target the transfer's own.

Cures: the code directly before a post, a completion or puts in a row is behind them, as far as it delays the others:
whole regions where these are known (`late_receiver`). Locks are spread, so that each is granted when its request is
there: that gain is stated. At its other ends none is needed (atomic operations), and the locks' calls last nothing; or
locks are held for their transfers only, with the code within behind the release. Targets serve transfers at once: in
the graph, a call that waits for a target's processor lasts as long as it did without that.

The doubt: which part of the code needs what it precedes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.late_receiver import ways_behind
from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import AS_RECORDED, Program, Rows, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SAMPLES, Finding, Number, Sum, worst_hit
from logpost.analyzer.findings.wording.facts import HEAVY
from logpost.analyzer.run.wide import wide_sum
from logpost.replay.columns import Int64


@dataclass(frozen=True)
class Pattern:
    """A kind of wait: the epochs that state which process is waited for, the category of its time, and why that is
    known."""

    kind: str
    epochs: tuple[str, ...]
    category: str
    confidence: float
    reason: str


PATTERNS = (
    Pattern("late_post", ("access",), "late_receiver", HIGH, "enter times of the posts are measured"),
    Pattern("late_complete", ("exposure",), "late_sender", HIGH, "enter times of the completions are measured"),
    Pattern("late_put", ("change",), "late_sender", MEDIUM, "the last transfer before the wait's end is taken for it"),
    Pattern(
        "lock_contention",
        ("lock_shared", "lock_exclusive"),
        "lock_wait",
        MEDIUM,
        "locks are taken to be held in the order of their releases",
    ),
    Pattern(
        "unattended_target",
        (),
        "processor_queueing",
        MEDIUM,
        "that the targets were outside of calls is measured; when the transfers got there is modelled",
    ),
)
KINDS = tuple(pattern.kind for pattern in PATTERNS)


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for each kind of wait."""
    unknown = {"unattended_target"} if evidence.manifest.machine.contradicts_transfers else set()
    for pattern in PATTERNS:
        if evidence.worth_a_look([pattern.category]) and pattern.kind not in unknown:
            found = offered(evidence, partial(propose, evidence, pattern), of_messages=False)
            yield from (_described(evidence, pattern, one) for one in found)


def propose(evidence: Evidence, pattern: Pattern, program: Program) -> Iterator[Proposal]:
    """The kind of wait at all its places."""
    waits = _waits(program, pattern)
    changes = _without(evidence, program, pattern, waits)
    if waits.is_empty() or not changes:
        return
    if pattern.kind != "lock_contention":
        changes.sort(key=program.gain, reverse=True)
    by_late = dict(waits.group_by("late").agg(wide_sum("wait_ps")).sort("late").iter_rows())
    total, most = sum(by_late.values()), max(by_late.values())
    named = [late for late, time in by_late.items() if time >= HEAVY * most]
    exposed = {int(one): float(time) for one, time in _sums(waits, "location").iter_rows()}
    yield Proposal(
        kind=pattern.kind,
        callpath=int(_sums(waits, "callpath")["callpath"][0]),
        at_fault=frozenset(named),
        change=changes[0],
        other_ends=tuple(changes[1:]),
        numbers=(
            *evidence.exposed_numbers(exposed),
            *evidence.rank_numbers("waiting_rank", exposed),
            Sum("waits", waits.height, "count"),
            *evidence.rank_numbers("late_rank", named),
            Number("foremost_late_rank_share", most / total, "1"),
        ),
        confidence=pattern.confidence if waits.height >= MIN_SAMPLES else min(pattern.confidence, MEDIUM),
        certainty=pattern.reason,
    )


def _sums(waits: pl.DataFrame, by: str) -> pl.DataFrame:
    """The waits by a column, the longest first."""
    return waits.group_by(by).agg(wide_sum("wait_ps")).sort("wait_ps", by, descending=[True, False])


def _waits(program: Program, pattern: Pattern) -> pl.DataFrame:
    """(location, callpath, call, late, wait_ps, until_ps): which location waits where, in which call or in one behind
    it, for which one and how long."""
    if pattern.kind == "unattended_target":
        waited = pl.col("complete_leave_ps") - pl.col("complete_enter_ps")
        rows = program.facts("transfers").filter(pl.col("processor_queueing_ps") > 0, pl.col("target") >= 0)
        return (
            rows.select(
                "location",
                callpath="complete_callpath",
                call="complete_call",
                late="target",
                wait_ps=pl.min_horizontal("processor_queueing_ps", waited),
                until_ps="complete_leave_ps",
            )
            .filter(pl.col("wait_ps") > 0, pl.col("call") >= 0)
            .collect()
        )
    rows = program.facts("epochs").filter(pl.col("kind").cast(pl.String).is_in(pattern.epochs))
    found = rows.filter(pl.col("wait_ps") > 0, pl.col("waits_for") >= 0).collect()
    call = found["end_call" if pattern.kind == "late_complete" else "begin_call"]
    found = found.with_columns(call=call, begins_ps=pl.Series(program.enter_ps)[call.clip(0, program.count - 1)])
    return found.filter(pl.col("call") >= 0).select(
        "location", "callpath", "call", "wait_ps", late="waits_for", until_ps=pl.col("begins_ps") + pl.col("wait_ps")
    )


def _without(evidence: Evidence, program: Program, pattern: Pattern, waits: pl.DataFrame) -> list[Transformation]:
    """What the cures make of the program."""
    if pattern.kind == "unattended_target":
        return [Transformation(lasts_ps=_lasts_without(program, pattern, waits["call"].to_numpy()))]
    if pattern.kind == "lock_contention":
        spread = _spread(program)
        return [spread, replace(spread, lasts_ps=_without_locks(program)), _held_shorter(program)]
    calls = pl.DataFrame({"call": _enders(program, pattern)}).unique()
    rows = calls.with_columns(
        late=pl.Series(program.location)[calls["call"]], until_ps=pl.Series(program.enter_ps)[calls["call"]]
    )
    late = waits.join(rows, on=["late", "until_ps"], suffix="_ended").filter(pl.col("wait_ps") > 0)
    ended, late_ps = (late[name].to_numpy().astype(np.int64) for name in ("call_ended", "wait_ps"))
    if not len(ended):
        return []
    first, behind = _rows(program, of_puts=pattern.kind == "late_put")
    ways = ways_behind(evidence, program, first[ended], late_ps)
    return [Transformation(longer_ps=_moved(program, calls, behind[calls], most_ps)) for calls, most_ps in ways]


def _rows(program: Program, *, of_puts: bool) -> tuple[Int64, Int64]:
    """By call: the first one of its row, and the one behind that; -1: none on its location. A row is a call alone, or
    one of puts: calls that wait for no other rank (of data, a fence, of a flag), with no more code in between than an
    empty message takes."""
    waits = (program.own_ps < program.leave_ps - program.enter_ps) | program.is_operation
    joins = program.follows & (program.gap_ps <= program.empty_message_ps) & ~waits
    joins[1:] &= ~waits[:-1]
    joins &= of_puts
    rows = np.arange(program.count)
    (begins,) = np.nonzero(~joins)
    behind = np.append(begins[1:], -1)[np.cumsum(~joins) - 1]
    on_location = (behind >= 0) & program.follows[behind]
    return np.maximum.accumulate(np.where(joins, 0, rows)), np.where(on_location, behind, -1)


def _moved(program: Program, calls: Rows, behind: Int64, most_ps: Int64) -> Int64:
    """By call: how much longer the code before it is, with so much of that before these calls before others."""
    longer = column(program.count, 0)
    some = behind >= 0
    moved = np.minimum(program.gap_ps[calls[some]], most_ps[some])
    np.subtract.at(longer, calls[some], moved)
    np.add.at(longer, behind[some], moved)
    return longer


def _enders(program: Program, pattern: Pattern) -> pl.Series:
    """The calls at whose begin such waits end."""
    if pattern.kind == "late_put":
        return program.facts("transfers").select("call").collect()["call"]
    kind, at = ("exposure", "begin_call") if pattern.kind == "late_post" else ("access", "end_call")
    rows = program.facts("epochs").filter(pl.col("kind").cast(pl.String) == kind, pl.col(at) >= 0)
    return rows.select(call=at).collect()["call"]


def _lasts_without(program: Program, pattern: Pattern, calls: Int64) -> Int64:
    """By call: as long as these last without that category of waiting; -1: others."""
    lasts = column(program.count, AS_RECORDED)
    length = program.leave_ps - program.enter_ps
    lasts[calls] = np.maximum(0, length - program.spent_ps(pattern.category))[calls]
    return lasts


def _locks(program: Program) -> Iterator[tuple[int, int]]:
    """The first and the last call of each lock's epoch."""
    rows = program.facts("epochs").filter(pl.col("kind").cast(pl.String).is_in(["lock_shared", "lock_exclusive"]))
    rows = rows.filter(pl.col("begin_call") >= 0, pl.col("end_call") >= 0)
    return rows.select("begin_call", "end_call").collect().iter_rows()


def _spread(program: Program) -> Transformation:
    """Each lock is granted when its request is there."""
    first = np.array([begin for begin, _ in _locks(program)], dtype=np.int64)
    permitted, lasts = column(program.count, 0), column(program.count, AS_RECORDED)
    permitted[first] = 1
    there_and_back = 2.0 * float(np.nan_to_num(program.costs(0.0).L))
    lasts[first] = np.minimum(program.leave_ps - program.enter_ps, round(there_and_back))[first]
    return Transformation(permitted=permitted.astype(np.uint8), lasts_ps=lasts)


def _without_locks(program: Program) -> Int64:
    """By call: its duration, of calls that take a lock or release it: none."""
    lasts = column(program.count, AS_RECORDED)
    lasts[[call for lock in _locks(program) for call in lock]] = 0
    return lasts


def _held_shorter(program: Program) -> Transformation:
    """The code within locks is behind their releases."""
    longer = column(program.count, 0)
    for first, last in _locks(program):
        if last + 1 < program.count and program.follows[last + 1]:
            longer[first + 1 : last + 1] = -program.gap_ps[first + 1 : last + 1]
            longer[last + 1] += program.gap_ps[first + 1 : last + 1].sum()
    return Transformation(longer_ps=longer)


def _described(evidence: Evidence, pattern: Pattern, found: Finding) -> Finding:
    """The finding with the ranks that wait and the code of the foremost one that they wait for."""
    program, late = found.replayed.program, found.replayed.proposal.at_fault
    waits = _waits(program, pattern)
    foremost = int(_sums(waits, "late")["late"][0])
    exposed = {int(one): float(time) for one, time in _sums(waits, "location").iter_rows()}
    return replace(
        found,
        named=evidence.named(sorted({*exposed, *late})),
        cause_region=evidence.delaying_region(foremost, found.callpath),
        exposed_ps=round(sum(exposed.values())),
        share=min(1.0, worst_hit(exposed, evidence.slowest_program_ps)),
    )
