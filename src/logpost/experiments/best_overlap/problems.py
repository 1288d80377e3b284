"""What the paper's figures are about: two networks, ten volumes, and computation in proportion to communication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from logpost.replay.cost.arrays import Number, NumberLike
    from logpost.replay.models.overlap_profile import OverlapProfile


@dataclass(frozen=True)
class Translations:
    """A NIC's TLB."""

    entries: int
    page: int
    """Bytes of an entry."""
    miss: float
    """Of loading an entry again, us."""

    def reloads(self, S: int, flying: int) -> float:
        """Of a message of S bytes that begins when it and `flying` - 1 later ones have been initiated, us."""
        pages = -(-S // self.page)
        return pages * self.miss if flying * pages > self.entries else 0.0


@dataclass(frozen=True)
class Network:
    """What a machine of the paper is simulated with; times in us, G in us per byte."""

    machine: str
    label: str
    L: float
    """Round trip, printed."""
    o: float
    """Of a small message within a burst."""
    G: float
    HD: float
    """Queue depth, printed."""
    outstanding: float = float("inf")
    """Most bytes in flight."""
    growth: float = 0.0
    """Of o with the size, as a share of G."""
    first: Sequence[float] = (0.0, 0.0)
    """What the first message of a burst costs more, as a share of its o: below LARGE and from there on."""
    service: float = 0.0
    """Of the NIC for each message, beyond its bytes."""
    tlb: Translations | None = None

    def initiation(self, S: float, *, first: bool = False) -> float:
        """o of a message within a burst, or of the first one."""
        more = self.first[S >= LARGE] if first else 0.0
        return (self.o + self.growth * self.G * S) * (1.0 + more)

    def transfer(self, S: float) -> float:
        """Time that a message occupies the NIC for."""
        return self.service + self.G * S

    def profile(self) -> OverlapProfile:
        """For the model: o(S, b) and G(S) as the NIC has them."""
        from logpost.replay.cost.arrays import scalar_or_array
        from logpost.replay.models.overlap_profile import OverlapProfile
        from logpost.replay.models.units import MICROSECOND

        def overhead(S: NumberLike, b: NumberLike) -> Number:
            more = np.where(np.asarray(S) < LARGE, *self.first) / np.asarray(b)
            return scalar_or_array((self.o + self.growth * self.G * np.asarray(S)) * (1.0 + more))

        def gap(S: NumberLike, _P: NumberLike) -> Number:
            return scalar_or_array(self.G + self.service / np.asarray(S))

        return OverlapProfile(
            overhead=overhead,
            gap={("N", "l"): gap},
            L_roundtrip=self.L,
            unit=MICROSECOND,
            HD=self.HD,
            outstanding_bytes=self.outstanding,
        )

    def computation(self, ratio: float, V: int) -> float:
        """t_V, us, when it is `ratio` times the G V of its communication."""
        return ratio * self.G * V

    def with_overheads(self, scale: float, growth: float) -> Network:
        """With o `scale` times as large and growing with the size, in bursts as OVL 2.1 prints it.

        A message costs the NIC as much as its initiation costs the processor: the least for which "the issue rate (as
        determined by o) is faster than the network service rate" at every size.
        """
        o = scale * self.o
        return replace(self, o=o, growth=growth, first=FIRST, service=o)


LARGE = 128 * 1024
"""Bytes: o varies with the burst by "around 30 %" below and by "as much as 100 %" above (2.1)."""
FIRST = (0.30, 1.00)
SCALES, GROWTHS = (1.0, 0.5, 2.0), (0.1, 0.0, 0.3)
"""A band around o, and of its linear growth: as a share of G it is below 1, as issuing is faster than serving, by a
"sharp increase" of o where the queue is full. The first of each is the middle."""
INFINIBAND = Network("infiniband_opteron", "Infiniband", L=10.0, o=1.0, G=1.25e-3, HD=64)
ELAN4 = Network("elan4", "Elan4", L=2.4, o=0.5, G=1.1e-3, HD=32, outstanding=4 * 2**20)
"""L, HD and the outstanding limit are printed; o and G are graphs only, so round values are assumed, o over a band."""
ASSUMED = (
    f"o = {INFINIBAND.o:g} us and G = {1e3 * INFINIBAND.G:g} ns/B (Infiniband), {ELAN4.o:g} us and "
    f"{1e3 * ELAN4.G:g} ns/B (Elan4), which the paper has as graphs only; o grows by {GROWTHS[0]:g} G per byte (band: "
    f"o from {min(SCALES):g} to {max(SCALES):g} times that, growth from {min(GROWTHS):g} to {max(GROWTHS):g} G), and "
    "costs 30 % and 100 % more for the first of a burst (2.1); a NIC that serves one transfer after the other, o for "
    "each and its bytes"
)
"""Of every claim that is judged on the NIC with a queue."""
COMM_BOUND, COMP_BOUND, ELAN_RATIO = 0.43, 1.59, 0.56
"""t_V / (G V) of Fig. 7, 8 and 9."""
VOLUMES = tuple(2**i * 1024 * 8 for i in range(1, 11))
"""Table 2: 2K to 1M doubles, in bytes."""
BURSTS = (1, 2, 4, 8, 16, 32, 64)
LARGEST_COUNT = 8192
"""“The burst size b is varied between 1 and 64 in powers of two”; messages of a volume at the most (both section 3)."""
GOOD = 0.12
"""“In general, the loss of performance relative to the best solution is relatively small” (4), of losses up to this."""
