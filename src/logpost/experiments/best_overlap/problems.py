"""What the paper's figures are about: two networks, ten volumes, and computation in proportion to communication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logpost.replay.models.overlap_profile import OverlapProfile


@dataclass(frozen=True)
class Network:
    """What a machine of the paper is simulated with; times in us, G in us per byte."""

    machine: str
    label: str
    L: float
    """Round trip, printed."""
    o: float
    G: float
    HD: float
    """Queue depth, printed."""
    outstanding: float = float("inf")
    """Most bytes in flight."""

    def profile(self) -> OverlapProfile:
        """For the model: what the testbed is given."""
        from logpost.replay.models.overlap_profile import OverlapProfile
        from logpost.replay.models.units import MICROSECOND

        return OverlapProfile.constant(
            o=self.o, G=self.G, L_roundtrip=self.L, unit=MICROSECOND, HD=self.HD, outstanding_bytes=self.outstanding
        )

    def computation(self, ratio: float, V: int) -> float:
        """t_V, us, when it is `ratio` times the G V of its communication."""
        return ratio * self.G * V


INFINIBAND = Network("infiniband_opteron", "Infiniband", L=10.0, o=1.0, G=1.25e-3, HD=64)
ELAN4 = Network("elan4", "Elan4", L=2.4, o=0.5, G=1.1e-3, HD=32, outstanding=4 * 2**20)
"""L, HD and the outstanding limit are printed; o and G are graphs only, so round values are assumed."""
ASSUMED = (
    f"o = {INFINIBAND.o:g} us and G = {1e3 * INFINIBAND.G:g} ns/B (Infiniband), {ELAN4.o:g} us and "
    f"{1e3 * ELAN4.G:g} ns/B (Elan4), which the paper has as graphs only, and a NIC that serves one transfer after the "
    "other"
)
"""Of every claim that is judged on the NIC with a queue."""
COMM_BOUND, COMP_BOUND, ELAN_RATIO = 0.43, 1.59, 0.56
"""t_V / (G V) of Fig. 7, 8 and 9."""
VOLUMES = tuple(2**i * 1024 * 8 for i in range(1, 11))
"""Table 2: 2K to 1M doubles, in bytes."""
BURSTS = (1, 2, 4, 8, 16, 32, 64)
LARGEST_COUNT = 8192
"""Messages of a volume at the most (section 3)."""
