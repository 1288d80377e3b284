"""The bound on contention against a simulation of long wormhole messages on Alewife's 4 x 8 mesh.

The outside opinion on the units of B: LOGPC's printed 2.2 takes a cycle per byte and channel, its G = 0.5 says two
bytes per cycle, and the machine took 2.03 B cycles per message.
"""

from __future__ import annotations

import heapq
import random
from collections import deque

import pytest

from logpost.replay.models import logpc_all_to_all as remap
from logpost.replay.models.papers.alewife import MESH, alewife_mesh

Hop = tuple[tuple[int, int], tuple[int, int]]
Way = list[Hop | int]


def route(source: int, target: int) -> list[Hop]:
    """Channels in dimension order, x first; the two directions are separate channels."""
    (x, y), (to_x, to_y) = ((node % MESH[0], node // MESH[0]) for node in (source, target))
    hops = []
    while (x, y) != (to_x, to_y):
        step = (x + (1 if to_x > x else -1), y) if x != to_x else (x, y + (1 if to_y > y else -1))
        hops.append(((x, y), step))
        x, y = step
    return hops


def simulate(channel_time: float, *, one_at_a_time: bool, messages: int = 400, seed: int = 1) -> float:
    """Time between two messages of a node, over B, when each takes 1 B cycle (2 G B) without contention.

    A message is so long that hops cost no time: its header acquires the channels of its route one by one, each in order
    of arrival, and all are held until the bytes have passed. The node then spends what is left of the cycle on
    receiving, and sends to another random node. ``one_at_a_time``: a node takes one message in at a time.
    """
    rng = random.Random(seed)
    nodes = MESH[0] * MESH[1]
    held: set[Hop | int] = set()
    waiting: dict[Hop | int, deque[tuple[int, Way, int]]] = {}
    events: list[tuple[float, int, int, Way]] = []
    serial, delivered, settled = 0, 0, (0.0, 0)

    def at(time: float, node: int, way: Way) -> None:
        nonlocal serial
        serial += 1
        heapq.heappush(events, (time, serial, node, way))

    def advance(now: float, node: int, way: Way, taken: int) -> None:
        for i in range(taken, len(way)):
            if way[i] in held:
                waiting.setdefault(way[i], deque()).append((node, way, i))
                return
            held.add(way[i])
        at(now + channel_time, node, way)

    for node in range(nodes):
        at(rng.random(), node, [])
    while delivered < messages * nodes:
        now, _, node, way = heapq.heappop(events)
        if not way:
            target = rng.randrange(nodes - 1)
            target += target >= node
            advance(now, node, [*route(node, target), *([target] if one_at_a_time else [])], 0)
            continue
        delivered += 1
        if delivered == messages * nodes // 5:
            settled = (now, delivered)
        at(now + 1.0 - channel_time, node, [])
        held.difference_update(way)
        for waiter in [waiting[hop].popleft() for hop in way if waiting.get(hop)]:
            advance(now, *waiter)
    return (now - settled[0]) * nodes / (delivered - settled[1])


@pytest.mark.parametrize(
    ("channel_time", "one_at_a_time", "interval"),
    [(0.5, False, 1.50), (0.5, True, 1.64), (1.0, False, 2.67)],
    ids=["2 bytes per cycle", "2 bytes per cycle, one message into a node at a time", "1 byte per cycle"],
)
def test_long_messages_on_the_mesh(channel_time: float, one_at_a_time: bool, interval: float) -> None:
    """Not printed, derived: random other destinations, 2 G B = B cycles per message without contention."""
    found = simulate(channel_time, one_at_a_time=one_at_a_time)
    assert found == pytest.approx(interval, abs=0.03)
    # The closed model with the same channel time expects 1.41 and 2.22: 5 to 17 % less.
    bound = float(remap.slow_down_bound(0.5, alewife_mesh(self_messages=False, consistent=channel_time == 0.5)))
    assert 0.82 < bound / found < 0.96


def test_the_machine_lies_between_the_two_units() -> None:
    """Measured: 2.03 B (LOGPC 5.1.3)."""
    assert simulate(0.5, one_at_a_time=True) < 2.03 < simulate(1.0, one_at_a_time=False)
