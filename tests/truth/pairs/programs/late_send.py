"""A stage computes statistics of 8 ms on its block before it sends the block, which the next stage waits for."""

import numpy
from pair import FIXED, RANK, RANKS, WORLD, measured, sleep

block = numpy.zeros(1000)


def statistics() -> None:
    sleep(8)


def stage() -> None:
    if RANK > 0:
        WORLD.Recv(block, source=RANK - 1)
    sleep(4)
    if not FIXED:
        statistics()
    if RANK < RANKS - 1:
        WORLD.Send(block, dest=RANK + 1)
    if FIXED:
        statistics()


with measured():
    for _step in range(12):
        stage()
        WORLD.Barrier()
