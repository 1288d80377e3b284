"""SENS 5.2: what a remote miss waits for while I/O nodes send messages through the bisection, on a wormhole mesh.

A column of four I/O nodes at either side of the 8 x 4 mesh sends messages of one length along its rows to the other
side, in both directions. A miss is a request and its reply of 24 bytes between two random nodes; one is in the network
at a time, so that it waits for cross-traffic alone.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass

from logpost.experiments.support.alewife import CYCLES_PER_HOP, G
from logpost.experiments.support.wormhole import Action, Wormholes

WIDTH, ROWS = 10, 4
"""Of the mesh with both columns of I/O nodes (SENS 5.2)."""
BISECTION, CHANNELS = 18.0, 8
"""Bytes per cycle across the middle (Table 1), and the channels that share them."""
PACKET = 24.0
"""Bytes for which Table 1 has a latency."""


@dataclass(frozen=True)
class Crossed:
    """What cross-traffic leaves."""

    miss: float
    """Mean time of a miss, cycles."""
    bisection: float
    """Bytes per cycle: 18 without those of the cross-traffic that was delivered."""


def crossed(bisection: float, length: float, misses: int, seed: int = 1) -> Crossed:
    """Play so many misses.

    Args:
        bisection: what cross-traffic is to leave of 18 bytes per cycle.
        length: bytes of a cross-traffic message.
        misses: to play.
        seed: of the misses' places and of when each I/O node begins.
    """
    return _Played(bisection, length, misses, seed).run()


class _Played:
    def __init__(self, bisection: float, length: float, misses: int, seed: int) -> None:
        self.network = Wormholes(width=WIDTH, G=G, hop=CYCLES_PER_HOP)
        self.rng = random.Random(seed)
        self.length, self.misses = length, misses
        rate = (BISECTION - bisection) / CHANNELS
        self.interval = length / rate if rate > 0.0 else 0.0
        self.times: list[float] = []
        self.delivered = 0
        self.queues: dict[int, deque[tuple[int, float, Action]]] = {}

    def run(self) -> Crossed:
        if self.interval:
            for row in range(ROWS):
                left, right = row * WIDTH, row * WIDTH + WIDTH - 1
                for source, target in ((left, right), (right, left)):
                    self.network.at(self.rng.random() * self.interval, self._crossing(source, target))
        self.network.at(self._pause(), self._miss)
        end = self.network.run(lambda: len(self.times) >= self.misses)
        return Crossed(sum(self.times) / len(self.times), BISECTION - self.delivered * self.length / end)

    def _pause(self) -> float:
        """Until the next miss: at any phase of the cross-traffic."""
        return self.network.now + self.rng.random() * (self.interval or PACKET)

    def _crossing(self, source: int, target: int) -> Action:
        def send(now: float) -> None:
            self._send(now, source, target, self.length, self._count)
            self.network.at(now + self.interval, send)

        return send

    def _count(self, _now: float) -> None:
        self.delivered += 1

    def _miss(self, now: float) -> None:
        reader, home = self.rng.sample(range(ROWS * (WIDTH - 2)), 2)
        there, back = (node // (WIDTH - 2) * WIDTH + node % (WIDTH - 2) + 1 for node in (home, reader))

        def answer(time: float) -> None:
            self._send(time, there, back, PACKET, done)

        def done(time: float) -> None:
            self.times.append(time - now)
            self.network.at(self._pause(), self._miss)

        self._send(now, back, there, PACKET, answer)

    def _send(self, now: float, source: int, target: int, size: float, done: Action) -> None:
        """A node sends one message after the other."""
        queue = self.queues.setdefault(source, deque())
        queue.append((target, size, done))
        if len(queue) == 1:
            self._next(now, source)

    def _next(self, now: float, source: int) -> None:
        target, size, done = self.queues[source][0]

        def sent(time: float) -> None:
            self.queues[source].popleft()
            if self.queues[source]:
                self._next(time, source)
            done(time)

        self.network.send(now, source, target, size, sent)
