"""The same work lasts twice as long on rank 2, as on a node at half speed; in the fixed run no node is slow."""

import numpy
from pair import FIXED, RANK, WORLD, measured, sleep


def integrate() -> None:
    sleep(16 if RANK == 2 and not FIXED else 8)


with measured():
    for _step in range(25):
        integrate()
        WORLD.Allreduce(numpy.ones(1), numpy.empty(1))
