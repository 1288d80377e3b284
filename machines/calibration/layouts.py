"""log3P's tables over size and stride, from half round trips.

    o_mw(s)    = T00(s) - T_mem(s)              T00(s): to oneself, contiguous;  T_mem(s): memory copy
    o_net(s)   = T01(s) - o_mw(s)               T01(s): to another process, contiguous
    l_mw(s, d) = T00(s, d) - T00(s)             the same as T00(s, d) - o_mw(s) - T_mem(s)

with MPI_Type_vector ("datatype") and with packing by hand ("packed"). The datatype's l_mw feeds the model; that of
packing stands beside it, because a program that packs by hand pays it in its own computation.

Symbols: s bytes of data, d bytes from one block to the next; times in s. Source: Cameron, Ge & Sun, LOG3P 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.refusal import MICROSECONDS, Refusal, refuse


@dataclass(frozen=True)
class Layout:
    """s bytes in blocks of `block`, `stride` bytes from one to the next; contiguous data has stride 0."""

    size: int
    stride: int = 0
    block: int = 0


@dataclass(frozen=True)
class LayoutTimes:
    """Half round trips to oneself and to another, and memory copies, by layout; `packed` is T00 packed by hand."""

    to_self: Mapping[Layout, Estimate]
    remote: Mapping[Layout, Estimate]
    memory: Mapping[Layout, Estimate]
    packed: Mapping[Layout, Estimate]


@dataclass(frozen=True)
class Middleware:
    """log3P values of one contiguous size; None where refused or not measured."""

    size: int
    o_mw: Estimate | None
    o_net: Estimate | None
    T_mem: Estimate | None


@dataclass(frozen=True)
class Strided:
    """l_mw of one layout, with a datatype and packed by hand; None where refused or not measured."""

    layout: Layout
    l_mw: Estimate | None
    packed: Estimate | None


@dataclass(frozen=True)
class Log3PTables:
    """What the samples give: a row per size, a row per strided layout."""

    sizes: tuple[Middleware, ...]
    strided: tuple[Strided, ...]


def tables(times: LayoutTimes, *, place: str) -> tuple[Log3PTables, list[Refusal]]:
    """The log3P tables and what of them is refused."""
    refused: list[Refusal] = []

    def kept(found: Estimate, name: str, reason: str) -> Estimate | None:
        if found.value >= 0.0:
            return found
        refused.append(refuse(f"{place}.{name}", found, "us", reason, factor=MICROSECONDS))
        return None

    sizes: list[Middleware] = []
    for layout in sorted((k for k in times.to_self if not k.stride), key=lambda k: k.size):
        copy, here, there = times.memory.get(layout), times.to_self[layout], times.remote.get(layout)
        o_mw = o_net = None
        where = f"(s = {layout.size} B)"
        if copy is not None:
            o_mw = kept(here - copy, f"o_mw {where}", "the memory copy is slower than sending to oneself")
        if o_mw is not None and there is not None:
            reason = "the remote send is faster than the middleware alone"
            o_net = kept(there - o_mw, f"o_net {where}", reason)
        sizes.append(Middleware(layout.size, o_mw, o_net, copy))
    strided: list[Strided] = []
    for layout in sorted(_strided(times), key=lambda k: (k.size, k.stride, k.block)):
        contiguous = times.to_self.get(Layout(layout.size))
        if contiguous is None:
            continue
        where = f"(s = {layout.size} B, d = {layout.stride} B)"
        rows: list[Estimate | None] = []
        for name, column in (("l_mw", times.to_self), ("l_mw packed", times.packed)):
            measured = column.get(layout)
            reason = "strided data is faster than contiguous"
            rows.append(None if measured is None else kept(measured - contiguous, f"{name} {where}", reason))
        strided.append(Strided(layout, rows[0], rows[1]))
    return Log3PTables(tuple(sizes), tuple(strided)), refused


def _strided(times: LayoutTimes) -> set[Layout]:
    return {layout for layout in (*times.to_self, *times.packed) if layout.stride}
