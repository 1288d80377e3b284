"""Late receivers: senders wait in a rendezvous or a synchronous send because the receive is posted late.

Cure: post the receive earlier. It applies to messages whose sender waits and whose request is there before the receive
is posted. Where the receiver is in another call then, it posts there, and in the same call at every visit of the place;
at the other end of the gain, only where it posted late. Where it computes, the receive is before that code: in the
graph, the whole regions that delay it are behind it at every visit; where these are not known, as much code as delays
it, or, at every visit, as much as delays the latest one there. Where that saves nothing, since its work delays the
receiver, it shares that with the sender.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from logpost.analyzer.findings.cures.code import code_before
from logpost.analyzer.findings.cures.offered import Proposal, column, offered
from logpost.analyzer.findings.cures.program import Program, Rows, Transformation
from logpost.analyzer.findings.cures.unattended import attended
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.whole_regions import regions_before
from logpost.analyzer.findings.finding import (
    HIGH,
    MEDIUM,
    MIN_SAMPLES,
    MIN_SHARE,
    Finding,
    Number,
    Sum,
    numbers_of_doings,
)
from logpost.analyzer.findings.wording.messages import OTHERS
from logpost.replay.columns import Int64

KIND = "late_receiver"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for each call path of senders that wait."""
    return (
        _named(evidence, found)
        for found in offered(evidence, lambda program: propose(program, evidence), of_messages=False)
    )


def propose(program: Program, evidence: Evidence) -> Iterator[Proposal]:
    """Earlier receives for the senders of each call path."""
    messages = program.messages
    every = np.flatnonzero(((messages.handshake > 0) | (messages.sender_waits > 0)) & (messages.sent_call >= 0))
    send, post = messages.send_call[every], messages.post_call[every]
    # Where nothing states when a request is there, a receive is delayed since its send began, at most.
    way = round(program.empty_message_ps) if evidence.divides("latency", "late_receiver") else 0
    there = program.enter_ps[send] + way
    delayed = (program.enter_ps[post] > there) & program.inside[post] & program.inside[send]
    requests, send, post, there = every[delayed], send[delayed], post[delayed], there[delayed]
    if not len(requests):
        return
    late = program.enter_ps[post] - there
    busy, answered = attended(program, _first_of(program, post), there)
    in_call = (busy < post) & (answered == there)
    waits_at = program.callpath[messages.sent_call[requests]]
    for callpath in np.unique(waits_at).tolist():
        here = waits_at == callpath
        posted_by = _posted_in(program, every, post[here & in_call], busy[here & in_call])
        computing = here & ~in_call
        ways = [
            Transformation(posted_by=posted_by, longer_ps=behind(program, *way))
            for way in ways_behind(evidence, program, post[computing], late[computing])
        ]
        if (here & in_call).any():
            only = column(messages.count)
            only[requests[here & in_call]] = busy[here & in_call]
            ways.append(replace(ways[0], posted_by=only))
        ways.sort(key=program.gain, reverse=True)
        shares = program.gain(ways[0]) < MIN_SHARE
        if shares:
            of_place = every[program.callpath[messages.sent_call[every]] == callpath]
            ways = [Transformation(longer_ps=_shared(program, of_place))]
        by_rank = np.bincount(program.location[post[here]], weights=late[here])
        named = np.flatnonzero(by_rank >= min(MIN_SHARE * program.base.program_ps, by_rank.max()))
        yield Proposal(
            kind=KIND,
            callpath=callpath,
            at_fault=frozenset(named.tolist()),
            change=ways[0],
            other_ends=(ways[-1],),
            numbers=(
                Sum("waits", int(here.sum()), "count"),
                Number("mean_wait", float(late[here].mean()), "ps"),
                *([Number("shared", 1.0, "1")] if shares else []),
                Number("inside", float(in_call[here].mean()), "1"),
                Number("computing", float((~in_call)[here].mean()), "1"),
            ),
            confidence=HIGH if here.sum() >= MIN_SAMPLES else MEDIUM,
            certainty="the time of the receive and the receiver's activity until then are measured",
            rests_on=("late_receiver",),
        )


def _posted_in(program: Program, every: Rows, post: Rows, busy: Rows) -> Int64:
    """By message: the earlier call in which its receive is posted, as many calls before as at a delayed visit."""
    messages = program.messages
    found = column(messages.count)
    posts = messages.post_call[every]
    ways = np.stack([post - busy, program.callpath[post], program.callpath[busy]], axis=1)
    for apart, path, before in np.unique(ways, axis=0).tolist():
        earlier = np.maximum(0, posts - apart)
        same = (program.callpath[posts] == path) & (program.callpath[earlier] == before)
        same &= program.location[posts] == program.location[earlier]
        found[every[same]] = earlier[same]
    return found


def _shared(program: Program, messages: Rows) -> Int64:
    """By call: how much longer the code before it is, if each receiver that posts later than its sender sends, on
    average, gives half of that to the sender: before every post and every send between the two."""
    send, post = program.messages.send_call[messages], program.messages.post_call[messages]
    pair = np.unique(
        program.location[post] * (int(program.location.max()) + 1) + program.location[send], return_inverse=True
    )[1]
    late = program.enter_ps[post] - program.enter_ps[send]
    mean = np.bincount(pair, weights=late)[pair] / np.bincount(pair)[pair]
    given = np.minimum(np.maximum(mean / 2, 0).astype(np.int64), program.gap_ps[post])
    longer = column(program.count, 0)
    np.subtract.at(longer, post, given)
    np.add.at(longer, send, given)
    return longer


def _first_of(program: Program, calls: Rows) -> Rows:
    """The first call of each call's location."""
    first = np.flatnonzero(~program.follows)
    return first[np.searchsorted(first, calls, side="right") - 1]


def ways_behind(evidence: Evidence, program: Program, post: Rows, late: Int64) -> Iterator[tuple[Rows, Int64]]:
    """Calls with the code that moves behind them: whole regions; where these are not known, as late as each is, and
    every call of a place as the latest there."""
    rows, row = np.unique(post, return_inverse=True)
    calls: Int64 = rows.astype(np.int64)
    each = np.zeros(len(calls), dtype=np.int64)
    np.maximum.at(each, row, late)
    places, of = np.unique(program.place_of[calls], return_inverse=True)
    latest = np.zeros(len(places), dtype=np.int64)
    np.maximum.at(latest, of, each)
    every: Int64 = np.flatnonzero(np.isin(program.place_of, places) & program.inside).astype(np.int64)
    whole = regions_before(evidence, program, program.place_of, every, calls, each) if len(calls) else None
    if whole is not None:
        yield whole
        return
    yield calls, each
    yield every, latest[np.searchsorted(places, program.place_of[every])]


def behind(program: Program, calls: Rows, most_ps: Int64) -> Int64:
    """By call: how much longer the code before it is, with so much of that before these calls behind them."""
    longer = column(program.count, 0)
    last = np.append(~program.follows[1:], True)
    some = ~last[calls]
    moved = np.minimum(program.gap_ps[calls[some]], most_ps[some])
    np.subtract.at(longer, calls[some], moved)
    np.add.at(longer, calls[some] + 1, moved)
    return longer


def _named(evidence: Evidence, found: Finding) -> Finding:
    """The finding with the ranks that wait, those that delay them, where these post, and what they compute before."""
    cure = found.replayed
    assert cure is not None
    program, late = cure.program, sorted(cure.proposal.at_fault)
    waiting = sorted({location for location, callpath in found.removes if callpath == found.callpath} - set(late))
    messages = program.messages
    at = (program.callpath[messages.sent_call] == found.callpath) & np.isin(program.receiver, late)
    posts, count = np.unique(program.callpath[messages.post_call[at]], return_counts=True)
    first = int(posts[np.argmax(count)])
    code = code_before(evidence, program, late[0], first)
    posted_by = cure.proposal.change.posted_by
    calls = posted_by[posted_by >= 0] if posted_by is not None else posted_by
    inside = ("handling", OTHERS)
    if calls is not None and len(calls) and not any(call in program.received_in for call in calls.tolist()):
        inside = ("waiting", evidence.region(int(program.callpath[calls[0]])))
    doing = {"computing": ("computing", code.name), "inside": inside}
    shares = [(doing[one.name], one.value) for one in found.evidence if one.name in doing]
    cause = max(shares, key=lambda share: share[1])[0][1]
    place = evidence.places.get(first)
    site = place.named if place is not None else evidence.region(first)
    return replace(
        found,
        named=evidence.named([*waiting, *late]),
        cause_region=cause,
        evidence=(
            *evidence.rank_numbers("waiting_rank", waiting),
            *(one for one in found.evidence if one.name not in doing),
            *evidence.rank_numbers("late_rank", late),
            Number(f"posted[{site}]", 1.0, "1"),
            *numbers_of_doings(shares),
            *(code.samples if cause == code.name else ()),
        ),
    )
