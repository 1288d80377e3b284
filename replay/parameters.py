"""From a machine's flat table to the parameters of the native core."""

from __future__ import annotations

import numpy as np

from logpost.machines import ReplayParameters
from logpost.replay._native import Parameters


def native_parameters(machine: ReplayParameters, *, asynchronous_progress: bool = False) -> Parameters:
    """The native core's copy of `machine`.

    Args:
        machine: LogGP values per locality class and message-size range, in picoseconds.
        asynchronous_progress: a posted receive answers a rendezvous request outside of MPI calls too
            (a progress thread, or a NIC that matches).
    """
    mw_bytes: list[float] = []
    mw_strides: list[float] = []
    l_mw: list[float] = []
    if machine.log3p is not None:
        # Sizes for which some stride was not measured are left out: the grid must be whole to interpolate in it.
        known = ~np.isnan(machine.log3p.l_mw_ps).any(axis=1)
        if known.any() and machine.log3p.strides.size:
            mw_bytes = [float(size) for size in machine.log3p.sizes[known]]
            mw_strides = [float(stride) for stride in machine.log3p.strides]
            l_mw = [float(value) for value in machine.log3p.l_mw_ps[known].ravel()]
    return Parameters(
        class_start=machine.class_start,
        max_bytes=machine.max_bytes,
        L=machine.L_ps,
        o_s=machine.o_s_ps,
        o_s_per_byte=machine.o_s_ps_per_byte,
        o_r=machine.o_r_ps,
        o_r_per_byte=machine.o_r_ps_per_byte,
        g=machine.g_ps,
        G=machine.G_ps_per_byte,
        eager_limit=machine.eager_limit_bytes,
        nics_per_node=machine.nics_per_node,
        mw_bytes=mw_bytes,
        mw_strides=mw_strides,
        l_mw=l_mw,
        asynchronous_progress=asynchronous_progress,
    )
