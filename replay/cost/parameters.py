"""From a machine's flat table to the parameters of the native core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logpost.errors import InputError
from logpost.machines import LOCALITIES, Log3PTable, ReplayParameters
from logpost.machines.parameters import PARAMETERS, BeyondLogGP
from logpost.replay import _native
from logpost.replay._native import Parameters
from logpost.replay.cost.message_models import MessageModel
from logpost.replay.cost.tables import NO_LINE, NO_SURFACE, Line, Surface


def native_parameters(
    machine: ReplayParameters, *, asynchronous_progress: bool = False, model: MessageModel = MessageModel.full
) -> Parameters:
    """The native core's copy of `machine`.

    Args:
        machine: what the machine states of messages, in picoseconds.
        asynchronous_progress: the library sends the CTS of a posted receive outside of MPI calls too
            (a progress thread, or a NIC that matches).
        model: the only values that count are those that it knows.

    Raises:
        InputError: the model is log3P, and the machine has no o_mw or o_net.
    """
    lacking = sorted({"o_mw", "o_net"} - lines_by_size(machine.log3p).keys())
    if model is MessageModel.log3p and lacking:
        raise InputError(
            f"machine {machine.machine} has no {' and no '.join(lacking)}: log3P needs both; calibrate the machine, "
            "or use another model (full, loggp)"
        )
    return build(
        class_start=machine.class_start,
        max_bytes=machine.max_bytes,
        ranges={name: getattr(machine, column) for name, column in PARAMETERS.items()},
        eager_limit=machine.eager_limit_bytes,
        across_network=machine.class_origin == LOCALITIES.index("other_node"),
        log3p_table=machine.log3p,
        beyond_loggp=machine.beyond_loggp,
        nics_per_node=machine.nics_per_node,
        asynchronous_progress=asynchronous_progress,
        model=model,
    )


def build(
    *,
    class_start: NDArray[np.int64],
    max_bytes: NDArray[np.int64],
    ranges: Mapping[str, NDArray[Any]],
    eager_limit: NDArray[np.int64],
    across_network: NDArray[np.bool_],
    log3p_table: Log3PTable | None,
    beyond_loggp: BeyondLogGP,
    nics_per_node: int = 1,
    asynchronous_progress: bool = False,
    model: MessageModel = MessageModel.full,
) -> Parameters:
    """Native parameters from ranges by parameter name (NaN: not stated) and the tables of a machine."""
    none = np.empty((0, 4))
    rows = {name: none if log3p_table is None else getattr(log3p_table, name) for name in _STRIDED}
    l_mw, block = _middleware(rows["l_mw"])
    l_mw_self, block_self = _middleware(rows["l_mw_self"])
    lines = lines_by_size(log3p_table)
    bursts = beyond_loggp.bursts
    values = {name: np.ascontiguousarray(column, dtype=np.float64) for name, column in ranges.items()}
    per_hop, mean_hops = beyond_loggp.per_hop_ps, beyond_loggp.mean_hops
    return Parameters(
        class_start=class_start,
        max_bytes=max_bytes,
        L=values["L"],
        o_s=values["o_s"],
        o_s_per_byte=values["o_s_per_byte"],
        o_r=values["o_r"],
        o_r_per_byte=values["o_r_per_byte"],
        g=values["g"],
        G=values["G"],
        eager_limit=eager_limit,
        across_network=across_network.astype(np.uint8),
        nics_per_node=nics_per_node,
        l_mw=l_mw,
        block_bytes=block,
        l_mw_alone=np.ascontiguousarray(rows["alone"], dtype=np.float64).ravel(),
        l_mw_self=l_mw_self,
        block_bytes_self=block_self,
        l_mw_alone_self=np.ascontiguousarray(rows["alone_self"], dtype=np.float64).ravel(),
        o_mw=lines["o_mw"].native if "o_mw" in lines else NO_LINE,
        o_net=lines["o_net"].native if "o_net" in lines else NO_LINE,
        T_mem=lines["T_mem"].native if "T_mem" in lines else NO_LINE,
        o_burst=NO_SURFACE if bursts is None else Surface.through(map(tuple, bursts.tolist()), what="o(S, b)").native,
        G_m=beyond_loggp.G_m_ps_per_byte,
        header_bytes=beyond_loggp.header_bytes,
        per_hop=per_hop or 0.0,
        mean_hops=None if per_hop is None else mean_hops,
        asynchronous_progress=asynchronous_progress,
        model=model,
        reduction_per_byte=beyond_loggp.reduction_ps_per_byte or 0.0,
        put=_through(beyond_loggp.put),
        get=_through(beyond_loggp.get),
    )


def _through(rows: NDArray[np.float64] | None) -> _native.Curve:
    """The line through rows of (size in bytes, ps)."""
    return NO_LINE if rows is None else Line(rows[:, 0], rows[:, 1]).native


_STRIDED = ("l_mw", "alone", "l_mw_self", "alone_self")
_BY_SIZE = ("o_mw", "o_net", "T_mem")


def lines_by_size(table: Log3PTable | None) -> dict[str, Line]:
    """o_mw, o_net and T_mem in picoseconds over the size, those of which the machine gives some point."""
    found: dict[str, Line] = {}
    for name in _BY_SIZE if table is not None else ():
        column = getattr(table, f"{name}_ps")
        known = ~np.isnan(column)
        if table is not None and known.any():
            found[name] = Line(table.sizes[known].astype(np.float64), column[known])
    return found


def _middleware(rows: NDArray[np.float64]) -> tuple[list[_native.Surface], NDArray[np.float64]]:
    """l_mw over size and stride for each size of blocks, and these in bytes (0: not stated).

    Points that do not state their blocks have the smallest ones that others state.
    """
    if not len(rows):
        return [], np.empty(0)
    size, stride, block, value = rows.T
    block = np.where(block > 0, block, block[block > 0].min(initial=np.inf) if (block > 0).any() else 0.0)
    blocks = np.unique(block)
    surfaces = []
    for one in blocks:
        mine = block == one
        points = {(s, d): (s, d, v) for s, d, v in zip(size[mine], stride[mine], value[mine], strict=True)}.values()
        surfaces.append(Surface.through(points, what=f"l_mw of blocks of {one:g} B").native)
    return surfaces, blocks
