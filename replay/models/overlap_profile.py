"""What the overlap model needs of a machine: o(S,b), G(P,S,pattern), L and the limits of the hardware.

Symbols: S message size (bytes), b burst length, P processes; o initiation overhead per message, o_s + o_r
(time), L latency (time; round trip for get, one way for put), G inverse bandwidth (time per byte), HD hardware
queue depth (messages), patterns N (nearest neighbour) and C (across the bisection), levels l (lowest bandwidth
of any pair, the largest G) and h (highest).

Source: OVL section 2.1. The paper only plots o and G: the tables come from a measurement. L and HD are printed:
Elan3 7.4 us and 32, Elan4 2.4 us and 32, Infiniband 10 us and 64; 4 MB outstanding on Elan. L is the round trip
here, which the paper's definition of LogGP says, and half of it is used for put.

Validity: sizes, bursts and P of the tables; outside them the nearest point holds, except that o keeps growing with S.

Errors: ModelError for tables without points, doubled or negative ones, HD < 1, a limit of 0 bytes, no G table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from logpost.replay.models.arrays import ModelError, Number, NumberLike, values
from logpost.replay.models.tables import Surface
from logpost.replay.models.units import TimeUnit

Pattern: TypeAlias = Literal["N", "C"]
Level: TypeAlias = Literal["l", "h"]
Operation: TypeAlias = Literal["get", "put"]


@dataclass(frozen=True, eq=False)
class OverlapProfile:
    """o(S,b) and G(P,S,pattern,level) as tables, L (round trip), HD and the outstanding-bytes limit."""

    overhead: Surface
    gap: Mapping[tuple[Pattern, Level], Surface]
    L_roundtrip: float
    unit: TimeUnit
    HD: float = float("inf")
    outstanding_bytes: float = float("inf")

    def __post_init__(self) -> None:
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
        families: dict[tuple[Pattern, Level], list[tuple[float, float, float]]] = {}
        for P, S, pattern, level, per_byte in gap:
            families.setdefault((pattern, level), []).append((S, P, per_byte))
        return cls(
            overhead=Surface.through(overhead, what="o(S,b)"),
            gap={
                key: Surface.through(rows, what=f"G_{key[0]}^{key[1]}", extrapolate=False)
                for key, rows in families.items()
            },
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

    def L(self, operation: Operation = "get") -> float:
        """Round trip for get, half of it for put."""
        return self.L_roundtrip if operation == "get" else self.L_roundtrip / 2.0

    def G(self, P: NumberLike, S: NumberLike, *, interleaved: bool = False) -> Number:
        """Inverse bandwidth for a peer schedule.

        Contiguous peers: G_N^l, or G_C^h in its place (OVL section 4); interleaved: G_C^l. A profile with
        one pattern only is used for both.
        """
        wanted: tuple[tuple[Pattern, Level], ...] = (
            (("C", "l"), ("N", "l")) if interleaved else (("N", "l"), ("C", "h"), ("C", "l"))
        )
        for key in wanted:
            if key in self.gap:
                return self.gap[key](S, P)
        return next(iter(self.gap.values()))(S, P)
