"""Whatever happened in a run, finders say something finite of it: small stories drawn at random.

Equal times, no time at all, ranks alone, regions of very different sizes: what real programs have in their corners.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analyzer.story import MS, US, Story

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.find import FINDERS, find_all, findings_of
from logpost.analyzer.findings.finding import Finding, frame
from logpost.analyzer.findings.gain_interval import with_intervals
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.schema import CATEGORIES, PARTS, TRANSFER_PARTS
from logpost.replay._native import operations

ROUNDED = 1e-9
"""A sum of fractions may exceed 1 by so much."""
OPERATIONS = ("Barrier", "Bcast", "Gather", "Alltoall", "Allreduce", "Reduce", "Scan", "Fence", "unknown")
UNDIVIDED = ["latency", "serialization", "processor_queueing", "residual"]
EPOCHS = ("access", "exposure", "change", "lock_shared", "lock_exclusive")
TIMES = st.sampled_from((0, 1, 2, 3, 10)).map(lambda times: times * MS) | st.sampled_from((0, 1, US, 3000 * MS))
REGIONS = ("main", "solve", "exchange", "pack")
CODE = st.sampled_from(REGIONS)


@dataclass
class Draft:
    """A story, step by step: where each rank is, and which region's code it runs; ps."""

    ranks: int
    instrumented: bool
    at: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    steps: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    own: dict[tuple[int, str], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.at = [0] * self.ranks
        self.left = [-1] * self.ranks

    def work(self, rank: int, region: str, time: int) -> None:
        """Code outside of calls."""
        self.at[rank] += time
        self.own.setdefault((rank, region), []).append(time)

    def enters(self, rank: int) -> int:
        """A call begins: never where another one ends, so that each is known by its times."""
        self.at[rank] = max(self.at[rank], self.left[rank] + 1)
        return self.at[rank]

    def leaves(self, rank: int, at: int) -> None:
        """It ends."""
        self.at[rank] = self.left[rank] = at

    def path(self, region: str, call: str) -> tuple[str, ...]:
        """The place of a call."""
        return ("main", call) if region == "main" else ("main", region, call)


def shared(time: int, names: Iterable[str]) -> dict[str, int]:
    """A time in these parts, as even as possible: the last one has the rest."""
    parts = dict.fromkeys(names, 0)
    for name in parts:
        parts[name] = time // len(parts)
    parts[name] += time - sum(parts.values())
    return parts


def some(names: Iterable[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(tuple(names)), min_size=1, max_size=3, unique=True)


MESSAGE_PARTS, CALL_PARTS, MOVED_PARTS = some(PARTS), some(CATEGORIES[1:]), some(TRANSFER_PARTS)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """A few ranks, some phases of a few kinds that recur."""
    draft = Draft(draw(st.integers(1, 4)), draw(st.booleans()))
    phases = [draw(phase(draft.ranks)) for _ in range(draw(st.integers(1, 4)))]
    for _ in range(draw(st.sampled_from((1, 2, 5, 12)))):
        for kind, *drawn in phases:
            PLAYED[kind](draft, *drawn)
    story = story_of(draft, draw(st.sampled_from((1, 10))), draw(TIMES), draw(TIMES))
    story.undivided = draw(st.sampled_from(([], UNDIVIDED)))
    story.refused = draw(st.booleans()) and bool(story.undivided)
    cores = draw(st.integers(1, draft.ranks))
    story.hosts.cores_per_node, story.hosts.oversubscribed = [cores], cores < draft.ranks
    return story


@st.composite
def phase(draw: st.DrawFn, ranks: int) -> tuple[Any, ...]:
    """A kind of it with what that needs; its ranks work before it, each as long as drawn."""
    kind = draw(st.sampled_from(("collective", *PLAYED)) if ranks > 1 else st.sampled_from(("collective", "single")))
    region, times = draw(CODE), draw(st.lists(TIMES, min_size=ranks, max_size=ranks))
    if draw(st.booleans()):
        times = times[:1] * ranks
    takes, site = draw(TIMES), draw(CODE)
    if kind == "collective":
        several = draw(st.lists(st.integers(0, ranks - 1), min_size=1, unique=True)) if draw(st.booleans()) else []
        return kind, region, times, takes, site, draw(st.sampled_from(OPERATIONS)), several or list(range(ranks))
    if kind == "single":
        name = draw(st.sampled_from(("MPI_Wtime", "MPI_Iprobe", "MPI_Test", "MPI_Win_flush", "MPI_Recv")))
        return kind, region, times, takes, site, name, draw(CALL_PARTS)
    one = draw(st.integers(0, ranks - 1))
    other = (one + draw(st.integers(1, ranks - 1))) % ranks
    if kind == "message":
        size = draw(st.sampled_from((0, 8, 4096, 2**20)))
        how = draw(st.sampled_from(("blocking", "eager", "later", "posted")))
        count = draw(st.sampled_from((1, 1, 4, 40)))
        return kind, region, times, count, takes, site, one, other, size, how, draw(MESSAGE_PARTS)
    if kind == "parallel":
        return kind, region, times, takes, site, one, draw(st.lists(TIMES, min_size=2, max_size=3).filter(any))
    if kind == "transfer":
        return kind, region, times, takes, site, one, other, draw(MOVED_PARTS)
    return kind, region, times, takes, site, one, other, draw(st.sampled_from(EPOCHS)), draw(CALL_PARTS)


def _work(draft: Draft, region: str, times: list[int]) -> None:
    for rank, time in enumerate(times):
        draft.work(rank, region, time)


def _call(draft: Draft, rank: int, site: str, name: str, until: int, parts: list[str]) -> tuple[int, int]:
    enter = draft.enters(rank)
    leave = max(enter, until)
    where = draft.path(site, name)
    draft.steps.append(("call", (rank, enter, leave, where), shared(leave - enter, parts)))
    draft.leaves(rank, leave)
    return enter, leave


def _collective(
    draft: Draft, region: str, times: list[int], takes: int, site: str, operation: str, ranks: list[int]
) -> None:
    _work(draft, region, times)
    enters = {rank: draft.enters(rank) for rank in ranks}
    leave = max(enters.values()) + takes
    name = "MPI_Win_fence" if operation == "Fence" else f"MPI_{operation}"
    members = {rank: (enter, leave) for rank, enter in enters.items()}
    draft.steps.append(("collective", (draft.path(site, name), operation, members), {"root": ranks[0]}))
    for rank in ranks:
        draft.leaves(rank, leave)


def _single(draft: Draft, region: str, times: list[int], takes: int, site: str, name: str, parts: list[str]) -> None:
    _work(draft, region, times)
    for rank in range(draft.ranks):
        _call(draft, rank, site, name, draft.at[rank] + takes, parts)


def _message(draft: Draft, region: str, times: list[int], count: int, *drawn: Any) -> None:
    """Some messages one after the other, the first one behind the work."""
    for number in range(count):
        _one_message(draft, region, times if number == 0 else [0] * draft.ranks, *drawn)


def _one_message(
    draft: Draft,
    region: str,
    times: list[int],
    takes: int,
    site: str,
    sender: int,
    receiver: int,
    size: int,
    how: str,
    parts: list[str],
) -> None:
    """Blocking, or with the send's or the receive's Wait behind the work; eager: the send returns at once. Calls lose
    time to what their message does."""
    send = post = complete = None
    if how == "later":
        send = _call(draft, sender, site, "MPI_Isend", draft.at[sender], parts)
    if how == "posted":
        post = _call(draft, receiver, site, "MPI_Irecv", draft.at[receiver], parts)[0]
    _work(draft, region, times)
    begun = send[0] if send else draft.at[sender]
    there = max(draft.at[receiver], begun) + takes
    if how == "later":
        complete = _call(draft, sender, site, "MPI_Wait", there, parts)[1]
    else:
        until = draft.at[sender] if how == "eager" else there
        send = _call(draft, sender, site, "MPI_Send", until, parts)
    assert send is not None
    recv = _call(draft, receiver, site, "MPI_Wait" if post is not None else "MPI_Recv", there, parts)
    names = (
        draft.path(site, "MPI_Isend" if how == "later" else "MPI_Send"),
        draft.path(site, "MPI_Wait" if post is not None else "MPI_Recv"),
    )
    envelope = recv[1] - min(send[0], recv[0])
    known = {"complete": send[1] if how == "blocking" else complete, "post": post, "service": takes // 2}
    draft.steps.append(("message", (sender, receiver, size, send, recv, names), known | shared(envelope, parts)))


def _transfer(
    draft: Draft, region: str, times: list[int], takes: int, site: str, origin: int, target: int, parts: list[str]
) -> None:
    _work(draft, region, times)
    enter = draft.enters(origin)
    where = draft.path(site, "MPI_Get")
    draft.steps.append(("transfer", (origin, target, where, enter, enter + takes), shared(takes, parts)))
    draft.leaves(origin, enter + takes)


def _epoch(
    draft: Draft,
    region: str,
    times: list[int],
    takes: int,
    site: str,
    rank: int,
    other: int,
    kind: str,
    parts: list[str],
) -> None:
    _work(draft, region, times)
    enter, leave = _call(draft, rank, site, "MPI_Win_wait", max(draft.at[rank], draft.at[other]) + takes, parts)
    where = draft.path(site, "MPI_Win_wait")
    draft.steps.append(("epoch", (rank, kind, where, other, leave - enter), {}))


def _parallel(draft: Draft, region: str, times: list[int], takes: int, site: str, rank: int, works: list[int]) -> None:
    _work(draft, region, times)
    inside = ("main", "!$omp parallel")
    draft.steps.append(("parallel", (rank, draft.at[rank], works, inside, (*inside, "!$omp barrier")), {}))
    draft.work(rank, "!$omp parallel", max(works) + takes)


PLAYED: dict[str, Callable[..., None]] = {
    "collective": _collective,
    "single": _single,
    "message": _message,
    "transfer": _transfer,
    "epoch": _epoch,
    "parallel": _parallel,
}


def story_of(draft: Draft, windows: int, before: int, behind: int) -> Story:
    """As a story, with a start-up and a shut-down of these durations."""
    length = before + max(draft.at) + 1 + behind
    story = Story(draft.ranks, length, windows)
    story.communicator(*range(draft.ranks))
    for rank in range(draft.ranks):
        story.start_up(rank, before)
        story.shut_down(rank, length - behind)
    shift = before
    for what, given_, named in draft.steps:
        if what == "call":
            rank, enter, leave, where = given_
            story.call(rank, enter + shift, leave + shift, story.path(*where), **named)
        elif what == "collective":
            where, operation, members = given_
            moved = {rank: (enter + shift, leave + shift) for rank, (enter, leave) in members.items()}
            story.collective(story.path(*where), operation, moved, **named)
        elif what == "message":
            sender, receiver, size, send, recv, names = given_
            paths = (story.path(*names[0]), story.path(*names[1]))
            ends = {name: None if named[name] is None else named[name] + shift for name in ("complete", "post")}
            send, recv = ((enter + shift, leave + shift) for enter, leave in (send, recv))
            story.message(sender, receiver, size, send, recv, paths, **(named | ends))
        elif what == "transfer":
            origin, target, where, enter, leave = given_
            story.transfer(origin, target, story.path(*where), enter + shift, leave + shift, **named)
        elif what == "parallel":
            rank, begin, works, where, barrier = given_
            story.parallel(rank, begin + shift, works, story.path(*where), story.path(*barrier))
        else:
            rank, kind, where, other, wait = given_
            story.epoch(rank, kind, story.path(*where), other, wait)
    if draft.instrumented:
        for (rank, region), times in draft.own.items():
            path = story.path("main") if region == "main" else story.path("main", region)
            story.user(rank, path, sum(times), visits=len(times))
            story.span(rank, path, shift, length - behind)
    return story


def sound(finding: Finding) -> None:
    """Whatever it says is finite, and no fraction is more than all."""
    for name in ("gain", "share", "confidence"):
        value = getattr(finding, name)
        assert 0 <= value <= 1, (finding.kind, name, value)
    assert finding.exposed_ps >= 0, finding.kind
    assert (finding.gain_low is None) == (finding.gain_high is None), finding.kind
    if finding.gain_low is not None and finding.gain_high is not None:
        assert 0 <= finding.gain_low <= finding.gain <= finding.gain_high <= 1, finding.kind
    assert finding.path_share is None or 0 <= finding.path_share <= 1, finding.kind
    assert all(math.isfinite(number.value) for number in finding.evidence), (finding.kind, finding.evidence)
    assert all(0 <= value < math.inf for value in finding.removes.values()), (finding.kind, finding.removes)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(stories())
def test_every_finder_is_sound_on_whatever_happens(story: Story) -> None:
    evidence = Evidence(story.tables(), story.manifest())
    for find in FINDERS:
        found = list(find(evidence))
        for finding in found:
            sound(finding)
        frame(found, evidence.places)  # the words
    for finding in with_intervals(evidence, findings_of(evidence, 1), Faults(raises=True)):
        sound(finding)
    find_all(story.tables(), story.manifest(), concurrent=1)


def test_operations_are_those_of_the_replay() -> None:
    assert set(OPERATIONS) <= set(operations())
