"""log3P's tables over size and stride, from half round trips.

    o_mw(s)    = T00(s) - T_mem(s)              T00(s): to oneself, contiguous;  T_mem(s): memory copy
    o_net(s)   = T01(s) - o_mw(s)               T01(s): to another process, contiguous
    l_mw(s, d) = T01(s, d) - T01(s)             what the stride adds to a message to another process
    l_mw_self  = T00(s, d) - T00(s)             the paper's way: the same as T00(s, d) - o_mw(s) - T_mem(s)

with MPI_Type_vector ("datatype") and with packing by hand ("packed"). T(s, d) = o_mw + l_mw + o_net in all cases.

The paper takes l_mw from messages to oneself, because its MPI packs, transfers and unpacks one after the other,
whatever the receiver. A current MPI does not: it cuts a strided message into fragments, so that one process unpacks
while the other one packs (l_mw is then up to half of l_mw_self), or sends it by another protocol than contiguous
data. The file therefore holds l_mw of messages between processes where they were measured, and the page shows both.

A stride that adds nothing, because the other protocol is the faster one, leaves l_mw at zero: beyond its interval that
is refused first. A datatype's l_mw feeds the model; that of packing is stated in addition, because a program that packs
by hand pays it in its own computation.

Symbols: s bytes of data, d bytes from one block to the next; times in s. Source: Cameron, Ge & Sun, LOG3P 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logpost.machines.calibration.estimate import Estimate
from logpost.machines.calibration.refusal import MICROSECONDS, Refusal, refuse

CONFLICTS = 512
"""Smallest power of two among strides that is special: an eighth of the period of a first-level cache's sets, 4 KiB."""


@dataclass(frozen=True)
class Layout:
    """s bytes in blocks of `block`, `stride` bytes from one to the next; contiguous data has stride 0."""

    size: int
    stride: int = 0
    block: int = 0


Times = Mapping[Layout, Estimate]


@dataclass(frozen=True)
class LayoutTimes:
    """Half round trips to oneself (T00) and to another process (T01) and memory copies, by layout.

    `to_self` and `remote` hold contiguous data and data sent with a datatype; the packed ones are packed by hand.
    """

    to_self: Times
    remote: Times
    memory: Times
    packed_to_self: Times
    packed_remote: Times


@dataclass(frozen=True)
class Middleware:
    """log3P values of one contiguous size; None where refused or not measured."""

    size: int
    o_mw: Estimate | None
    o_net: Estimate | None
    T_mem: Estimate | None


@dataclass(frozen=True)
class Strided:
    """What one layout adds to the contiguous message of its size; None where not measured.

    `l_mw` with a datatype, `packed` packed by hand, `to_self` with a datatype to oneself. `remote` says that l_mw and
    packed are of messages to another process.
    """

    layout: Layout
    l_mw: Estimate | None
    packed: Estimate | None
    to_self: Estimate | None
    remote: bool


@dataclass(frozen=True)
class Log3PTables:
    """What the samples give: a row per size, a row per strided layout."""

    sizes: tuple[Middleware, ...]
    strided: tuple[Strided, ...]


def tables(times: LayoutTimes, *, place: str) -> tuple[Log3PTables, list[Refusal]]:
    """The log3P tables and what of them is refused."""
    refused: list[Refusal] = []
    sizes = tuple(_middleware(layout, times, place, refused) for layout in _contiguous(times))
    strided = tuple(_strided(layout, times, place, refused) for layout in _layouts(times))
    return Log3PTables(sizes, tuple(row for row in strided if row is not None)), refused


def _middleware(layout: Layout, times: LayoutTimes, place: str, refused: list[Refusal]) -> Middleware:
    copy, here, there = times.memory.get(layout), times.to_self.get(layout), times.remote.get(layout)
    where = f"(s = {layout.size} B)"
    o_mw = o_net = None
    if copy is not None and here is not None:
        reason = "the memory copy is slower than sending to oneself"
        o_mw = _kept(here - copy, f"{place}.o_mw {where}", reason, refused)
    if o_mw is not None and there is not None:
        reason = "the remote send is faster than the middleware alone"
        o_net = _kept(there - o_mw, f"{place}.o_net {where}", reason, refused)
    return Middleware(layout.size, o_mw, o_net, copy)


def _strided(layout: Layout, times: LayoutTimes, place: str, refused: list[Refusal]) -> Strided | None:
    dense = Layout(layout.size)
    remote = layout in times.remote and dense in times.remote

    def added(strided: Times, contiguous: Times, name: str) -> Estimate | None:
        if layout not in strided or dense not in contiguous:
            return None
        where = f"{place}.{name} (s = {layout.size} B, d = {layout.stride} B)"
        return _at_least_zero(strided[layout] - contiguous[dense], where, refused)

    to_self = added(times.to_self, times.to_self, "l_mw to oneself")
    if remote:
        l_mw = added(times.remote, times.remote, "l_mw")
        packed = added(times.packed_remote, times.remote, "l_mw packed")
    else:
        l_mw, packed = to_self, added(times.packed_to_self, times.to_self, "l_mw packed")
    return Strided(layout, l_mw, packed, to_self, remote) if l_mw is not None or packed is not None else None


def _kept(found: Estimate, place: str, reason: str, refused: list[Refusal]) -> Estimate | None:
    if found.value >= 0.0:
        return found
    refused.append(refuse(place, found, "us", reason, factor=MICROSECONDS))
    return None


def _at_least_zero(found: Estimate, place: str, refused: list[Refusal]) -> Estimate:
    """The estimate, or zero up to its upper end; what is below zero for sure is refused first."""
    if found.value >= 0.0:
        return found
    if found.high < 0.0:
        reason = "strided data is faster than contiguous; it costs nothing more"
        refused.append(refuse(place, found, "us", reason, factor=MICROSECONDS))
    return Estimate(0.0, max(found.high, 0.0), found.samples)


def _contiguous(times: LayoutTimes) -> list[Layout]:
    return sorted({layout for layout in (*times.to_self, *times.memory) if not layout.stride}, key=lambda k: k.size)


def _layouts(times: LayoutTimes) -> list[Layout]:
    columns = (times.to_self, times.remote, times.packed_to_self, times.packed_remote)
    found = {layout for column in columns for layout in column if layout.stride}
    return sorted(found, key=lambda k: (k.size, k.stride, k.block))
