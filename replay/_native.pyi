"""Native core of logpost.replay."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Parameters:
    """LogGP and middleware parameters per locality, in picoseconds."""

    def __init__(self, class_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bytes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], L: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], o_s: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], o_s_per_byte: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], o_r: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], o_r_per_byte: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], G: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], eager_limit: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nics_per_node: int, mw_bytes: Sequence[float], mw_strides: Sequence[float], l_mw: Sequence[float], asynchronous_progress: bool) -> None: ...

def split(machine: Parameters, s0: numpy.ndarray, s1: numpy.ndarray, sw0: numpy.ndarray, r0: numpy.ndarray, rw0: numpy.ndarray, rw1: numpy.ndarray, bytes: numpy.ndarray, locality: numpy.ndarray, stride: numpy.ndarray, waits: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Parts (n, 11) and deficits (n,) of n messages."""

def fit(duration: int, wanted: list[int], tiers: list[int]) -> tuple[list[int], int, int]:
    """Granted durations, residual, deficit."""
