"""What the Python programs share: the variant, work that needs no core, and the bounds of what is measured: as in a
recording, from MPI_Init to MPI_Finalize, modules and objects that are loaded in between included."""

from __future__ import annotations

import atexit
import sys
import time
from contextlib import contextmanager

from mpi4py import MPI

BEGAN = MPI.Wtime()
WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
FIXED = "fixed" in sys.argv[1:]


def sleep(ms: float) -> None:
    time.sleep(ms / 1000)


@contextmanager
def measured():
    """Rank 0 prints `seconds S` in the end."""
    WORLD.Barrier()
    yield
    WORLD.Barrier()
    if RANK == 0:
        atexit.register(lambda: print(f"seconds {MPI.Wtime() - BEGAN:.9f}", flush=True))
