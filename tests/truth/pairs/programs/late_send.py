"""A stage computes statistics of 8 ms on its block before it sends the block, which the next stage waits for. The first
stage needs the last one's result for the next step."""

import numpy
from pair import FIXED, RANK, RANKS, WORLD, measured, sleep

STEPS = 12
block = numpy.zeros(1000)


def statistics() -> None:
    sleep(8)


def stage(step: int) -> None:
    if RANK > 0 or step > 0:
        WORLD.Recv(block, source=(RANK - 1) % RANKS)
    sleep(4)
    if not FIXED:
        statistics()
    if RANK < RANKS - 1 or step < STEPS - 1:
        WORLD.Send(block, dest=(RANK + 1) % RANKS)
    if FIXED:
        statistics()


with measured():
    for step in range(STEPS):
        stage(step)
