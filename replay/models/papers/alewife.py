"""Alewife as LOGPC prints it, for the claims of LOGPC and SENS."""

from __future__ import annotations

import numpy as np

from logpost.replay.models import diamond_dag, logpc, units
from logpost.replay.models.kary_ncube import mean_distances
from logpost.replay.models.network_contention import Network
from logpost.replay.models.parameters import LogGPParameters

# Alewife, LOGPC Tables 1 (two arguments) and 2; a and G_m are inferred.
CYCLE = units.cycles(20.0)
ALEWIFE_SHORT = LogGPParameters(L=21, o_s=15, o_r=122, g=15, unit=CYCLE)
ALEWIFE_LONG = logpc.LongMessageParameters(L=8, o_sl=25, o_rl=129, G=0.5, G_m=0.25 * 1.45, a=8, unit=CYCLE)
MESH = (8, 4)
"""Nodes in each dimension: 4 × 8 (SENS 5)."""


def alewife_mesh(*, self_messages: bool = True, consistent: bool = False) -> Network:
    """The 8 x 4 mesh with one mean k_d (1.9375 or 2); a byte takes a cycle, or G = 0.5 when consistent."""
    k_d = sum(np.asarray(d) for d in mean_distances(MESH, self_messages=self_messages)) / 2.0
    return Network.symmetric(float(k_d), channel_time=0.5 if consistent else 1.0)


def diamond(*, interrupt: float = 0.0) -> diamond_dag.DiamondDAG:
    """LOGPC 5.2: n = 1024, 100 cycles per task, P = 32, (15) as printed."""
    return diamond_dag.DiamondDAG(
        n=1024, P=32, task=100, L=8, o_s=25, G=0.5, a=8, o_rl=interrupt, as_printed=True, unit=CYCLE
    )
