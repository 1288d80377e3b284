"""What collective operations take where their members come otherwise than they did.

The graph of the calls lets all members meet and gives each the lag that was measured. Where one of them came late, the
others had told each other all that did not need it: the lag holds what was left for it. Where all come at once, every
round of messages is waited for. So an operation is played as the messages of its usual algorithm
(`collective_messages`), each of which takes c from when its sender has what it sends, a part of that either processor,
with the enters as they were and as they are in a replay. c makes the sum of the ends of the members that need all
others that of the run, by operation, size and root, and the part is what explains single ends best; by how much
these are off stays with them. (A member that gives to a root may stay for what the root waits for.) Where they are as
well explained by one lag after the last member that each needs, all stays as it was.

Only members that need all the others are looked at: one that needs some may run ahead of the rest in the replay, and
where it has been held up for that before is not known.

What a member then ends later than in the replay is put before its next call. Members count in the order of their
locations. Times in ps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Flags, Graph
from logpost.analyzer.findings.evidence.what_if import Hypothesis
from logpost.analyzer.run.schema import OPERATIONS
from logpost.replay._native import collective_messages
from logpost.replay.columns import Int32, Int64

Calls = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MOST = 2_000_000
"""Messages of operations of one kind that are played at once; of more, the operations keep their lags."""
OF_FIT = 64
MOST_OF_FIT = 200_000
"""Operations that c is found from, and the messages that these have at most."""
BUSY = (0.0, 0.125, 0.25, 0.375, 0.5)
"""Parts of a message's time that it may take each of the two processors."""
HALVINGS = 30
"""Until c is known to a billionth of the longest operation."""
BYTES = 8
"""Of a message. How many they are chooses no other algorithm."""


def met_again(graph: Graph, hypothesis: Hypothesis) -> Hypothesis:
    """The same hypothesis with operations that take what they take with its enters."""
    after = graph.native.replay(hypothesis.columns(), list(hypothesis.dropped))
    gaps = np.array(graph.gap_ps if hypothesis.gap_ps is None else hypothesis.gap_ps, dtype=np.int64)
    for operation, calls in _operations(graph):
        late = _longer(operation, calls, graph, after["enter_ps"]) - (after["leave_ps"][calls] - graph.leave_ps[calls])
        followed = graph.following[calls]
        some = (late > 0) & (followed >= 0)
        gaps[followed[some]] += np.rint(late[some]).astype(np.int64)
    return replace(hypothesis, gap_ps=gaps)


def _operations(graph: Graph) -> Iterator[tuple[int, Calls]]:
    """The operations of each kind: the code, and the calls, a row an operation, from the root on where there is one."""
    members = graph.members
    begins = np.flatnonzero(np.diff(members["instance"], prepend=-1))
    sizes = np.diff(begins, append=len(members["instance"]))
    roots = np.zeros(len(begins), dtype=np.int64)
    of = np.repeat(np.arange(len(begins)), sizes)
    (is_root,) = np.nonzero(members["root"])
    roots[of[is_root]] = is_root - begins[of[is_root]]
    kinds = np.stack([members["operation"][begins], sizes, roots], axis=1)
    for kind in np.unique(kinds, axis=0):
        operation, size, root = (int(one) for one in kind)
        first = begins[(kinds == kind).all(axis=1)]
        yield operation, members["call"][first[:, None] + (np.arange(size) + root) % size].astype(np.int64)


def _longer(operation: int, calls: Calls, graph: Graph, enter_ps: Int64) -> Floats:
    """By how much later each member ends than in the run, if they enter then; nothing tells where it is infinite."""
    size = calls.shape[1]
    nothing = np.full(calls.shape, -np.inf)
    fewest = size * (size - 1) if OPERATIONS[operation].startswith("Alltoall") else size - 1
    if fewest * len(calls) > MOST or fewest > MOST_OF_FIT:
        return nothing
    senders, receivers, _, steps = collective_messages(operation, size, BYTES)
    if not 0 < len(senders) <= MOST_OF_FIT or len(senders) * len(calls) > MOST:
        return nothing
    asked = slice(min(OF_FIT, MOST_OF_FIT // len(senders)))
    schedule = _schedule(senders, receivers, steps, size)
    was, left = graph.enter_ps[calls].astype(np.float64), graph.leave_ps[calls[asked]]
    if not schedule.needs_all.any():
        return nothing
    fitted = partial(_fitted, of=schedule.needs_all, enters=was[asked], leaves=left)
    fits = [(*fitted(partial(_ends, schedule, busy)), busy) for busy in BUSY]
    off, takes, busy = min(fits)
    if off >= fitted(partial(_met, schedule))[0]:
        return nothing
    longer = _ends(schedule, busy, enter_ps[calls].astype(np.float64), takes) - _ends(schedule, busy, was, takes)
    return np.where(schedule.needs_all, longer, -np.inf)


@dataclass(frozen=True)
class _Schedule:
    """The messages of an algorithm."""

    waves: list[tuple[Int64, Int64, Int64, Int64]]
    """what happens at once, no member twice: messages that are sent and by whom, then those taken and by whom"""
    messages: int
    needs_all: Flags
    """by member: does not end without any of the others"""
    needs_others: Flags
    """or without some of them"""


def _schedule(senders: Int32, receivers: Int32, steps: Int32, size: int) -> _Schedule:
    """Everything after all that it follows: in a step, each member first sends all that it sends."""
    last = np.zeros(size, dtype=np.int64)  # the wave of what each member did last
    sent = np.empty(len(senders), dtype=np.int64)
    taken = np.empty(len(senders), dtype=np.int64)
    needs = [1 << member for member in range(size)]
    for messages in np.split(np.arange(len(senders)), np.flatnonzero(np.diff(steps)) + 1):
        by, to = senders[messages], receivers[messages]
        if len(messages) > 1 and len(np.unique(by)) == len(np.unique(to)) == len(messages):
            sent[messages] = last[by] = last[by] + 1
            taken[messages] = last[to] = np.maximum(last[to], sent[messages]) + 1
        else:
            for message, member in zip(messages, by, strict=True):
                sent[message] = last[member] = last[member] + 1
            for message, member in zip(messages, to, strict=True):
                taken[message] = last[member] = max(last[member], sent[message]) + 1
        told = [needs[member] for member in by]
        for member, others in zip(to, told, strict=True):
            needs[member] |= others
    waves = int(last.max())
    return _Schedule(
        list(zip(*_by_wave(sent, senders, waves), *_by_wave(taken, receivers, waves), strict=True)),
        len(senders),
        np.array([one == (1 << size) - 1 for one in needs]),
        np.array([one != 1 << member for member, one in enumerate(needs)]),
    )


def _by_wave(wave: Int64, members: Int32, waves: int) -> tuple[list[Int64], list[Int64]]:
    """The messages of each wave, from the first one on, and the member that has each of them."""
    order = np.argsort(wave, kind="stable")
    messages = np.split(order, np.searchsorted(wave[order], np.arange(2, waves + 1)))
    return messages, [members[some].astype(np.int64) for some in messages]


def _ends(schedule: _Schedule, busy: float, enters: Floats, takes: float) -> Floats:
    """When the members have what the operation gives them; a message takes so long, a part of it either processor."""
    ends: Floats = np.array(enters.T, order="C")
    sent = np.empty((schedule.messages, len(enters)))
    for out, senders, into, receivers in schedule.waves:
        ends[senders] += busy * takes
        sent[out] = ends[senders]
        ends[receivers] = np.maximum(ends[receivers], sent[into] + (1 - 2 * busy) * takes) + busy * takes
    result: Floats = ends.T
    return result


def _met(schedule: _Schedule, enters: Floats, takes: float) -> Floats:
    """The same if each ends so long after the last that it needs: messages then take no time."""
    last: Floats = _ends(schedule, 0.0, enters, 0.0)
    return last + np.where(schedule.needs_others, takes, 0.0).astype(np.float64)


def _fitted(
    ends: Callable[[Floats, float], Floats], *, of: Flags, enters: Floats, leaves: Int64
) -> tuple[float, float]:
    """How far the ends of some members are off, in all, and how long a message lasts for them to have the sum that the
    leaves have."""
    stays = (leaves - enters)[:, of]
    low, high, wanted = 0.0, float(stays.max()), float(stays.sum())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if (ends(enters, middle) - enters)[:, of].sum() < wanted:
            low = middle
        else:
            high = middle
    return float(np.abs(ends(enters, low) - leaves)[:, of].sum()), low
