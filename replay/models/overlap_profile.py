"""What the overlap model needs of a machine: o(S,b), G(P,S,pattern), L and the limits of the hardware.

Symbols: S message size (bytes), b burst length, P processes; o initiation overhead per message, o_s + o_r
(time), L latency (time; round trip for get, one way for put), G inverse bandwidth (time per byte), HD hardware
queue depth (messages), patterns N (nearest neighbour) and C (across the bisection), levels l (lowest bandwidth
of any pair, the largest G) and h (highest).

Source: OVL section 2.1. The paper only plots o and G: the tables come from a measurement. L and HD are printed:
Elan3 7.4 us and 32, Elan4 2.4 us and 32, Infiniband 10 us and 64; 4 MB outstanding on Elan. L is the round trip
here, which the paper's definition of LogGP says, and half of it is used for put. Without tables o(S,b), G(P,S) and L
are functions of S alone, e.g. the lines of a LogGP measurement over message sizes.

Validity: sizes, bursts and P of the tables; outside them the nearest point holds, except that o keeps growing with S.

Errors: ModelError for tables without points, doubled or negative ones, HD < 1, a limit of 0 bytes, no G table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from logpost.replay.cost.arrays import ModelError, Number, NumberLike, values
from logpost.replay.cost.tables import Surface
from logpost.replay.models.units import TimeUnit

Pattern: TypeAlias = Literal["N", "C"]
Level: TypeAlias = Literal["l", "h"]
Operation: TypeAlias = Literal["get", "put"]
Curve: TypeAlias = Callable[[NumberLike, NumberLike], Number]
"""Of the size, and of the burst (o) or the processes (G)."""


def overhead_table(points: Iterable[tuple[float, float, float]]) -> Surface:
    """o(S,b) through (S, b, time per message)."""
    return Surface.through(points, what="o(S,b)")


def gap_tables(
    points: Iterable[tuple[float, float, Pattern, Level, float]],
) -> dict[tuple[Pattern, Level], Surface]:
    """G(P,S) of each pattern and level through (P, S, pattern, level, time per byte)."""
    families: dict[tuple[Pattern, Level], list[tuple[float, float, float]]] = {}
    for P, S, pattern, level, per_byte in points:
        families.setdefault((pattern, level), []).append((S, P, per_byte))
    return {
        key: Surface.through(rows, what=f"G_{key[0]}^{key[1]}", extrapolate=False) for key, rows in families.items()
    }


@dataclass(frozen=True, eq=False)
class OverlapProfile:
    """o(S,b), G(P,S,pattern,level) and L(S) (round trip; one number or by size), HD, the outstanding-bytes limit."""

    overhead: Curve
    gap: Mapping[tuple[Pattern, Level], Curve]
    L_roundtrip: float | Callable[[NumberLike], Number]
    unit: TimeUnit
    HD: float = float("inf")
    outstanding_bytes: float = float("inf")

    def __post_init__(self) -> None:
        if not callable(self.L_roundtrip):
            values("L_roundtrip", self.L_roundtrip)
        values("HD", self.HD, at_least=1.0, finite=False)
        values("outstanding_bytes", self.outstanding_bytes, above=0.0, finite=False)
        if not self.gap:
            raise ModelError("the profile has no G table: give G for at least one pattern and level")

    @classmethod
    def from_tables(
        cls,
        *,
        overhead: Iterable[tuple[float, float, float]],
        gap: Iterable[tuple[float, float, Pattern, Level, float]],
        L_roundtrip: float,
        unit: TimeUnit,
        HD: float = float("inf"),
        outstanding_bytes: float = float("inf"),
    ) -> OverlapProfile:
        """``overhead``: (S, b, time per message); ``gap``: (P, S, pattern, level, time per byte)."""
        return cls(
            overhead=overhead_table(overhead),
            gap=gap_tables(gap),
            L_roundtrip=L_roundtrip,
            unit=unit,
            HD=HD,
            outstanding_bytes=outstanding_bytes,
        )

    @classmethod
    def constant(
        cls,
        *,
        o: float,
        G: float,
        L_roundtrip: float,
        unit: TimeUnit,
        HD: float = float("inf"),
        outstanding_bytes: float = float("inf"),
    ) -> OverlapProfile:
        """One o and one G for every size, burst and pattern: plain LogGP."""
        return cls.from_tables(
            overhead=[(1.0, 1.0, o)],
            gap=[(1.0, 1.0, "N", "l", G)],
            L_roundtrip=L_roundtrip,
            unit=unit,
            HD=HD,
            outstanding_bytes=outstanding_bytes,
        )

    def o(self, S: NumberLike, b: NumberLike) -> Number:
        """o(S,b): time to initiate one of b back-to-back operations of S bytes."""
        return self.overhead(S, b)

    def L(self, operation: Operation = "get", S: NumberLike = 0.0) -> Number:
        """Round trip of a message of S bytes for get, half of it for put."""
        there_and_back = self.L_roundtrip(S) if callable(self.L_roundtrip) else self.L_roundtrip
        return there_and_back if operation == "get" else there_and_back / 2.0

    def G(self, P: NumberLike, S: NumberLike, *, interleaved: bool = False) -> Number:
        """Inverse bandwidth for a peer schedule of P processes, 2 at least: one alone has no peer.

        Contiguous peers: G_N^l, or G_C^h in its place (OVL section 4); interleaved: G_C^l. A profile with
        one pattern only is used for both.
        """
        processes = np.maximum(np.asarray(P), 2.0)
        wanted: tuple[tuple[Pattern, Level], ...] = (
            (("C", "l"), ("N", "l")) if interleaved else (("N", "l"), ("C", "h"), ("C", "l"))
        )
        for key in wanted:
            if key in self.gap:
                return self.gap[key](S, processes)
        return next(iter(self.gap.values()))(S, processes)
