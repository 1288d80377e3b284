"""Each rank's part is gathered on rank 0, and the whole broadcast from there; Allgather is one operation."""

import numpy
from pair import FIXED, RANK, RANKS, WORLD, measured

mine = numpy.ones(64)
whole = numpy.zeros(64 * RANKS)


def share_parts() -> None:
    if FIXED:
        WORLD.Allgather(mine, whole)
    else:
        WORLD.Gather(mine, whole if RANK == 0 else None, root=0)
        WORLD.Bcast(whole, root=0)


with measured():
    for _step in range(20000):
        share_parts()
