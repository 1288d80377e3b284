"""MPI by ctypes, opened by the path that is given, from Python functions; what each call is, is at its end."""

import atexit
import ctypes
import sys
import threading
import time

mpi = ctypes.CDLL(sys.argv[1])
openmpi = hasattr(mpi, "ompi_mpi_comm_world")
world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")) if openmpi else ctypes.c_int(0x44000000)
total = 0.0


def relax(seconds: float) -> None:
    """Compute so long, in processor time of the thread."""
    global total
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for i in range(1, 2000):
            total += 1.0 / i


class Solver:
    def step(self) -> None:
        relax(0.1)
        mpi.MPI_Barrier(world)  # at step

    def naïve(self) -> None:
        mpi.MPI_Barrier(world)  # at naïve

    def key(self, one: int) -> int:
        mpi.MPI_Barrier(world)  # at sorted
        return one


def solve() -> None:
    solver = Solver()
    for _ in range(5):
        solver.step()  # at loop
    solver.naïve()  # at once
    sorted([1], key=solver.key)  # at key


mpi.MPI_Init(None, None)
solve()  # at solve
others = [threading.Thread(target=relax, args=(0.1,)) for _ in range(3)]
for other in others:
    other.start()
for other in others:
    other.join()
atexit.register(mpi.MPI_Finalize)  # as mpi4py does: no Python function calls it
