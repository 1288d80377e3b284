"""The all-to-all remap with short messages on a wormhole-routed network whose nodes have finite queues (LOGPC 5.1).

A node's processor handles what has arrived (o_r each, and o_s for the reply to a request), else sends its next message
(o_s) into its output queue, which the network empties one message after the other. A full input queue refuses
messages, which then hold the channels behind them; a full output queue stalls the processor, which still handles what
arrives. Synchronous: a node sends its next request when the reply to the one before has been handled.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from logpost.experiments.support.alewife import CYCLES_PER_HOP, NODES, WIDTH, G
from logpost.experiments.support.wormhole import Wormholes

HOT = 0
O_S, O_R = 15.0, 122.0
"""Cycles (LOGPC Table 1, two arguments)."""
BYTES, ROOM = 16.0, 16
"""Of a message of two arguments with its header of 8 (LOGPC 2.1), and how many a queue of 256 bytes (2) holds."""


@dataclass(frozen=True)
class Remapped:
    """What a run of the remap costs, cycles."""

    iteration: float
    """Of a node, until all messages are handled."""
    stall: float
    """Of a message: time in which its processor has nothing to do but to send, and its output queue is full, mean."""
    others: float
    """From a send to the arrival of a message between nodes that are not the hot one, mean."""
    links: float
    """Wait of a message, or reply, for links, mean."""


@dataclass
class _Node:
    arrived: deque[tuple[int, bool]] = field(default_factory=deque)
    """(source, whether it is a reply)."""
    inside: int = 0
    """In the input queue, or on the way into it."""
    leaving: deque[tuple[int, bool, float]] = field(default_factory=deque)
    owed: deque[int] = field(default_factory=deque)
    """Replies that wait for room in the output queue."""
    busy: bool = False
    sent: int = 0
    waits: bool = False
    stalled_at: float | None = None


def remap(
    messages: int, hot: float, *, synchronous: bool, seed: int, later: float = 0.0, contended: bool = True
) -> Remapped:
    """Play it.

    Args:
        messages: of each node.
        hot: share of the other nodes' messages that is sent to node HOT; the rest is for random nodes.
        synchronous: requests whose replies are waited for.
        seed: of destinations.
        later: cycles by which each message arrives later, though the network has let it through.
        contended: whether messages wait for each other's links.
    """
    return _Played(messages, hot, synchronous, seed, later, contended).run()


def _target(rng: random.Random, node: int, hot: float) -> int:
    if node != HOT and rng.random() < hot:
        return HOT
    target = rng.randrange(NODES - 1)
    return target + (target >= node)


class _Played:
    def __init__(self, messages: int, hot: float, synchronous: bool, seed: int, later: float, contended: bool) -> None:
        self.messages, self.synchronous, self.later = messages, synchronous, later
        rng = random.Random(seed)
        # Drawn before anything happens, so that the same messages are sent on a network without contention.
        self.targets = [[_target(rng, node, hot) for _ in range(messages)] for node in range(NODES)]
        self.nodes = [_Node() for _ in range(NODES)]
        self.network = Wormholes(
            width=WIDTH,
            G=G,
            hop=CYCLES_PER_HOP,
            contended=contended,
            room=self._room,
            entering=self._entering,
        )
        self.others: list[float] = []
        self.stall = 0.0

    def run(self) -> Remapped:
        for node in range(NODES):
            self._next(0.0, node)
        end = self.network.run()
        each = self.stall / (NODES * self.messages)
        waited = sum(wait for (here, there), wait in self.network.waited.items() if here != there)
        sent = NODES * self.messages * (2 if self.synchronous else 1)
        return Remapped(end / self.messages, each, sum(self.others) / len(self.others), waited / sent)

    def _room(self, node: int) -> bool:
        return self.nodes[node].inside < ROOM

    def _entering(self, node: int) -> None:
        self.nodes[node].inside += 1

    def _next(self, now: float, node: int) -> None:
        """What a free processor does: replies that it owes, what has arrived, its next message."""
        one = self.nodes[node]
        if one.busy:
            return
        if one.owed and len(one.leaving) < ROOM:
            self._work(now, node, O_S, lambda time: self._put(time, node, one.owed.popleft(), reply=True))
        elif one.arrived and not one.owed:
            source, reply = one.arrived.popleft()
            one.inside -= 1
            self.network.admit(now, (node, node))
            self._work(now, node, O_R, lambda _time: self._handled(node, source, reply=reply))
        elif one.sent < self.messages and not one.waits and not one.owed and len(one.leaving) < ROOM:
            target = self.targets[node][one.sent]
            one.sent += 1
            one.waits = self.synchronous
            self._work(now, node, O_S, lambda time: self._put(time, node, target, reply=False))
        elif len(one.leaving) == ROOM and one.stalled_at is None:
            one.stalled_at = now

    def _work(self, now: float, node: int, cycles: float, then: Callable[[float], None]) -> None:
        one = self.nodes[node]
        one.busy = True
        if one.stalled_at is not None:
            self.stall += now - one.stalled_at
            one.stalled_at = None

        def done(time: float) -> None:
            self.nodes[node].busy = False
            then(time)
            self._next(time, node)

        self.network.at(now + cycles, done)

    def _handled(self, node: int, source: int, *, reply: bool) -> None:
        if reply:
            self.nodes[node].waits = False
        elif self.synchronous:
            self.nodes[node].owed.append(source)

    def _put(self, now: float, node: int, target: int, *, reply: bool) -> None:
        """Into the output queue."""
        leaving = self.nodes[node].leaving
        leaving.append((target, reply, now))
        if len(leaving) == 1:
            self._inject(now, node)

    def _inject(self, now: float, node: int) -> None:
        target, reply, since = self.nodes[node].leaving[0]

        def there(time: float) -> None:
            if HOT not in (node, target):
                self.others.append(time - since)
            self.nodes[node].leaving.popleft()
            if self.nodes[node].leaving:
                self._inject(time, node)
            self.network.at(time + self.later, arrive)
            self._next(time, node)

        def arrive(time: float) -> None:
            self.nodes[target].arrived.append((node, reply))
            self._next(time, target)

        self.network.send(now, node, target, BYTES, there)
