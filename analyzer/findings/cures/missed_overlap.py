"""Missed overlap: work follows a wait for transfers that could run behind that work.

Cure: the work before the wait (between the start of the transfers and their completion). It applies to waits in a row
for nonblocking receives, or for members of nonblocking collective operations, with code behind the row. In the graph
that code is before the row, at every step and rank of the place: a wait that moves in the source moves for all. A
message whose handshake only a call can answer is not in flight during the work.

Of what the calls that complete an operation do themselves, half remains: whether the library does an operation's work
outside of calls (asynchronous progress) is not known. At the ends of the gain all of it is done there, or nothing.

Where an estimated machine only bounds what a transfer costs, all of a message's duration is; but where ranks have no
core at times, it contains scheduling, which no overlap hides, and nothing is stated.

Waits in which a late rank or a queue costs more than the transfers do have that cause, but where the late rank waits
for those that wait for it, too: then the work behind their wait is what it waits for. They wait as much on any machine
whose code varies, so that only more than `NOISE` is stated. Which part of the work needs the data is not known: of two
halves, one can always be done while the other one's transfers are in flight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.code import with_code
from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, NOISE, Finding, Number, Sum
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.categories import WAITING
from logpost.replay.columns import Int32, Int64

KIND = "missed_overlap"
TRANSFER = ("latency", "serialization")
"""What continues without the processor."""
OPERATION = ("collective_wait", "collective")
"""Likewise of a nonblocking collective operation."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    divided = evidence.divides(*TRANSFER)
    if evidence.scheduled() and not divided:
        return ()
    places = _transfers_cost_most(evidence)
    found = offered(evidence, lambda program: propose(program, places, divided), of_messages=False)
    return (with_code(evidence, one) for one in found)


def _transfers_cost_most(evidence: Evidence) -> set[int]:
    """Call paths where no category costs more than the transfers, or the members of an operation."""
    transfer = evidence.maybe((*TRANSFER, *OPERATION))
    other = [one for one in (*WAITING, "residual") if one not in transfer]
    rows = evidence.exposure.group_by("callpath", "category").agg(wide_sum("exposed_ps"))
    sums = rows.group_by("callpath").agg(
        transfer=pl.col("exposed_ps").filter(pl.col("category").is_in(transfer)).sum(),
        most=pl.col("exposed_ps").filter(pl.col("category").is_in(other)).max().fill_null(0),
    )
    return set(sums.filter(pl.col("transfer") > 0, pl.col("transfer") >= pl.col("most"))["callpath"].to_list())


def propose(program: Program, places: set[int], divided: bool = True) -> Iterator[Proposal]:
    """The work before the waits of each call path. `divided`: the machine states what a transfer costs."""
    rows: dict[int, list[list[int]]] = {}
    for row in _rows(program):
        rows.setdefault(int(program.callpath[row[0]]), []).append(row)
    for here in rows.values():
        calls = [call for row in here for call in row]
        paths = program.callpath[calls]
        costly = bool(places & set(paths.tolist()))
        if not costly and not _waited_for(program, calls):
            continue
        first = np.array([row[0] for row in here])
        behind = np.array([row[-1] + 1 for row in here])
        longer = column(program.count, 0)
        np.subtract.at(longer, behind, program.gap_ps[behind])
        np.add.at(longer, first, program.gap_ps[behind])
        length = program.leave_ps - program.enter_ps
        lost = np.bincount(paths, weights=length[calls])
        works = np.array([call for call in calls if program.ends_operation[call]], dtype=np.int64)
        outside = Transformation(longer_ps=longer)
        if not divided:
            outside = _in_flight(program, calls, outside)
        yield Proposal(
            kind=KIND,
            callpath=int(np.argmax(lost)),
            at_fault=frozenset(program.location[first].tolist()),
            change=_done_inside(program, outside, works, 0.5),
            rests_on=OPERATION if len(works) == len(calls) else TRANSFER,
            other_ends=(outside, _done_inside(program, outside, works, 1.0)) if len(works) else (),
            beyond=NOISE if not costly else None if len(works) == len(calls) else 0.0,
            numbers=(
                Sum("waits", len(here), "count"),
                Number("of_operations", float(program.ends_operation[calls].mean()), "1"),
                Number("mean_wait", float(length[calls].sum() / len(here)), "ps"),
                Number("mean_work_behind_it", float(program.gap_ps[behind].mean()), "ps"),
            ),
            confidence=MEDIUM,
            certainty="waits and the work behind them are measured; whether that work needs the data is not known",
        )


def _done_inside(program: Program, change: Transformation, works: Int64, part: float) -> Transformation:
    """With this part of an operation's work in the call that completes it."""
    inside = np.rint(part * program.own_ps[works]).astype(np.int64)
    return replace(change, edges=((2 * works, 2 * works + 1, inside),))


def _waited_for(program: Program, calls: list[int]) -> bool:
    """Whether the ranks that are waited for in these calls wait as long for messages of those that wait, for the most
    part."""
    messages = program.messages
    lasts = np.maximum(0, program.enter_ps[messages.send_call] - program.enter_ps[messages.received_call])
    # By pair that exchanges messages: a square of all ranks is 80 GB for 100,000 of them.
    pairs, pair_of = np.unique(_pair(program, program.receiver, program.sender), return_inverse=True)
    waits = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(waits, pair_of, lasts)
    here = np.isin(messages.received_call, calls) & (lasts > 0)
    reverse = _pair(program, program.sender[here], program.receiver[here])
    at = np.minimum(np.searchsorted(pairs, reverse), len(pairs) - 1)
    there, back = waits[pair_of[here]], np.where(pairs[at] == reverse, waits[at], 0)
    return bool((lasts[here] * np.minimum(1.0, back / there)).sum() > MAINLY * lasts[here].sum())


def _pair(program: Program, first: Int32, second: Int32) -> Int64:
    """The number of a pair of locations."""
    return first.astype(np.int64) * program.location_count + second


def _in_flight(program: Program, calls: list[int], change: Transformation) -> Transformation:
    """With the messages that these calls complete in flight until then: beyond the model, nothing is of processors."""
    messages = program.messages
    here = np.isin(messages.received_call, calls)
    takes = program.leave_ps[messages.received_call] - program.enter_ps[messages.send_call]
    more = np.maximum(0, takes - np.nan_to_num(program.costs(messages.bytes).total).astype(np.int64))
    return replace(change, as_modelled=here.astype(np.uint8), more_latency_ps=np.where(here, more, 0))


def _rows(program: Program) -> Iterator[list[int]]:
    """Waits in a row with code behind them, of which one completes a nonblocking receive or operation."""
    waits = program.is_kind("wait", "wait_multi")
    messages = program.messages
    alone = (messages.handshake == 0) | program.recorded.asynchronous_progress
    posted = alone & (messages.post_call != messages.received_call)
    needs = program.ends_operation.copy()
    needs[messages.received_call[posted]] = True
    longest = program.empty_message_ps
    for calls in program.calls_of.values():
        row: list[int] = []
        needed = False
        columns = (program.gap_ps, waits, needs)
        for call, code, waiting, needing in zip(calls.tolist(), *(one[calls].tolist() for one in columns), strict=True):
            if row and not (waiting and code <= longest):
                if code > 0 and needed:
                    yield row
                row, needed = [], False
            if waiting:
                row.append(call)
                needed = needed or needing
