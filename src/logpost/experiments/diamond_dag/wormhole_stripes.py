"""The Diamond DAG on a wormhole-routed network: v = O_s + W + O_r of (15), and waits for channels of other stripes."""

from __future__ import annotations

import random

from logpost.experiments.support.alewife import CYCLE_NS, NODES, WIDTH, wormholes
from logpost.experiments.support.wormhole import Wormholes


def node_of(mapping: str, seed: int) -> list[int]:
    """The node of each stripe, as the workload's --mapping has it; random: another permutation for each seed."""
    stripes = list(range(NODES))
    if mapping == "perfect":
        return [s if s // WIDTH % 2 == 0 else s // WIDTH * WIDTH + WIDTH - 1 - s % WIDTH for s in stripes]
    if mapping == "random":
        random.Random(seed).shuffle(stripes)
    return stripes


def makespan_s(mapping: str, blocks: int, size: int, work: float, o_s: float, seed: int = 1) -> float:
    """Of a run, seconds.

    Args:
        mapping: of stripes to nodes: perfect, default or random.
        blocks: b, of a stripe.
        size: bytes of a block's message.
        work: W, cycles of a block.
        o_s: cycles to launch a message.
        seed: of the random mapping.
    """
    return _Stripes(wormholes(), node_of(mapping, seed), blocks, size, work, o_s).run() * CYCLE_NS * 1e-9


class _Stripes:
    """A stripe receives a block's message, computes, and sends; sender and receiver wait until the bytes are in."""

    def __init__(self, network: Wormholes, nodes: list[int], blocks: int, size: int, work: float, o_s: float) -> None:
        self.network, self.nodes, self.blocks, self.size, self.work, self.o_s = network, nodes, blocks, size, work, o_s
        self.ready = [False] * len(nodes)  # waits for a message
        self.offered = [False] * len(nodes)  # a message for it waits at its sender
        self.next = [0] * len(nodes)

    def run(self) -> float:
        for stripe in range(len(self.nodes)):
            self._begin(0.0, stripe)
        return self.network.run()

    def _begin(self, now: float, stripe: int) -> None:
        """The next block."""
        if self.next[stripe] == self.blocks:
            return
        self.next[stripe] += 1
        if stripe == 0:
            self._compute(now, stripe)
        else:
            self.ready[stripe] = True
            self._meet(now, stripe)

    def _compute(self, now: float, stripe: int) -> None:
        if stripe + 1 == len(self.nodes):
            self.network.at(now + self.work, lambda time: self._begin(time, stripe))
        else:
            self.network.at(now + self.work + self.o_s, lambda time: self._offer(time, stripe + 1))

    def _offer(self, now: float, target: int) -> None:
        self.offered[target] = True
        self._meet(now, target)

    def _meet(self, now: float, target: int) -> None:
        """The message starts when its sender and its receiver are there."""
        if self.ready[target] and self.offered[target]:
            self.ready[target] = self.offered[target] = False
            source, to = self.nodes[target - 1], self.nodes[target]
            self.network.send(now, source, to, self.size, lambda time: self._arrived(time, target))

    def _arrived(self, now: float, target: int) -> None:
        self._compute(now, target)
        self._begin(now, target - 1)
