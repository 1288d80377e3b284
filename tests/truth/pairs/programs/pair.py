"""What the Python programs share: the variant, work that needs no core, and the bounds of what is measured."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
FIXED = "fixed" in sys.argv[1:]


def sleep(ms: float) -> None:
    time.sleep(ms / 1000)


@contextmanager
def measured():
    """Rank 0 prints `seconds S`."""
    WORLD.Barrier()
    began = MPI.Wtime()
    yield
    WORLD.Barrier()
    if RANK == 0:
        print(f"seconds {MPI.Wtime() - began:.9f}", flush=True)
