"""Many messages one after the other between the same two ranks, each of which waits for the one before it.

Cure: one message with all of their bytes. It applies to rounds of calls that repeat at the same call paths with less
code in between than a message takes: no work is done with an answer before the next question; or, where each question
is answered at once, with less work than that lasts: it is done behind the one answer. In the graph the first message of
a series carries the bytes of all; the calls of the other rounds vanish, and all replies are given with the code of one.
Its receive is posted by then: a rank that serves questions waits for those of any rank. At the other ends of the gain
it is posted as recorded; each answer has its own code; or each message stays, and all of a series are in flight
together; or another message, or an operation of all ranks, carries their data, and none of them is left. That is the
cure where their receiver waits in them for ranks that compute one after the other: whatever is sent there in each step
empties the pipeline; less often, or received a step later, it keeps none waiting.

Likewise of questions to several ranks, each sent once the one before is answered, with less code in between than a
message takes. Cure: all are sent, and the receives of the replies posted, where the first one is; the ranks reply
concurrently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import NEVER, Flags, Program, Rows, Transformation
from logpost.analyzer.findings.cures.rows import WAITS, rounds
from logpost.analyzer.findings.cures.wavefront import LEAST_DEPTH, ends_pipeline
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number, Sum
from logpost.replay.columns import Int64

KIND = "round_trips"
LEAST = 3
"""Rounds: fewer are an exchange, not a series."""
LONGEST_ROUND = 16
"""Calls of a round that are looked for, and one: among 200,000 calls without any the search lasts 0.7 s, in proportion
to this (`offered.MOST_CALLS`)."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    return offered(evidence, propose, removes_messages=True)


def propose(program: Program) -> Iterator[Proposal]:
    """One message for each series; and the questions to several ranks together."""
    messages = program.messages
    trips = _trips(program)
    block_of = blocks(program, _close(program, trips))
    start, end = block_of[messages.send_call], block_of[messages.received_call]
    inside = np.flatnonzero((start >= 0) & (end >= 0))
    keys = np.stack([start, end, program.callpath[messages.send_call]], axis=1)[inside].tolist()
    series: dict[tuple[int, ...], list[int]] = {}
    for message, key in zip(inside.tolist(), keys, strict=True):
        series.setdefault(tuple(key), []).append(message)
    in_order = (sorted(row, key=lambda message: int(messages.send_call[message])) for row in series.values())
    waits = program.is_kind(*WAITS)
    yield from _of_several(program, block_of)
    long = [row for row in in_order if len(row) >= LEAST and _waits_between(program, row, waits)]
    if not long:
        return
    lost: dict[int, int] = {}
    for row in long:
        for message in row:
            call = int(messages.received_call[message])
            path = int(program.callpath[call])
            lost[path] = lost.get(path, 0) + int(program.leave_ps[call] - program.enter_ps[call])
    count = sum(map(len, long))
    every = [message for row in long for message in row]
    one_message = merged(program, long)
    one_answer = replace(one_message, longer_ps=_one_answer(program, long, trips))
    posted = replace(one_answer, edges=())
    none = left_out(program, every)
    empties = any(ends_pipeline(program, one, LEAST_DEPTH) for one in np.unique(program.receiver[every]).tolist())
    synchronous = (messages.sender_waits[every] > 0) & ~program.costs(messages.bytes[every]).rendezvous
    yield Proposal(
        kind=KIND,
        callpath=max(lost, key=lambda path: lost[path]),
        at_fault=frozenset(program.sender[every].tolist()),
        change=none if empties else posted,
        other_ends=(posted, one_answer, one_message, _together(program, long), none),
        numbers=(
            Sum("messages", count, "count"),
            *([Number("synchronous", float(synchronous.mean()), "1")] if synchronous.any() else []),
            Number("in_a_row", count / len(long), "count"),
            Number("mean_size", float(messages.bytes[every].mean()), "B"),
            *([Number("empties_pipeline", 1.0, "1")] if empties else []),
        ),
        confidence=MEDIUM,
        certainty="messages in a row and the code between them are measured; whether a message needs the answer to the "
        "one before it is not known",
    )


def _of_several(program: Program, block_of: Int64) -> Iterator[Proposal]:
    """Questions to several ranks, each behind the reply to the one before, sent together, at each call path."""
    messages = program.messages
    questions: dict[int, list[int]] = {}
    in_order = np.argsort(messages.send_call, kind="stable")
    block = block_of[messages.send_call[in_order]]
    for message, of in zip(in_order[block >= 0].tolist(), block[block >= 0].tolist(), strict=True):
        questions.setdefault(of, []).append(message)
    at: dict[int, list[list[Answered]]] = {}
    receiver = program.receiver.tolist()
    for in_block in questions.values():
        for row in rounds(in_block, receiver):
            nexts: list[int | None] = [*row[1:], None]
            answered = [Answered(one, _answer(program, one, two)) for one, two in zip(row, nexts, strict=True)]
            if len(row) > 1 and all(one.answer is not None for one in answered[:-1]):
                at.setdefault(int(program.callpath[messages.send_call[row[0]]]), []).append(answered)
    for series in at.values():
        sent_from, posted_by = column(messages.count), column(messages.count)
        for answered in series:
            first = messages.send_call[answered[0].question]
            sent_from[[one.question for one in answered[1:]]] = first
            posted_by[[one.answer for one in answered if one.answer is not None]] = first
        every = [one.question for answered in series for one in answered]
        replies = [one.answer for answered in series for one in answered if one.answer is not None]
        waits_at = program.callpath[messages.received_call[replies]]
        yield Proposal(
            kind=KIND,
            callpath=int(np.bincount(waits_at).argmax()),
            at_fault=frozenset(program.sender[every].tolist()),
            change=Transformation(sent_from=sent_from, posted_by=posted_by),
            numbers=(
                Sum("messages", len(every), "count"),
                Number("several_ranks", len(every) / len(series), "count"),
                Number("mean_size", float(messages.bytes[every].mean()), "B"),
            ),
            confidence=MEDIUM,
            certainty="questions and replies are measured; whether a question needs the answer to the one before it is "
            "not known",
        )


@dataclass(frozen=True)
class Answered:
    """A question and its answer, by message; None: the rank has not waited for one."""

    question: int
    answer: int | None


def _answer(program: Program, question: int, before: int | None) -> int | None:
    """The first message that the rank receives from the question's receiver, behind it and before another
    question; None: there is none."""
    messages = program.messages
    begin = int(messages.send_call[question])
    end = begin + LONGEST_ROUND if before is None else int(messages.send_call[before])
    for call in range(begin + 1, min(end, program.count)):
        if program.location[call] != program.location[begin]:
            break
        for message in program.received_in.get(call, ()):
            if program.sender[message] == program.receiver[question]:
                return message
    return None


def _one_answer(program: Program, series: Sequence[Sequence[int]], trips: Trips) -> Int64:
    """By call: how much longer the code before it is, if all replies of a series are given with the code of one."""
    gone = np.zeros(program.count, dtype=np.bool_)
    gone[program.messages.send_call[[message for row in series for message in row[1:]]]] = True
    longer = column(program.count, 0)
    spared = np.isin(trips.answer, np.flatnonzero(gone))
    for calls in (trips.question[spared], trips.answer[spared]):
        longer[calls] = -program.gap_ps[calls]
    return longer


def _waits_between(program: Program, row: Sequence[int], waits: Flags) -> bool:
    """Whether the sender waits between the first two, and not for other ranks' messages: else its messages leave one
    behind the other, or what it passes on depends on others (`larger_blocks`)."""
    first, second = program.messages.send_call[list(row[:2])].tolist()
    receiver = program.receiver[row[0]]

    def from_others(call: int) -> bool:
        got = program.received_in.get(call, ())
        return bool(got) and all(program.sender[message] != receiver for message in got)

    between = first + 1 + np.flatnonzero(waits[first + 1 : second])
    return bool(program.messages.sender_waits[row[0]]) or not all(map(from_others, between.tolist()))


@dataclass(frozen=True)
class Trips:
    """Questions that are answered at once: the calls that ask, take the answer, take the question and answer."""

    ask: Int64
    take: Int64
    question: Int64
    answer: Int64


def _trips(program: Program) -> Trips:
    """Every one: receiver and sender continue with the answer, with less code before it than an empty message lasts. A
    call that sends as well as receives takes no answer before the next question."""
    messages = program.messages
    both_ways = program.is_kind("send_receive")
    close = program.gap_ps <= program.empty_message_ps
    ask, question = messages.send_call.astype(np.int64), messages.received_call.astype(np.int64)
    take, answer = (np.minimum(calls + 1, program.count - 1) for calls in (ask, question))
    found = np.isin(answer * program.count + take, ask * program.count + question)
    found &= program.follows[take] & program.follows[answer] & close[take] & close[answer]
    found &= ~both_ways[ask] & ~both_ways[take]
    return Trips(ask[found], take[found], question[found], answer[found])


def _close(program: Program, trips: Trips) -> Flags:
    """Calls with little code before them: less than an empty message lasts; or, before a question, less than it and its
    answer last."""
    close = np.asarray(program.gap_ps <= program.empty_message_ps)
    lasts = program.leave_ps[trips.take] - program.enter_ps[trips.ask]
    close[trips.ask[program.gap_ps[trips.ask] <= lasts]] = True
    return close


def blocks(program: Program, close_to_the_one_before: Flags) -> Int64:
    """By call, the number of the stretch that it is in: of its location's calls in which a round of call paths repeats,
    with little code in between; -1: none. A stretch repeats with the shortest period that repeats where it begins."""
    calls = np.concatenate([*program.calls_of.values()])
    paths, close, location = program.callpath[calls], close_to_the_one_before[calls], program.location[calls]
    length = np.zeros(len(calls), dtype=np.int64)
    for period in range(min(LONGEST_ROUND, len(calls)) - 1, 0, -1):
        repeats = (paths[:-period] == paths[period:]) & close[period:] & (location[:-period] == location[period:])
        at = np.arange(len(repeats))
        end = np.minimum.accumulate(np.where(repeats, len(repeats), at)[::-1])[::-1]
        rounds_of = (end - at) // period + 1
        length[: len(at)] = np.where(rounds_of >= LEAST, rounds_of * period, length[: len(at)])
    found = column(program.count)
    last = 0
    begins = np.flatnonzero(length)
    for number, (at, of) in enumerate(zip(begins.tolist(), length[begins].tolist(), strict=True)):
        if at >= last:
            last = at + of
            found[calls[at:last]] = number
    return found


def merged(program: Program, series: Sequence[Sequence[int]], *, sent_last: bool = False) -> Transformation:
    """One message of each series carries the bytes of all, which are packed as they were; calls that had nothing else
    to do last nothing. Where only all bytes together need a handshake, the sender waits until the receive is posted.

    Arguments:
        program: whose messages these are.
        series: messages between the same two ranks, in their order.
        sent_last: the last one of a series sends it, not the first.
    """
    messages = program.messages
    first = np.array([row[0] for row in series], dtype=np.int64)
    begins = np.cumsum([0, *map(len, series)])[:-1]
    every = np.concatenate([np.asarray(row, dtype=np.int64) for row in series])
    size, packing = (np.add.reduceat(each[every], begins) for each in (messages.bytes, program.packing_ps))
    whole, part = (program.costs(of_bytes.astype(np.float64)) for of_bytes in (size, messages.bytes[first]))
    more_latency, more_service, more_received = (column(messages.count, 0) for _ in range(3))
    more_service[first] = np.rint(whole.service - part.service)
    received = whole.serialization - part.serialization + whole.o_r - part.o_r
    more_received[first] = np.rint(received) + (packing - program.packing_ps[first])
    waits = whole.rendezvous & ~part.rendezvous & (messages.sender_waits[first] == 0)
    reply = np.asarray(whole.L_control + whole.o_control)
    more_latency[first] = np.rint(whole.o_s - part.o_s + np.where(waits, 2 * reply, 0.0))
    sends = np.array([row[-1] for row in series], dtype=np.int64) if sent_last else first
    done = np.maximum(messages.send_call[sends], messages.sent_call[sends]).astype(np.int64)[waits]
    ends = (messages.post_call, messages.received_call)
    post, received_call = (2 * calls[first[waits]].astype(np.int64) for calls in ends)
    lasts = np.asarray(reply + whole.L + whole.serialization + whole.o_r)[waits]
    return replace(
        left_out(program, np.delete(every, begins)),
        more_latency_ps=more_latency,
        more_service_ps=more_service,
        more_received_ps=more_received,
        edges=(
            (post, 2 * done + 1, np.rint(reply[waits]).astype(np.int64)),
            (post, received_call + 1, np.rint(lasts).astype(np.int64)),
        )
        if waits.any()
        else (),
    )


def packed(program: Program, series: Sequence[Sequence[int]]) -> Transformation:
    """Likewise, from where the last one of each series is sent: by then all of the data is there. The duration of
    recording the others is gone with them."""
    send_call = program.messages.send_call
    sent_from, longer = column(program.messages.count), column(program.count, 0)
    sent_from[[row[0] for row in series]] = send_call[[row[-1] for row in series]]
    gone = send_call[[message for row in series for message in row[1:]]]
    longer[gone] = -program.recording_ps[gone]
    return replace(merged(program, series, sent_last=True), sent_from=sent_from, longer_ps=longer)


def left_out(program: Program, gone: Sequence[int] | Rows) -> Transformation:
    """These messages are not sent; calls that had nothing else to do last nothing."""
    messages = program.messages
    sent = np.zeros(messages.count, dtype=np.uint8)
    sent[gone] = NEVER
    of_these, of_others = np.zeros(program.count, dtype=np.bool_), program.is_operation.copy()
    for calls in (messages.send_call, messages.sent_call, messages.post_call, messages.received_call):
        of_these[calls[(calls >= 0) & (sent == NEVER)]] = True
        of_others[calls[(calls >= 0) & (sent != NEVER)]] = True
    lasts = column(program.count)
    lasts[of_these & ~of_others] = 0
    return Transformation(sent=sent, lasts_ps=lasts)


def _together(program: Program, series: Sequence[Sequence[int]]) -> Transformation:
    """Each message for itself, but all of a series in flight together."""
    messages = program.messages
    sent_from, posted_by = column(messages.count), column(messages.count)
    for row in series:
        sent_from[row[1:]] = messages.send_call[row[0]]
        posted_by[row[1:]] = messages.post_call[row[0]]
    return Transformation(sent_from=sent_from, posted_by=posted_by)
