"""When each call of a synthesized program happens where messages cost nothing: the least times that satisfy all waits.

A call begins when the code before it is done. It ends when what it does itself is done and everything that it waits
for has begun: the sends of what it receives, the replies (CTS) to what it sends by rendezvous, the other members of its
collective operations. The what-if replay takes such a program as recorded on an ideal network, on which every weight
of its graph is then 0, and puts the machine's values in.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from logpost.analyzer.predict.scale.grid import Ranks
from logpost.analyzer.predict.scale.synthesis import Synthetic
from logpost.analyzer.predict.scale.template import Column, NoReplayError
from logpost.replay._native import collective_messages, operations

MOST_ROUNDS = 50_000
"""Each settles at least one more link of the longest chain of waits: a longer one costs minutes."""
NOT_YET = np.iinfo(np.int64).min // 4
TO_ALL, TO_ONE, PREFIX = ("Bcast", "Scatter", "Scatterv"), ("Reduce", "Gather", "Gatherv"), ("Scan", "Exscan")


def ideal_schedule(program: Synthetic, rendezvous: Column, *, asynchronous: bool) -> tuple[Column, Column]:
    """Enters and leaves of all calls, in ps.

    Args:
        program: whose times are sought.
        rendezvous: by message.
        asynchronous: rendezvous continue without their processors.

    Raises:
        NoReplayError: calls wait for each other.
    """
    widest = int(np.diff(program.first_call).max(initial=0))
    place = (
        program.location * widest
        + np.arange(len(program.gap_ps))
        - np.repeat(program.first_call[:-1], np.diff(program.first_call))
    )
    shape = (program.ranks, widest)
    before, work = (np.zeros(shape, dtype=np.int64) for _ in range(2))
    before.ravel()[place], work.ravel()[place] = program.gap_ps, program.own_ps
    done = np.cumsum(before + work, axis=1)
    source, target = _edges(program, rendezvous, asynchronous=asynchronous)
    order = np.argsort(place[target], kind="stable")
    source, target = place[source[order]], place[target[order]]
    starts = np.flatnonzero(np.concatenate([[True], target[1:] != target[:-1]])) if len(target) else target
    groups = list(_groups(program, place))
    waits = np.full(shape, NOT_YET, dtype=np.int64)
    leave = done
    for _ in range(MOST_ROUNDS):
        enter = leave - work
        enter[:, 1:] = leave[:, :-1] + before[:, 1:]
        enter[:, :1] = before[:, :1]
        flat, entered = waits.ravel(), enter.ravel()
        if len(target):
            flat[target[starts]] = np.maximum.reduceat(entered[source], starts)
        for members, calls, ends in groups:
            flat[ends] = np.maximum(flat[ends], members(entered[calls]))
        later = done + np.maximum.accumulate(np.maximum(waits - done, 0), axis=1)
        if np.array_equal(later, leave):
            return entered[place], leave.ravel()[place]
        leave = later
    raise NoReplayError("its calls would wait for each other without end")


def _edges(program: Synthetic, rendezvous: Column, *, asynchronous: bool) -> tuple[Ranks, Ranks]:
    """Calls whose enters others' leaves wait for, along messages: (source, target)."""
    rows = program.messages
    send, complete = rows["send_call"].astype(np.int64), rows["send_complete_call"].astype(np.int64)
    post, receive = rows["recv_post_call"].astype(np.int64), rows["recv_call"].astype(np.int64)
    pairs = [(send, receive)]
    needs_reply = rendezvous & (complete >= 0)
    # What sends the CTS: the posted receive independently, or the processor when it waits for it.
    answer = post if asynchronous else receive
    pairs.append((answer[needs_reply], complete[needs_reply]))
    if not asynchronous:
        pairs.append((complete[needs_reply], receive[needs_reply]))
    return np.concatenate([one for one, _ in pairs]), np.concatenate([other for _, other in pairs])


class _All:
    """Each member waits for all members."""

    def __call__(self, entered: Column) -> Column:
        return np.broadcast_to(entered.max(axis=1, keepdims=True), entered.shape)


class _Prefix:
    """Each member waits for those before it."""

    def __call__(self, entered: Column) -> Column:
        return np.maximum.accumulate(entered, axis=1)


class _Tree:
    """Members wait along the messages of a tree."""

    def __init__(self, operation: int, size: int, root: int) -> None:
        sender, receiver, _, _ = collective_messages(operation, size, 1)
        member = (np.arange(size) + root) % size
        self.edges = list(zip(member[sender].tolist(), member[receiver].tolist(), strict=True))

    def __call__(self, entered: Column) -> Column:
        ready: Column = entered.copy()
        for sender, receiver in self.edges:
            np.maximum(ready[:, receiver], ready[:, sender], out=ready[:, receiver])
        return ready


def _groups(program: Synthetic, place: Ranks) -> Iterator[tuple[_All | _Prefix | _Tree, Ranks, Ranks]]:
    """Collective operations of all ranks, those of a kind together: which member waits for which, the calls that begin
    them and those that end them, by instance and rank."""
    rows, ranks = program.collectives, program.ranks
    counts = np.bincount(rows["instance"][rows["instance"] >= 0], minlength=1)
    whole = np.flatnonzero((rows["instance"] >= 0) & (counts[rows["instance"]] == ranks))
    whole = whole[np.lexsort((rows["location"][whole], rows["instance"][whole]))]
    table = whole.reshape(-1, ranks)
    names = operations()
    kind, root = rows["operation"][table[:, 0]].astype(np.int64), rows["root"][table[:, 0]].astype(np.int64)
    for operation, of in sorted(set(zip(kind.tolist(), root.tolist(), strict=True))):
        mine = table[(kind == operation) & (root == of)]
        calls, ends = rows["call"][mine].astype(np.int64), rows["complete_call"][mine].astype(np.int64)
        ends = np.where(ends < 0, calls, ends)
        if names[operation] in (*TO_ALL, *TO_ONE):
            yield _Tree(operation, ranks, max(of, 0)), place[calls], place[ends]
        elif names[operation] in PREFIX:
            yield _Prefix(), place[calls], place[ends]
        else:
            yield _All(), place[calls], place[ends]
