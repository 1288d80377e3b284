"""Wavefront: ranks work one after the other, each on what the one before it has passed on, while the rest waits.

While a rank waits for a message, its sender computes, having waited itself for its own sender, which computed before
that, and so on: the *depth* of a wait is the number of ranks that compute one after the other during it, each of them
for longer than its message lasts. A late rank gives depth 1. It applies to calls most of whose waiting for senders is
two ranks deep or more.

Cure: each message in k blocks. In the graph its receiver no longer waits for all of w, what the sender did since it
had its own message or passed on the one before; it has the first block so long after w began, and can end its own work
v on the message so long after w has ended:

    w / k + T / k        v / k + T / k

with T the message's duration, of which only what bytes cost is divided. k - 1 more messages cost each of the two ranks
their overheads. Stated are as many blocks as there are ranks in a row, with which no rank waits longer for its first
block than it works; the number that saves most is the other end of the gain, and stated if it is smaller. Where the
next rank needs nothing of the work, the ranks do it at the same time and pass on nothing, which is the third end: it is
stated where blocks save nothing that can be checked, as those of few bytes, which cost as much as the message. Where
the machine does not divide the duration of a message, all of it may be its receiver's overhead.

The doubt: whether the work can be cut, which no trace shows. A pipeline that is filled once, and steadily used then, is
none of these: most of its deep waiting is the first of each rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.cures.code import with_code
from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import NEVER, Flags, Program, Transformation
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import LOW, MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number, Sum
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.replay.columns import Int64

KIND = "wavefront"
LEAST_DEPTH = 2
"""Ranks that compute one after the other while the last one waits: from two on it is a chain, not a late rank."""
BLOCKS = tuple(2**i for i in range(1, 11))
"""Numbers of blocks that are tried."""


@dataclass(frozen=True)
class Passed:
    """Messages that are passed on, a row each; calls, and times in ps."""

    message: Int64
    send: Int64
    receive: Int64
    since: Int64
    """end of a call behind which the work on it began, as `Transformation.edges` has them"""
    work_ps: Int64
    """since then"""
    ahead_ps: Int64
    """of that, before its receiver waits"""
    next: Int64
    """the receiver's call behind its own work on it; -1: none"""
    lasts_ps: Int64
    """the message, where both ends are ready"""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run."""
    if not evidence.worth_a_look(["late_sender"]):
        return ()
    return (with_code(evidence, one) for one in offered(evidence, propose, of_messages=False))


def propose(program: Program) -> Iterator[Proposal]:
    """Blocks at all places where most waits are deep."""
    messages = program.messages
    deep, computes = depths(program)
    waits = np.maximum(0, program.enter_ps[messages.send_call] - program.enter_ps[messages.received_call])
    at = program.callpath[messages.received_call]
    every = np.bincount(at[deep > 0], weights=waits[deep > 0], minlength=int(at.max(initial=0)) + 1)
    chained = deep >= LEAST_DEPTH
    mostly = np.bincount(at[chained], weights=waits[chained], minlength=len(every)) > MAINLY * every
    chained &= mostly[at]
    if not _recur(program, np.flatnonzero(chained), waits):
        return
    sent_at = program.callpath[messages.send_call]
    of = np.isin(at, np.unique(at[chained])) & np.isin(sent_at, np.unique(sent_at[chained])) & computes
    passed = _passed(program, of)
    cures = [partial(_in_blocks, program, passed, divided=one) for one in dict.fromkeys((program.knows_bytes, True))]
    best = [_best(program, cure) for cure in cures]
    depth = int(deep[chained].max())
    blocks = min(depth + 1, best[0])
    in_blocks, independent = cures[0](blocks), _independent(program, passed)
    in_parts = program.gain(in_blocks) >= MIN_SHARE
    here = mostly[at] & (deep > 0)
    by_place = np.bincount(at[chained], weights=waits[chained])
    yield Proposal(
        kind=KIND,
        callpath=int(by_place.argmax()),
        at_fault=frozenset(np.unique(program.receiver[here]).tolist()),
        change=in_blocks if in_parts else independent,
        other_ends=(*(cure(number) for cure, number in zip(cures, best, strict=True)), independent),
        numbers=(
            Number("depth", depth + 1, "count"),
            Sum("chained_waits", int(chained.sum()), "count"),
            Number("share_of_waiting_for_senders", float(waits[chained].sum() / waits[here].sum()), "1"),
            Number("mean_wait", float(waits[chained].mean()), "ps"),
            *([Number("blocks", blocks, "count")] if in_parts else []),
        ),
        confidence=MEDIUM if in_parts and chained.sum() >= MIN_SAMPLES else LOW,
        certainty="which ranks compute while others wait is measured; whether these need their results is not known",
        rests_on=("late_sender",),
    )


def _recur(program: Program, chained: Int64, waits: Int64) -> bool:
    """Whether most of these waits are not the first one of their receiver, in which a pipeline is filled."""
    in_time = chained[np.argsort(program.messages.received_call[chained], kind="stable")]
    _, first = np.unique(program.receiver[in_time], return_index=True)
    return bool(waits[in_time[first]].sum() < MAINLY * waits[chained].sum())


@once
def depths(program: Program) -> tuple[npt.NDArray[np.int32], Flags]:
    """By message: how many ranks compute one after the other while its receiver waits for it, and in the calls right
    before for others; and whether its sender computes for it longer than it lasts."""
    messages = program.messages
    send, receive = messages.send_call, messages.received_call
    waits = (program.enter_ps[receive] < program.enter_ps[send]) & program.inside[receive] & program.inside[send]
    waits &= receive >= 0
    ends = program.is_operation.copy()
    ends[receive[waits]] = True
    behind = last_before(program, ends)[send]
    own = np.cumsum(program.gap_ps + program.own_ps)
    work = own[send] - program.own_ps[send] - np.where(behind >= 0, own[behind], 0)
    computes = work > program.leave_ps[receive] - program.enter_ps[send]
    receives = np.zeros(program.count, dtype=np.bool_)
    receives[receive[receive >= 0]] = True
    in_row = np.append(False, receives[:-1]) & program.follows & (program.gap_ps <= program.empty_message_ps)
    since = program.enter_ps[np.maximum.accumulate(np.where(in_row, 0, np.arange(program.count)))]
    found = np.zeros(messages.count, dtype=np.int32)
    for message in np.argsort(program.enter_ps[send], kind="stable").tolist():
        if waits[message]:
            entered = since[receive[message]]
            passed = [one for one in program.received_in.get(int(behind[message]), []) if waits[one]]
            before = (found[one] for one in passed if entered < program.enter_ps[send[one]])
            found[message] = computes[message] + max(before, default=0)
    return found, computes


def ends_pipeline(program: Program, location: int, least: int) -> bool:
    """Whether during most of what a location waits for messages, so many ranks or more compute one after the other."""
    messages = program.messages
    waits = np.maximum(0, program.enter_ps[messages.send_call] - program.enter_ps[messages.received_call])
    waits[program.receiver != location] = 0
    deep, _ = depths(program)
    return bool(waits[deep >= least].sum() > waits.sum() / 2)


def _begins(program: Program, of: Flags) -> Int64:
    """By call: the call behind which its rank began with what it passes on next: the last one that got or passed on
    such a message, or in which all met; -1: none."""
    messages = program.messages
    ends = program.is_operation | program.ends_operation
    ends[messages.received_call[of & (messages.received_call >= 0)]] = True
    passes = np.zeros(program.count, dtype=np.bool_)
    passes[messages.send_call[of]] = True
    # Several messages of one stretch of work are passed on one after the other.
    ends[:-1] |= passes[:-1] & (program.gap_ps[1:] > program.empty_message_ps)
    return last_before(program, ends)


def last_before(program: Program, flags: Flags) -> Int64:
    """By call: the last one before it on its location that is flagged; -1: none."""
    rows = np.arange(program.count)
    before = np.concatenate([[-1], np.maximum.accumulate(np.where(flags, rows, -1))[:-1]])
    first = np.maximum.accumulate(np.where(program.follows, 0, rows))
    return np.where(before >= first, before, -1).astype(np.int64)


def _passed(program: Program, of: Flags) -> Passed:
    """These messages."""
    messages = program.messages
    begins = _begins(program, of)
    own = np.cumsum(program.gap_ps + program.own_ps)
    message = np.flatnonzero(of)
    send, receive = (calls[message].astype(np.int64) for calls in (messages.send_call, messages.received_call))
    begin = begins[send]
    known = begin >= 0
    waited = program.enter_ps[send] - program.enter_ps[receive]
    # Where nothing is before it in the program, the work is no shorter than the receiver's wait.
    work = np.where(known, own[send] - program.own_ps[send] - own[begin], waited)
    # Behind an operation in which all met, it did other work until its receiver waited.
    entered = program.enter_ps[receive] - program.leave_ps[begin]
    ahead = np.where(known & program.is_operation[begin], np.clip(entered, 0, np.maximum(0, work)), 0)
    rows = ~np.isin(np.arange(program.count), messages.received_call[of]) & program.moves_data
    following = np.minimum.accumulate(np.where(rows, np.arange(program.count), program.count)[::-1])[::-1]
    behind = np.append(following, program.count)[receive + 1]
    same = (behind < program.count) & (
        program.location[np.minimum(behind, program.count - 1)] == program.location[receive]
    )
    used = known | (waited > 0)
    found = (
        message,
        send,
        receive,
        np.where(known, 2 * begin + 1, 2 * receive),
        work,
        ahead,
        np.where(same, behind, -1),
        program.leave_ps[receive] - np.maximum(program.enter_ps[send], program.enter_ps[receive]),
    )
    return Passed(*(np.asarray(one[used], dtype=np.int64) for one in found))


def _in_blocks(program: Program, of: Passed, blocks: int, *, divided: bool) -> Transformation:
    """The program with these messages in so many blocks."""
    messages = program.messages
    size = messages.bytes[of.message]
    whole, part = (program.costs(of_bytes.astype(np.float64)) for of_bytes in (size, np.ceil(size / blocks)))
    sends, receives, bytes_ps = (
        np.nan_to_num(np.asarray(time)).astype(np.int64) for time in (part.o_s, part.o_r, whole.serialization)
    )
    bytes_ps = np.clip(bytes_ps, 0, of.lasts_ps) if divided else np.zeros_like(of.lasts_ps)
    if not divided:
        receives = of.lasts_ps
    lasts = of.lasts_ps - bytes_ps + bytes_ps // blocks
    sent = column(messages.count, 0)
    sent[of.message] = NEVER
    longer = column(program.count, 0)
    np.add.at(longer, of.send, blocks * sends)
    known = of.next >= 0
    nexts = of.next[known]
    np.add.at(longer, nexts, (blocks - 1) * receives[known])
    waits = messages.sender_waits[of.message] > 0
    first_block = of.ahead_ps + (of.work_ps - of.ahead_ps) // blocks + lasts
    last_block = program.gap_ps[nexts] // blocks + (lasts - sends)[known]
    return Transformation(
        sent=sent.astype(np.uint8),
        longer_ps=longer,
        edges=(
            (of.since, 2 * of.receive + 1, first_block),
            (2 * of.send[known], 2 * nexts, last_block),
            (2 * of.receive[waits], 2 * messages.sent_call[of.message[waits]].astype(np.int64) + 1, 0 * of.send[waits]),
        ),
    )


def _independent(program: Program, of: Passed) -> Transformation:
    """The program without these messages."""
    sent = column(program.messages.count, 0)
    sent[of.message] = NEVER
    return Transformation(sent=sent.astype(np.uint8))


def _best(program: Program, cure: Callable[[int], Transformation]) -> int:
    """The number of blocks that saves most: a program is as long as its longest path, and so convex in it."""
    gains: list[float] = []
    for blocks in BLOCKS:
        gains.append(program.gain(cure(blocks)))
        if len(gains) > 1 and gains[-1] < gains[-2]:
            break
    best: int = BLOCKS[gains.index(max(gains))]
    return best
