"""MPI by ctypes, opened by the path that is given: a message each way between two ranks."""

import ctypes
import sys

mpi = ctypes.CDLL(sys.argv[1])
openmpi = hasattr(mpi, "ompi_mpi_comm_world")


def handle(name: str, number: int) -> object:
    """Of Open MPI an object of the library, of MPICH a number."""
    return ctypes.byref(ctypes.c_char.in_dll(mpi, name)) if openmpi else ctypes.c_int(number)


world, kind = handle("ompi_mpi_comm_world", 0x44000000), handle("ompi_mpi_int", 0x4C000405)
status = ctypes.create_string_buffer(64)
rank, x, y = ctypes.c_int(), ctypes.c_int(7), ctypes.c_int()
for rc in (
    mpi.MPI_Init(None, None),
    mpi.MPI_Comm_rank(world, ctypes.byref(rank)),
    mpi.MPI_Sendrecv(
        ctypes.byref(x), 1, kind, 1 - rank.value, 5, ctypes.byref(y), 1, kind, 1 - rank.value, 5, world, status
    ),
    mpi.MPI_Finalize(),
):
    assert rc == 0
assert y.value == 7
