"""The network that a program ran on, or would run on, as far as the replay has it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class KnownNetwork:
    """The network that the replay knows.

    Attributes:
        links: (from, to) vertices of the topology, shape (n, 2), by the numbers that the replay has for them.
        byte_ps: how long a byte occupies each link, shape (n,).
        grid: a mesh or torus of two dimensions at least, for which LoGPC's equations hold.
        notes: what was taken for granted, or why the network is not known.
        known: whether the replay has it.
    """

    links: Ids = field(default_factory=lambda: np.empty((0, 2), dtype=np.int32))
    byte_ps: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    grid: bool = False
    notes: list[str] = field(default_factory=list)
    known: bool = False
