"""A stand-in for LogGOPSim: reads a GOAL text and replays it with a heap of events, under the rules of our replay.

    send   the processor for o_s; then the NIC for max(g, B G); the first byte is there L after it had the NIC
    later  the receiver's NIC for max(g, B G); the last byte is there (B - 1) G after the first one had it
    recv   done o_r after the last byte, from when the processor has nothing else to do
    calc   the processor for its length

Its parser is its own: an export that this cannot read, txt2bin cannot either.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

CALC = re.compile(r"l(\d+): calc (\d+)$")
MESSAGE = re.compile(r"l(\d+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)$")
NEEDS = re.compile(r"l(\d+) (i?requires) l(\d+)$")


@dataclass
class Op:
    kind: str
    amount: int
    peer: int = -1
    tag: int = -1
    missing: int = 0
    on_done: list[int] = field(default_factory=list)
    on_begin: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Cost:
    """Of one message, in the unit of the schedule."""

    o_s: int
    o_r: int
    L: int
    service: int
    serialization: int


def parse(text: str) -> list[list[Op]]:
    """Operations by rank; refuses whatever the grammar of txt2bin does not have."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("//")]
    first = re.fullmatch(r"num_ranks (\d+)", lines[0])
    assert first is not None
    count = int(first[1])
    ranks: list[list[Op]] = []
    for line in lines[1:]:
        if line == f"rank {len(ranks)} {{":
            ranks.append([])
        elif match := CALC.match(line):
            assert int(match[1]) == len(ranks[-1])
            ranks[-1].append(Op("calc", int(match[2])))
        elif match := MESSAGE.match(line):
            assert int(match[1]) == len(ranks[-1])
            assert int(match[3]) > 0, "txt2bin's simulator counts bytes - 1 without a sign"
            ranks[-1].append(Op(match[2], int(match[3]), int(match[4]), int(match[5])))
        elif match := NEEDS.match(line):
            later, earlier = ranks[-1][int(match[1])], ranks[-1][int(match[3])]
            later.missing += 1
            (earlier.on_done if match[2] == "requires" else earlier.on_begin).append(int(match[1]))
        else:
            assert line == "}", line
    assert len(ranks) == count
    return ranks


class Replay:
    """Runs a schedule; `finish` has the end of each rank."""

    def __init__(self, text: str, cost: Callable[[int, int, int], Cost]) -> None:
        self.ranks, self.cost = parse(text), cost
        n = len(self.ranks)
        self.finish, self.free, self.sending, self.receiving = [0] * n, [0] * n, [0] * n, [0] * n
        self.busy = [0] * n  # operations that could run, or run
        self.posted: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        self.arrived: list[list[tuple[int, int, int, int]]] = [[] for _ in range(n)]
        self.inbox: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # last byte, operation, o_r
        self.events: list[tuple[int, int, str, int, tuple[int, ...]]] = []
        self.counter = 0
        for rank, ops in enumerate(self.ranks):
            for number, op in enumerate(ops):
                if op.missing == 0:
                    self.ready(0, rank, number)
        while self.events:
            time, _, what, rank, rest = heapq.heappop(self.events)
            getattr(self, what)(time, rank, *rest)
        left = sum(op.missing >= 0 for ops in self.ranks for op in ops)
        assert left == 0, f"{left} operations never ended: the schedule blocks"

    def push(self, time: int, what: str, rank: int, *rest: int) -> None:
        self.counter += 1
        heapq.heappush(self.events, (time, self.counter, what, rank, rest))

    def ready(self, time: int, rank: int, number: int) -> None:
        if self.ranks[rank][number].kind != "recv":
            self.busy[rank] += 1
        self.push(time, "start", rank, number)

    def resolve(self, time: int, rank: int, numbers: list[int]) -> None:
        for number in numbers:
            op = self.ranks[rank][number]
            op.missing -= 1
            if op.missing == 0:
                self.ready(time, rank, number)

    def start(self, time: int, rank: int, number: int) -> None:
        op = self.ranks[rank][number]
        if op.kind == "recv":
            self.resolve(time, rank, op.on_begin)
            self.posted[rank].append((number, time))
            self.match(rank)
            return
        if self.free[rank] > time:
            self.push(self.free[rank], "start", rank, number)
            return
        length = op.amount
        if op.kind == "send":
            cost = self.cost(rank, op.peer, op.amount)
            length = cost.o_s
            injected = max(time + length, self.sending[rank])
            self.sending[rank] = injected + cost.service
            self.push(injected + cost.L, "arrive", op.peer, rank, op.tag, op.amount)
        self.free[rank] = time + length
        self.resolve(time, rank, op.on_begin)
        self.push(time + length, "end", rank, number)

    def end(self, time: int, rank: int, number: int) -> None:
        op = self.ranks[rank][number]
        op.missing = -1
        self.finish[rank] = max(self.finish[rank], time)
        self.resolve(time, rank, op.on_done)
        if op.kind != "recv":
            self.busy[rank] -= 1
        self.push(time, "serve", rank)

    def arrive(self, time: int, rank: int, source: int, tag: int, size: int) -> None:
        if self.receiving[rank] > time:
            self.push(self.receiving[rank], "arrive", rank, source, tag, size)
            return
        cost = self.cost(source, rank, size)
        self.receiving[rank] = time + cost.service
        self.arrived[rank].append((source, tag, time + cost.serialization, cost.o_r))
        self.match(rank)

    def match(self, rank: int) -> None:
        for number, posted in self.posted[rank]:
            op = self.ranks[rank][number]
            for message in self.arrived[rank]:
                if message[:2] == (op.peer, op.tag):
                    self.arrived[rank].remove(message)
                    self.posted[rank].remove((number, posted))
                    last = max(message[2], posted)
                    self.inbox[rank].append((last, number, message[3]))
                    self.push(last, "serve", rank)
                    return

    def serve(self, time: int, rank: int) -> None:
        arrived = sorted(one for one in self.inbox[rank] if one[0] <= time)
        if not arrived or self.busy[rank] or self.free[rank] > time:
            return
        self.inbox[rank].remove(arrived[0])
        self.free[rank] = time + arrived[0][2]
        self.push(self.free[rank], "end", rank, arrived[0][1])
