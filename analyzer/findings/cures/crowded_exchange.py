"""Ranks that crowd at one receiver, which moves from rank to rank: their order of communication is to blame. EM3D's
original communication phase is the classic case (LoGPC, section 5.3).

It applies where senders choose a busy receiver far more often than senders that ignore each other do (`crowding`), at
receivers that get no more than the others: an overloaded one is hot in any order (`spread_load`). Rows of sends without
a wait between them can be replayed in another order (`destination_order`). Here each send waits for others, and the
recorded order says nothing of another one's waits: the rank behind in its list receives late, too, and enters late the
next. Cure: the best order there could be, in which no message of the exchange is waited for: in the graph its calls
last as long as they work. At the other end of the gain, messages are waited for as they were, and only the waits for
busy receivers are gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from logpost.analyzer.findings.cures.destination_order import rows_by_place
from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Flags, Program, Transformation
from logpost.analyzer.findings.cures.spread_load import loads_of
from logpost.analyzer.findings.evidence.crowding import Crowding, crowding
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, Finding, Number, Sum
from logpost.analyzer.words.categories import WAITING, WAITS_AT_RECEIVER

KIND = "destination_order"
LEAST_CROWDING = 1.5
"""Half as many meetings again as senders that ignore each other have. A random order is at 1 by construction, and four
ranks in lockstep, each with three receivers, reach no more than 3: the threshold is well between these two."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    if not evidence.worth_a_look(WAITS_AT_RECEIVER):
        return ()
    measured = crowding(evidence.tables["messages"], evidence.pairs)
    if measured is None or measured.judged < MIN_SAMPLES:
        return ()
    if measured.ratio - 2 * measured.standard_error < LEAST_CROWDING:
        return ()
    return offered(evidence, partial(propose, measured), of_messages=False)


def propose(measured: Crowding, program: Program) -> Iterator[Proposal]:
    """The best order of all sends at call paths of messages to crowded receivers."""
    messages = program.messages
    loads = loads_of(program)
    crowded = [at for at, ratio in measured.by_receiver().items() if ratio >= LEAST_CROWDING and at not in loads.hot]
    to_them = np.isin(program.receiver, crowded) & (program.sender != program.receiver)
    places = set(program.callpath[messages.send_call[to_them]].tolist()) - set(rows_by_place(program))
    rows = np.isin(program.callpath[messages.send_call], list(places)) & ~np.isin(program.receiver, list(loads.hot))
    if not rows.any():
        return
    calls = np.zeros(program.count, dtype=np.bool_)
    for ends in (messages.send_call, messages.sent_call, messages.received_call):
        calls[ends[rows & (ends >= 0)]] = True
    best = _without(program, calls, WAITING)
    saved = program.saved_at(best)
    if not saved:
        return
    yield Proposal(
        kind=KIND,
        callpath=max(saved, key=lambda place: saved[place])[1],
        at_fault=frozenset(program.sender[rows].tolist()),
        change=best,
        other_ends=(_without(program, calls, WAITS_AT_RECEIVER),),
        numbers=(
            Number("crowding", measured.ratio, "x"),
            Number("crowding_standard_error", measured.standard_error, "x"),
            Sum("messages_judged", measured.judged, "count"),
            Sum("messages", int(rows.sum()), "count"),
            Number("mean_size", float(messages.bytes[rows].mean()), "B"),
        ),
        confidence=MEDIUM,
        certainty="send times are measured; what the best order saves is a bound",
        rests_on=WAITS_AT_RECEIVER,
    )


def _without(program: Program, calls: Flags, waits: Iterable[str]) -> Transformation:
    """These calls last as long as they do anything but wait for one of these reasons."""
    lasts = column(program.count)
    lasts[calls] = (program.leave_ps - program.enter_ps - program.spent_ps(*waits))[calls]
    return Transformation(lasts_ps=lasts)
