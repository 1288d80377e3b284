"""LogP machines to calibrate: LOGP's micro-benchmark played event by event, so that the truth is known.

A message of n bytes costs its sender o_s + o_s_per_byte n, leaves its network interface max(g, n G) after the one
before it, arrives L + (n - 1) G later and max(g, n G) after the one that its destination received before it, and costs
the receiver o_r + o_r_per_byte n. A request is answered by its receiver with a small message, `turn_around` after it
was handled, and before the next request is. A requester handles the replies that have arrived before each request, o_r
each; with `capacity` of its requests unanswered it stalls until a reply arrives (LOGP 3.1). Several requesters may
share a responder (K to 1), one may have several (1 to many).

Noise, when requested, is what a computer does to each step: a log-normal factor of given width, and rarely a
delay (an interrupt).

Times in seconds. Source: LOGP sections 3.1, 3.2, 3.5.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from logpost.errors import InputError

MOST_REQUESTS = 10**6
"""The most that a benchmark of signatures plays: each costs one round trip of the simulator."""


@dataclass(frozen=True)
class Truth:
    """The parameters of a simulated machine, in seconds, seconds per byte and bytes."""

    L: float
    o_s: float
    o_r: float
    g: float
    G: float = 0.0
    o_s_per_byte: float = 0.0
    o_r_per_byte: float = 0.0
    turn_around: float = 0.0
    """Between the handling of a request and the sending of its reply (LOGP 3.5: "handling the request turning around
    reply")."""
    capacity: int | None = None
    """Unanswered requests at which a requester stalls; None: as many as fit into a round trip, so that the first reply
    arrives before the network is full."""

    def __post_init__(self) -> None:
        for name in ("L", "o_s", "o_r", "g", "G", "o_s_per_byte", "o_r_per_byte", "turn_around"):
            value = getattr(self, name)
            if not math.isfinite(value) or value < 0.0:
                raise InputError(f"{name} = {value:g} s of a simulated machine must be finite and not negative")
        if self.capacity is not None and self.capacity < 1:
            raise InputError(f"capacity = {self.capacity} of a simulated machine must be at least 1")

    def send(self, size: float) -> float:
        """o_s(n) of n bytes beyond a small message."""
        return self.o_s + self.o_s_per_byte * size

    def receive(self, size: float) -> float:
        """o_r(n)."""
        return self.o_r + self.o_r_per_byte * size

    def gap(self, size: float) -> float:
        """max(g, n G): what a message occupies a network interface for."""
        return max(self.g, size * self.G)

    def wire(self, size: float) -> float:
        """L + (n - 1) G."""
        return self.L + max(size - 1.0, 0.0) * self.G

    def round_trip(self, size: float = 0.0) -> float:
        """A request of n bytes and its small reply: T(n) of LOGP 4.1, and RTT for a small one."""
        there = self.send(size) + self.wire(size) + self.receive(size)
        return there + self.turn_around + self.o_s + self.L + self.o_r

    def outstanding(self, size: float = 0.0) -> int:
        """The capacity in requests."""
        if self.capacity is not None:
            return self.capacity
        return math.ceil(self.round_trip(size) / self.send(size)) + 1 if self.send(size) > 0 else MOST_REQUESTS


@dataclass(frozen=True)
class Noise:
    """Each step of a processor takes exp(N(0, width)) times as long; with probability `rare`, `delay` seconds more."""

    width: float
    rare: float = 0.0
    delay: float = 0.0


def issue_times(
    truth: Truth,
    requests: int,
    delta: float = 0.0,
    *,
    size: float = 0.0,
    requesters: int = 1,
    responders: int = 1,
    noise: Noise | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Time of requester 0 from its start to the end of each issue and its computation, shape (requests,).

    Entry M - 1 over M is cost(M, Delta): the first M issues do not depend on how many follow. Raises InputError for
    numbers of requests or processors that make no benchmark.
    """
    if not 1 <= requests <= MOST_REQUESTS:
        raise InputError(f"{requests} requests; a signature needs 1 to {MOST_REQUESTS}")
    if requesters < 1 or responders < 1:
        raise InputError(f"{requesters} requesters and {responders} responders; at least one of each is needed")
    played = _Simulation(truth, requests, delta, size, requesters, responders, _Clock(noise, seed))
    return np.asarray(played.run())


def signature(
    truth: Truth,
    bursts: Sequence[int],
    deltas: Sequence[float],
    *,
    size: float = 0.0,
    noise: Noise | None = None,
    batches: int = 1,
    seed: int = 0,
) -> dict[float, np.ndarray]:
    """cost(M, Delta) over the bursts for each Delta; shape (batches, bursts) each."""
    at = np.asarray(bursts, dtype=np.int64)
    found: dict[float, np.ndarray] = {}
    for number, delta in enumerate(deltas):
        rows = [
            issue_times(truth, int(at.max()), delta, size=size, noise=noise, seed=seed + 1000 * number + batch)
            for batch in range(batches)
        ]
        found[delta] = np.stack([row[at - 1] / at for row in rows])
    return found


class _Clock:
    """The duration of a processor's step: as planned, or with noise."""

    def __init__(self, noise: Noise | None, seed: int) -> None:
        self._noise = noise
        self._random = np.random.default_rng(seed)

    def __call__(self, planned: float) -> float:
        if self._noise is None:
            return planned
        took = planned * math.exp(self._noise.width * self._random.standard_normal())
        if self._noise.rare and self._random.random() < self._noise.rare:
            took += self._noise.delay
        return took


@dataclass
class _Processor:
    """One end: its inbox, its network interface (last departure, last arrival), and what a requester has done."""

    inbox: deque[int] = field(default_factory=deque)
    busy: bool = False
    left: float = -math.inf
    arrived: float = -math.inf
    issued: int = 0
    outstanding: int = 0


class _Simulation:
    """The benchmark as a sequence of events in time order."""

    def __init__(
        self, truth: Truth, requests: int, delta: float, size: float, requesters: int, responders: int, clock: _Clock
    ) -> None:
        self._truth, self._requests, self._delta, self._size, self._clock = truth, requests, delta, size, clock
        self._requesters = requesters
        self._all = [_Processor() for _ in range(requesters + responders)]
        self._capacity = truth.outstanding(size)
        self._events: list[tuple[float, int, str, int, int]] = []
        self._number = 0
        self._ends: list[float] = []

    def run(self) -> list[float]:
        for requester in range(self._requesters):
            self._at(0.0, "free", requester, -1)
        while self._events and len(self._ends) < self._requests:
            now, _, what, rank, other = heapq.heappop(self._events)
            if what == "arrive":
                self._all[rank].inbox.append(other)
            elif what == "inject":
                self._inject(now, rank, other)
                continue
            else:
                if what == "issued" and rank == 0:
                    self._ends.append(now)
                self._all[rank].busy = False
            if not self._all[rank].busy:
                self._next(now, rank)
        return self._ends

    def _at(self, time: float, what: str, rank: int, other: int) -> None:
        self._number += 1
        heapq.heappush(self._events, (time, self._number, what, rank, other))

    def _next(self, now: float, rank: int) -> None:
        """What a processor that is free does: handle what has arrived, or issue, or wait."""
        end = self._all[rank]
        if rank >= self._requesters:
            if end.inbox:
                requester = end.inbox.popleft()
                end.busy = True
                handled = now + self._clock(self._truth.receive(self._size)) + self._truth.turn_around
                done = handled + self._clock(self._truth.o_s)
                self._at(done, "inject", rank, requester)
                self._at(done, "free", rank, -1)
            return
        if end.inbox:
            end.inbox.popleft()
            end.outstanding -= 1
            end.busy = True
            self._at(now + self._clock(self._truth.o_r), "free", rank, -1)
        elif end.issued < self._requests and end.outstanding < self._capacity:
            responder = self._requesters + (rank + end.issued) % (len(self._all) - self._requesters)
            end.issued += 1
            end.outstanding += 1
            end.busy = True
            sent = now + self._clock(self._truth.send(self._size))
            self._at(sent, "inject", rank, responder)
            self._at(sent + self._clock(self._delta), "issued", rank, -1)

    def _inject(self, now: float, source: int, target: int) -> None:
        """Through the sender's interface, over the wire, through the receiver's interface."""
        size = self._size if source < self._requesters else 0.0
        gap = self._truth.gap(size)
        leaves = max(now, self._all[source].left + gap)
        self._all[source].left = leaves
        arrives = max(leaves + self._truth.wire(size), self._all[target].arrived + gap)
        self._all[target].arrived = arrives
        self._at(arrives, "arrive", target, source)
