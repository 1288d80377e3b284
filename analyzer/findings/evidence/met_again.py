"""What collective operations take where their members come otherwise than they did.

The graph of the calls lets all members meet and gives each the lag that was measured. Where one of them came late, the
others had told each other all that did not need it: the lag holds what was left for it. Where all come at once, every
round of messages is waited for. So an operation is played as the messages of its usual algorithm
(`collective_messages`), each of which takes c from when its sender has what it sends, a part of that either processor,
with the enters as they were and as they are in a replay. c makes the sum of all members' ends that of the run, by
operation, size and root, and the part is what explains single ends best; by how much these are off stays with them.
Where they are as well explained by one lag after the last member that each needs, all stays as it was.

Only members that need all the others are looked at: one that needs some may run ahead of the rest in the replay, and
where it has been held up for that before is not known.

What a member then ends later than in the replay is put before its next call. Members count in the order of their
locations. Times in ps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Flags, Graph
from logpost.analyzer.findings.evidence.what_if import Hypothesis
from logpost.replay._native import collective_messages
from logpost.replay.columns import Int64

Calls = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Rounds = list[npt.NDArray[np.int32]]
"""Of an algorithm: the senders and the receivers of messages at a time."""
MOST = 2_000_000
"""Messages of operations of one kind that are played at once; of more, the operations keep their lags."""
OF_FIT = 64
"""Operations that c is found from."""
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
    senders, receivers, _, steps = collective_messages(operation, calls.shape[1], BYTES)
    if 0 < len(senders) * len(calls) <= MOST:
        rounds = np.split(np.stack([senders, receivers]), np.flatnonzero(np.diff(steps)) + 1, axis=1)
        was, left = graph.enter_ps[calls].astype(np.float64), graph.leave_ps[calls[:OF_FIT]]
        fits = [(*_fitted(partial(_ends, rounds, busy), was[:OF_FIT], left), busy) for busy in BUSY]
        off, takes, busy = min(fits)
        needs = _needs(rounds, calls.shape[1])
        if off < _fitted(partial(_met, needs), was[:OF_FIT], left)[0]:
            longer = _ends(rounds, busy, enter_ps[calls].astype(np.float64), takes) - _ends(rounds, busy, was, takes)
            return np.where(needs.all(axis=1), longer, -np.inf)
    return np.full(calls.shape, -np.inf)


def _ends(rounds: Rounds, busy: float, enters: Floats, takes: float) -> Floats:
    """When the members have what the operation gives them; a message takes so long, a part of it either processor."""
    ends: Floats = enters.copy()
    for messages in rounds:
        sent = np.empty((len(ends), messages.shape[1]))
        for i, sender in enumerate(messages[0]):
            ends[:, sender] += busy * takes
            sent[:, i] = ends[:, sender]
        for i, receiver in enumerate(messages[1]):
            ends[:, receiver] = np.maximum(ends[:, receiver], sent[:, i] + (1 - 2 * busy) * takes) + busy * takes
    return ends


def _needs(rounds: Rounds, size: int) -> Flags:
    """By member: those without which it does not end."""
    needs = np.eye(size, dtype=np.bool_)
    for messages in rounds:
        had = needs.copy()
        for sender, receiver in messages.T:
            needs[receiver] |= had[sender]
    return needs


def _met(needs: Flags, enters: Floats, takes: float) -> Floats:
    """The same if each ends so long after the last that it needs."""
    last: Floats = np.where(needs, enters[:, None, :], -np.inf).max(axis=2)
    return last + np.where(needs.sum(axis=1) > 1, takes, 0.0)


def _fitted(ends: Callable[[Floats, float], Floats], enters: Floats, leaves: Int64) -> tuple[float, float]:
    """How far the ends are off, in all, and what it takes for them to have the sum that the leaves have."""
    low, high, wanted = 0.0, float((leaves - enters).max()), float((leaves - enters).sum())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if (ends(enters, middle) - enters).sum() < wanted:
            low = middle
        else:
            high = middle
    return float(np.abs(ends(enters, low) - leaves).sum()), low
