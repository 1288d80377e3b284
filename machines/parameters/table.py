"""The flat table of LogGP and log3P numbers that the replay engine computes with.

`ReplayParameters` has a row per message-size range of a locality class, plus what holds per class and per machine. All
times are picoseconds: integers, but for the per-byte values, which are float64 (200 Gbit/s is 40 ps/B, but 41 MB/s is
24390.24 ps/B). Rows are sorted by class, then by `max_bytes`; the rows of class c are
`class_start[c]:class_start[c+1]`, and every class has at least one row, the last one open (`max_bytes` = 2**63 - 1).

A message of B bytes in a row costs  o_s + o_s_per_byte B  at the sender,  L + (B - 1) G  on the wire,
o_r + o_r_per_byte B  at the receiver, and occupies a NIC for  max(g, B G).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from logpost.errors import InputError
from logpost.machines.localities import LOCALITIES

A = TypeVar("A", bound=npt.NDArray[Any])
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

UNLIMITED = 2**63 - 1
UNKNOWN_LIMIT = -1
"""Bytes up to which a range or an eager limit holds, where there is no end, and where none is known."""

COLUMNS = ("L_ps", "o_s_ps", "o_s_ps_per_byte", "o_r_ps", "o_r_ps_per_byte", "g_ps", "G_ps_per_byte")
PARAMETERS: Mapping[str, str] = MappingProxyType(
    {
        "L": "L_ps",
        "o_s": "o_s_ps",
        "o_s_per_byte": "o_s_ps_per_byte",
        "o_r": "o_r_ps",
        "o_r_per_byte": "o_r_ps_per_byte",
        "g": "g_ps",
        "G": "G_ps_per_byte",
    }
)
"""Parameter name in machine files -> column of `ReplayParameters`."""

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "L": "latency",
        "o_s": "send overhead",
        "o_s_per_byte": "send overhead per byte",
        "o_r": "receive overhead",
        "o_r_per_byte": "receive overhead per byte",
        "g": "gap between messages",
        "G": "gap per byte",
    }
)

ESTIMATED = "estimated from this trace"

NO_SIDES = (float("nan"), float("nan"))
"""Sides of an interval that is not stated."""


@dataclass(frozen=True)
class Quality:
    """How good a fit is: messages used, and the root mean square of what the fit leaves over."""

    n: int
    residual_ps: float


@dataclass(frozen=True)
class Log3PTable:
    """log3P over message size and stride, NaN where the machine gives nothing.

    sizes (m,) in bytes, increasing; o_mw_ps, o_net_ps, T_mem_ps (m,). l_mw (k, 4): rows of (size, stride, bytes
    of a block or 0 where the machine does not state it, l_mw in ps), between which others are read; alone (n, 4): the
    same of layouts from which no other is read. l_mw_self, alone_self: the same of messages to oneself.
    """

    sizes: IntArray
    o_mw_ps: FloatArray
    o_net_ps: FloatArray
    T_mem_ps: FloatArray
    l_mw: FloatArray
    alone: FloatArray = field(default_factory=lambda: np.empty((0, 4)))
    l_mw_self: FloatArray = field(default_factory=lambda: np.empty((0, 4)))
    alone_self: FloatArray = field(default_factory=lambda: np.empty((0, 4)))


@dataclass(frozen=True)
class BeyondLogGP:
    """What a machine states of messages in addition to LogGP and log3P; None where it does not.

    bursts: rows of (size in bytes, messages in the burst, o in ps), OVL's o(S, b). G_m_ps_per_byte and header_bytes:
    the receiver's DMA and interrupt, LoGPC's G_m and a. reduction_ps_per_byte: gamma, of combining two operands.
    per_hop_ps: what one more hop adds to L, which holds for mean_hops. put, get: rows of (size in bytes, T in ps) of
    one-sided transfers within a node, sizes ascending.
    """

    bursts: FloatArray | None = None
    G_m_ps_per_byte: float | None = None
    header_bytes: float = 0.0
    reduction_ps_per_byte: float | None = None
    per_hop_ps: float | None = None
    mean_hops: float | None = None
    put: FloatArray | None = None
    get: FloatArray | None = None


@dataclass(frozen=True)
class ReplayParameters:
    """See the module's text. `errors` has the columns of `COLUMNS`: half widths, NaN where none is stated.

    `sides` (rows, 2): how far the ends of a stated interval lie below and above the value, NaN where none is stated.
    """

    machine: str
    source: str
    class_id: IntArray
    max_bytes: IntArray
    L_ps: IntArray
    o_s_ps: IntArray
    o_s_ps_per_byte: FloatArray
    o_r_ps: IntArray
    o_r_ps_per_byte: FloatArray
    g_ps: IntArray
    G_ps_per_byte: FloatArray
    class_start: IntArray
    class_origin: IntArray
    eager_limit_bytes: IntArray
    nics_per_node: int
    errors: Mapping[str, FloatArray]
    sides: Mapping[str, FloatArray]
    log3p: Log3PTable | None = None
    beyond_loggp: BeyondLogGP = BeyondLogGP()
    assumptions: tuple[str, ...] = ()
    quality: Mapping[str, Quality] = field(default_factory=lambda: MappingProxyType({}))

    def row(self, class_id: npt.ArrayLike, size: npt.ArrayLike) -> IntArray:
        """Row that holds for messages of `size` bytes in class `class_id`, broadcast like numpy arrays."""
        classes, sizes = np.broadcast_arrays(np.asarray(class_id, np.int64), np.asarray(size, np.int64))
        found = np.empty(classes.shape, dtype=np.int64)
        for c in range(len(LOCALITIES)):
            mine = classes == c
            low, high = int(self.class_start[c]), int(self.class_start[c + 1])
            found[mine] = low + np.searchsorted(self.max_bytes[low:high], sizes[mine], side="left")
        return found

    def same_messages(self, other: ReplayParameters) -> bool:
        """Whether both state the same LogGP values and eager limits for the same ranges of sizes."""
        names = (*COLUMNS, "eager_limit_bytes")
        return self.same_ranges(other) and all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)

    def same_ranges(self, other: ReplayParameters) -> bool:
        """Whether both state their values for the same ranges of sizes in each class."""
        return np.array_equal(self.class_start, other.class_start) and np.array_equal(self.max_bytes, other.max_bytes)

    def eager_limit(self, locality: str) -> int | None:
        """Largest message in bytes that is sent without a handshake; None when unknown."""
        limit = int(self.eager_limit_bytes[class_index(locality)])
        return None if limit == UNKNOWN_LIMIT else limit

    def with_value(self, parameter: str, value_ps: float, classes: Iterable[str] = LOCALITIES) -> ReplayParameters:
        """A copy with one parameter set to `value_ps` (per byte: ps/B) in all ranges of the given classes."""
        if parameter not in PARAMETERS:
            raise InputError(f"{parameter!r} is not a LogGP parameter; use one of {', '.join(PARAMETERS)}")
        if not np.isfinite(value_ps) or value_ps < 0:
            raise InputError(f"{parameter} = {value_ps:g} ps is not a time; give a finite number that is not negative")
        column = PARAMETERS[parameter]
        mine = np.isin(self.class_id, [class_index(name) for name in classes])
        values = getattr(self, column)
        changed = np.where(mine, value_ps if column.endswith("per_byte") else round(value_ps), values)
        columns: dict[str, Any] = {column: frozen(changed.astype(values.dtype))}
        errors = dict(self.errors)
        errors[column] = frozen(np.where(mine, np.nan, errors[column]))
        sides = dict(self.sides)
        sides[column] = frozen(np.where(mine[:, None], np.nan, sides[column]))
        return replace(
            self,
            errors=MappingProxyType(errors),
            sides=MappingProxyType(sides),
            source=f"{self.source}, {parameter} set",
            **columns,
        )


@dataclass(frozen=True)
class RangeValues:
    """One range of one class, already in picoseconds; `errors` maps parameter names to half widths, `sides` those with
    an interval to how far its ends lie below and above the value."""

    max_bytes: int
    L_ps: float
    o_s_ps: float
    o_r_ps: float
    G_ps_per_byte: float = 0.0
    g_ps: float = 0.0
    o_s_ps_per_byte: float = 0.0
    o_r_ps_per_byte: float = 0.0
    errors: Mapping[str, float] = field(default_factory=dict)
    sides: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def class_index(locality: str) -> int:
    """Class id of a locality class's name."""
    if locality not in LOCALITIES:
        raise InputError(f"{locality!r} is not a locality class; use one of {', '.join(LOCALITIES)}")
    return LOCALITIES.index(locality)


def ints(values: Iterable[int]) -> IntArray:
    """A read-only int64 array."""
    return frozen(np.array(list(values), dtype=np.int64))


def frozen(array: A) -> A:
    """The array, made read-only."""
    array.setflags(write=False)
    return array
