"""OVL's get program on a network whose NIC serves one transfer after the other, played event by event.

The testbed shares a link equally among all transfers in flight; a NIC has a queue: the first of a burst is complete
while the others wait, and can be computed on. Initiating blocks while HD transfers are in flight (OVL 2.1):

    initiation i    begins when the processor is free and transfer i - HD is complete, takes o(S), more for the first
                    of a burst
    transfer i      begins L/2 after its initiation and not before the one ahead of it has ended, takes the NIC's
                    service of a message and G S, is complete L/2 after its end: o + L + G S for one alone; where the
                    NIC has a TLB (OVL 3.1), its initiation loads the translations of its pages, and if later
                    initiations have replaced them before the transfer begins, they are loaded again
    computation i   begins when the processor reaches it and transfer i is complete, takes t_S

The patterns of Fig. 6: B initiates a burst, waits for all of it and computes; C waits for each message when its
computation is due; E initiates the next burst before it computes on the current one.

Symbols: S bytes of a message, b of a burst; o overhead, L round trip, t_S computation per message (us); G us per byte;
HD queue depth. Source: OVL Fig. 6 and sections 2.1, 3.1.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal

from logpost.experiments.best_overlap.decomposition import Decomposed
from logpost.experiments.best_overlap.problems import Network

Pattern = Literal["B", "C", "E"]
"""A is B and C with bursts of one message."""


def played(network: Network, ratio: float, case: Decomposed, pattern: Pattern = "E") -> float:
    """Time of the program in a pattern of Fig. 6, us; `ratio` is t_V / (G V)."""
    count, transfer = case.V // case.S, network.transfer(case.S)
    compute = network.computation(ratio, case.S)
    within, first = network.initiation(case.S), network.initiation(case.S, first=True)
    depth, tlb = int(min(network.HD, count)), network.tlb
    initiated: list[float] = []
    complete: list[float] = []
    now = served = 0.0

    def completion(i: int) -> float:
        nonlocal served
        while len(complete) <= i:
            this = len(complete)
            begin = max(initiated[this] + network.L / 2, served)
            served = begin + transfer
            if tlb is not None:
                served += tlb.reloads(case.S, bisect_right(initiated, begin) - this)
            complete.append(served + network.L / 2)
        return complete[i]

    def initiate(until: int) -> None:
        nonlocal now
        o = first
        while len(initiated) < until:
            if len(initiated) >= depth:
                now = max(now, completion(len(initiated) - depth))
            now += o
            o = within
            initiated.append(now)

    ahead = case.b if pattern == "E" else 0
    initiate(ahead)
    for begin in range(0, count, case.b):
        end = min(begin + case.b, count)
        initiate(min(end + ahead, count))
        if pattern == "B":
            now = max(now, completion(end - 1))
        for i in range(begin, end):
            now = max(now, completion(i)) + compute
    return now
