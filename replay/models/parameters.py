"""LogGP(O,S) parameters of one machine, with their unit.

Symbols (LogGOPS letters):

==== ================ ==================================================================
L    time             latency of the wire and switches for the first byte
o_s  time             CPU time to send a message (``o`` sets both overheads)
o_r  time             CPU time to receive a message
g    time             shortest interval between consecutive messages of one interface
G    time per byte    gap per byte of a long message, 1/bandwidth
O    time per byte    CPU overhead per byte (0 in LogP and LogGP)
S    bytes            largest message sent eagerly (infinite: no handshake)
==== ================ ==================================================================

Every value may be a scalar or a column, so that a sweep is one call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from logpost.replay.cost.arrays import Number, NumberLike, values
from logpost.replay.models.units import TimeUnit


@dataclass(frozen=True, kw_only=True)
class LogGPParameters:
    """L, o_s, o_r, g (time) and G, O (time per byte), S (bytes), in an explicit time unit.

    Raises ModelError for a negative or non-finite value (S may be infinite).
    """

    L: Number
    o_s: Number
    o_r: Number
    g: Number = 0.0
    G: Number = 0.0
    O: Number = 0.0  # noqa: E741 - LogGOPS's own letter
    S: Number = float("inf")
    unit: TimeUnit

    def __post_init__(self) -> None:
        for name in ("L", "o_s", "o_r", "g", "G", "O"):
            object.__setattr__(self, name, values(name, getattr(self, name)))
        object.__setattr__(self, "S", values("S", self.S, finite=False))

    @classmethod
    def symmetric(
        cls, *, L: NumberLike, o: NumberLike, g: NumberLike = 0.0, G: NumberLike = 0.0, unit: TimeUnit
    ) -> LogGPParameters:
        """The original papers' form: one overhead o for sender and receiver."""
        return cls(
            L=values("L", L), o_s=values("o", o), o_r=values("o", o), g=values("g", g), G=values("G", G), unit=unit
        )

    @property
    def o(self) -> Number:
        """Mean overhead (o_s + o_r)/2, LogP's single o."""
        return (self.o_s + self.o_r) / 2.0

    def to(self, unit: TimeUnit) -> LogGPParameters:
        """The same machine in another time unit."""
        factor = self.unit.in_units_of(unit)
        return replace(
            self,
            L=self.L * factor,
            o_s=self.o_s * factor,
            o_r=self.o_r * factor,
            g=self.g * factor,
            G=self.G * factor,
            O=self.O * factor,
            unit=unit,
        )
