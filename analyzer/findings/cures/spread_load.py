"""A hot receiver: one rank gets more than twice what the others get on average, from several of them.

With a service time that an even load uses half, twice the load saturates a receiver (LoGPC's remark on hot spots in
EM3D). Where one sender has more than half of the load, this is the exchange of a pair: none other queues there.

Cure: its messages are spread over all ranks, so that it gets as much as the mean. In the graph a message that is sent
elsewhere arrives at the NIC of another rank, which has posted its receive where it sends its own message to the hot
one, and completes it where it completes that send; its processor handles the message behind that call. The hot one
still waits until such a message could be there on an idle machine: what it does next may need what others made of it.
An order in which all turn to one receiver after the other is `destination_order`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number, Sum
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.replay.columns import Float64, Int64

KIND = "hot_receiver"
EXCESS = 2.0
"""Times the mean load of the others: LoGPC's remark on hot spots."""
LEAST = 2
"""Ranks of which none is one of several receivers."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for each hot receiver."""
    return offered(evidence, propose)


@dataclass(frozen=True)
class Loads:
    """What receivers are busy with; ps."""

    each: Float64
    """by message: of its receiver's NIC and processor"""
    handling: Int64
    """by message: of the processor"""
    mean: float
    """by location"""
    hot: Mapping[int, float]
    """hot location to its load"""


@once
def loads_of(program: Program) -> Loads:
    """The loads by the machine's values."""
    locations = np.array(list(program.calls_of))
    costs = program.costs(program.messages.bytes)
    handling = np.rint(costs.o_r).astype(np.int64) + program.measured("middleware") // 2
    each = np.where(program.sender != program.receiver, costs.service + handling, 0.0)
    loads = np.bincount(program.receiver, weights=each, minlength=int(locations.max()) + 1)[locations]
    hot: dict[int, float] = {}
    for place in np.flatnonzero(loads * (len(loads) - 1) > EXCESS * (loads.sum() - loads)).tolist():
        rows = program.receiver == locations[place]
        of_senders = np.bincount(program.sender[rows], weights=each[rows])
        if len(loads) > LEAST and of_senders.max() <= MAINLY * loads[place]:
            hot[int(locations[place])] = float(loads[place])
    return Loads(each, handling, float(loads.mean()), hot)


def propose(program: Program) -> Iterator[Proposal]:
    """Spreads what each hot receiver gets."""
    loads = loads_of(program)
    ranks = len(program.calls_of)
    for hot, load in loads.hot.items():
        rows = np.flatnonzero(program.receiver == hot)
        others = (ranks * loads.mean - load) / (ranks - 1)
        yield Proposal(
            kind=KIND,
            callpath=_waited_at(program, rows),
            at_fault=frozenset({hot}),
            change=_spread(program, rows, loads),
            numbers=(
                Number("load_over_others", load / others if others > 0 else float(ranks), "x"),
                Sum("messages_received", len(rows), "count"),
                Number("bytes_received", int(program.messages.bytes[rows].sum()), "B"),
                Sum("in_service", load, "ps"),
                Sum("others_in_service_on_average", others, "ps"),
            ),
            confidence=MEDIUM,
            certainty="loads are measured; whether other ranks can get these messages instead is not known",
        )


def _waited_at(program: Program, rows: Int64) -> int:
    """The call path at which most is waited for these messages, by either side."""
    calls = np.concatenate([program.messages.received_call[rows], program.messages.sent_call[rows]])
    calls = np.unique(calls[calls >= 0])
    waited = np.maximum(0, program.leave_ps - program.enter_ps - program.own_ps)[calls]
    return int(np.argmax(np.bincount(program.callpath[calls], weights=waited + 1)))


def _spread(program: Program, rows: Int64, loads: Loads) -> Transformation:
    """Each message of a group is for the rank that has got least until then, of those that send as many; the hot one
    gets no more than the mean."""
    messages = program.messages
    hot = int(program.receiver[rows[0]])
    rows = rows[np.argsort(messages.send_call[rows], kind="stable")]

    arrives, received_by, posted_by = (column(messages.count) for _ in range(3))
    arriving = dict(
        zip(zip(program.receiver.tolist(), program.crosses.tolist(), strict=True), range(messages.count), strict=True)
    )
    handled, longer = column(messages.count, 0), column(program.count, 0)
    at: dict[int, dict[int, list[int]]] = {}
    for message, group in zip(rows.tolist(), _groups(program, rows).tolist(), strict=True):
        at.setdefault(group, {}).setdefault(int(program.sender[message]), []).append(message)
    got: dict[int, float] = dict.fromkeys([hot, *program.sender[rows].tolist()], 0.0)
    first: set[int] = set()
    elsewhere: list[int] = []
    for by_sender in at.values():
        for sender, number, message in _in_rounds(by_sender):
            able = [one for one, own in by_sender.items() if one != sender and number < len(own)]
            able += [hot] if got[hot] < loads.mean or not able else []
            to = min(able, key=lambda one: got[one])
            got[to] += float(loads.each[message])
            if to == hot:
                continue
            as_its = by_sender[to][number]
            call = int(messages.sent_call[as_its])
            call = call if call >= 0 else int(messages.send_call[as_its])
            elsewhere.append(message)
            like = arriving.get((to, bool(program.node_of[sender] != program.node_of[to])))
            arrives[message] = to if like is None else -2 - like
            received_by[message], posted_by[message] = call, messages.send_call[as_its]
            handled[message] = -loads.handling[message]
            if call in first and call + 1 < program.count and program.follows[call + 1]:
                longer[call + 1] += loads.handling[message]
            first.add(call)
    return Transformation(
        longer_ps=longer,
        arrives_through=arrives,
        received_by=received_by,
        posted_by=posted_by,
        more_handled_ps=handled,
        edges=(
            (
                2 * messages.send_call[elsewhere].astype(np.int64),
                2 * messages.received_call[elsewhere].astype(np.int64) + 1,
                np.rint(np.asarray(program.costs(messages.bytes).total))[elsewhere].astype(np.int64),
            ),
        ),
    )


def _groups(program: Program, rows: Int64) -> Int64:
    """By message, a number of those that the hot rank receives before it sends, or takes part in an operation."""
    other = program.is_operation.copy()
    other[program.messages.send_call] = True
    calls = program.messages.received_call[rows]
    return np.asarray(2 * np.cumsum(other)[calls] - other[calls])


def _in_rounds(by_sender: Mapping[int, list[int]]) -> Iterator[tuple[int, int, int]]:
    """(sender, number, message): the first of each sender, then the second ones."""
    for number in range(max(map(len, by_sender.values()))):
        for sender, own in by_sender.items():
            if number < len(own):
                yield sender, number, own[number]
