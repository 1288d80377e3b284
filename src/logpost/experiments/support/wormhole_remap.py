"""The all-to-all remap with long messages on a wormhole-routed network (LOGPC 5.1.3)."""

from __future__ import annotations

import random
from collections.abc import Callable

from logpost.experiments.support.wormhole import Action, Wormholes

WARM_UP = 5
"""The first of so many parts of the messages does not count."""


Target = Callable[[random.Random, int], int]
"""Of a message by its sender's node."""


def interval_per_byte(
    network: Wormholes,
    nodes: int,
    size: int,
    messages: int,
    o_s: float,
    seed: int,
    target: Target | None = None,
) -> float:
    """Time between two messages of a node over their size, in cycles per byte.

    Every node sends to random others, one message at a time, each o_s after the one before is out; a message is let in
    whatever the node does (its DMA engines work at the same time).

    Args:
        network: without messages.
        nodes: that send.
        size: B.
        messages: of each node, on average.
        o_s: cycles to launch a message.
        seed: of destinations and first sends.
        target: of each message; None: a random other node.
    """

    def other(rng: random.Random, node: int) -> int:
        to = rng.randrange(nodes - 1)
        return to + (to >= node)

    rng = random.Random(seed)
    delivered: list[float] = []

    def start(node: int) -> Action:
        def begin(now: float) -> None:
            to = other(rng, node) if target is None else target(rng, node)
            network.send(now, node, to, size, lambda time: done(time, node))

        return begin

    def done(now: float, node: int) -> None:
        delivered.append(now)
        network.at(now + o_s, start(node))

    for node in range(nodes):
        network.at(rng.random() * size, start(node))
    network.run(lambda: len(delivered) >= messages * nodes)
    begin = len(delivered) // WARM_UP
    return (delivered[-1] - delivered[begin]) * nodes / (len(delivered) - 1 - begin) / size
