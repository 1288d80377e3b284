"""Long messages on a wormhole-routed mesh, played event by event: what the testbed's flow-level network leaves out.

A message's header acquires the channels of its route one by one, x first; each channel serves one message at a time, in
the order of arrival, and a blocked header keeps the channels that it has ("when the header of a message is blocked, all
other data in the message stops advancing and remains in the network, blocking the progress of any other message
requiring the channels occupied", LOGPC 3). A node takes one message in at a time. Once the header has arrived, the
bytes follow at the rate of the slower end: a byte takes G, and `slowdown` as long at a node whose sending and receiving
DMA engines are both at work (LOGPC 2.2: "this memory contention causes a 45 percent slowdown for each DMA operation").
All channels are given back when the last byte is in: messages are long against the queues of the routers.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

Action = Callable[[float], None]
Channel = tuple[int, int]
"""From node to node; (node, node) is the way into the node itself."""


def route(width: int, source: int, target: int) -> list[Channel]:
    """Channels in dimension order on a mesh of rows of `width`, and the way into the target."""
    found, here = [], source
    while here != target:
        x, to_x = here % width, target % width
        step = (1 if to_x > x else -1) if x != to_x else (width if target > here else -width)
        found.append((here, here + step))
        here += step
    return [*found, (target, target)]


@dataclass(eq=False)
class _Worm:
    source: int
    target: int
    left: float
    """Bytes that have not arrived."""
    way: list[Channel]
    done: Action
    taken: int = 0
    """Channels of the way."""
    queued: float = 0.0
    """When it began to wait for the next one."""
    since: float = 0.0
    rate: float = 0.0
    """Bytes per cycle since then."""
    version: int = 0
    """Of its end in the queue of events: another rate makes the earlier ones void."""


@dataclass
class Wormholes:
    """The network; times in cycles, or in whatever G is given in."""

    width: int
    G: float
    slowdown: float = 1.0
    hop: float = 0.0
    """Time in which a header passes a router."""
    contended: bool = True
    """False: messages share links without waiting for each other, so that no time is spent on network contention."""
    room: Callable[[int], bool] = lambda _node: True
    """Whether a node has room for one more message; without it a message holds its channels and waits."""
    entering: Callable[[int], None] = lambda _node: None
    """Called when a message is let into a node."""
    waited: dict[Channel, float] = field(default_factory=dict)
    """By channel: the time that messages waited for it."""
    now: float = 0.0
    _events: list[tuple[float, int, Action]] = field(default_factory=list)
    _serial: int = 0
    _held: set[Channel] = field(default_factory=set)
    _waiting: dict[Channel, deque[_Worm]] = field(default_factory=dict)
    _sends: dict[int, _Worm] = field(default_factory=dict)
    _receives: dict[int, _Worm] = field(default_factory=dict)
    """By node: the message whose bytes its DMA engine is moving."""

    def at(self, time: float, action: Action) -> None:
        """Call `action(time)` then."""
        self._serial += 1
        heapq.heappush(self._events, (time, self._serial, action))

    def run(self, until: Callable[[], bool] = lambda: False) -> float:
        """Play until nothing is left to happen, or `until` says so after an event; the time then."""
        while self._events and not until():
            self.now, _, action = heapq.heappop(self._events)
            action(self.now)
        return self.now

    def send(self, now: float, source: int, target: int, size: float, done: Action) -> None:
        """Let a message of `size` bytes into the network; `done` is called when its last byte has arrived.

        A node has one sending engine: the next message may be sent when this one is done.
        """
        self._advance(now, _Worm(source, target, size, route(self.width, source, target), done))

    def _advance(self, now: float, worm: _Worm) -> None:
        """The header takes the next channel, or queues for it."""
        if worm.taken == len(worm.way):
            self._sends[worm.source] = self._receives[worm.target] = worm
            worm.since = now
            self._pace(now, worm.source, worm.target)
            return
        channel = worm.way[worm.taken]
        if self._refused(channel):
            worm.queued = now
            self._waiting.setdefault(channel, deque()).append(worm)
            return
        self._take(now, channel, worm)

    def _refused(self, channel: Channel) -> bool:
        """It serves another message, or leads into a node without room."""
        if channel[0] != channel[1]:
            return self.contended and channel in self._held
        return channel in self._held or not self.room(channel[0])

    def admit(self, now: float, channel: Channel) -> None:
        """Let the next message that waits for a channel have it, if it is free; called when a node has room again."""
        if self._waiting.get(channel) and not self._refused(channel):
            worm = self._waiting[channel].popleft()
            self.waited[channel] = self.waited.get(channel, 0.0) + now - worm.queued
            self._take(now, channel, worm)

    def _take(self, now: float, channel: Channel, worm: _Worm) -> None:
        self._held.add(channel)
        if channel[0] == channel[1]:
            self.entering(channel[0])
        worm.taken += 1
        self.at(now + self.hop, lambda time: self._advance(time, worm))

    def _pace(self, now: float, *nodes: int) -> None:
        """New rates of the messages that leave or enter these nodes."""
        for worm in {id(w): w for node in nodes for w in self._worms_at(node)}.values():
            worm.left -= worm.rate * (now - worm.since)
            both = any(n in self._sends and n in self._receives for n in (worm.source, worm.target))
            worm.since, worm.rate = now, 1.0 / (self.G * (self.slowdown if both else 1.0))
            worm.version += 1
            self.at(now + worm.left / worm.rate, self._ending(worm, worm.version))

    def _worms_at(self, node: int) -> list[_Worm]:
        return [moving[node] for moving in (self._sends, self._receives) if node in moving]

    def _ending(self, worm: _Worm, version: int) -> Action:
        def end(now: float) -> None:
            if worm.version == version:
                self._finish(now, worm)

        return end

    def _finish(self, now: float, worm: _Worm) -> None:
        del self._sends[worm.source], self._receives[worm.target]
        self._held.difference_update(worm.way)
        self._pace(now, worm.source, worm.target)
        for channel in worm.way:
            self.admit(now, channel)
        worm.done(now)
