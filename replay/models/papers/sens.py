"""SENS's numbers that follow from the other papers' parameters."""

from __future__ import annotations

import numpy as np

from logpost.replay.models.kary_ncube import mean_distances
from logpost.replay.models.papers.alewife import ALEWIFE_LONG, MESH
from logpost.replay.models.papers.claim import Claim, Paper

SENS = Paper(
    key="SENS",
    title="Chong et al., The Sensitivity of Communication Mechanisms to Bandwidth and Latency",
    claims=(
        Claim(
            "Table 1",
            "network latency of a 24-byte packet",
            "15",
            "cycles",
            lambda: 24 * np.asarray(ALEWIFE_LONG.G) + 0.8 * sum(np.asarray(d) for d in mean_distances(MESH)),
            "24 B at G = 0.5 and 3.875 hops of 0.8 cycles",
        ),
        Claim("Table 1", "bisection per cycle", "18.0", "B/cycle", lambda: 360 / 20, "360 MB/s at 20 MHz"),
        Claim(
            "Table 1",
            "bisection",
            "360",
            "MB/s",
            lambda: 8.0 * 40,
            "8 links of 40 MB/s (contradiction 22)",
            reproduces=False,
        ),
        Claim(
            "Table 1",
            "remote miss",
            "50",
            "cycles",
            lambda: (38 + 66) / 2,
            "mean of the best and the worst write miss of Fig. 3 in hardware, 38 and 66 (contradiction 22)",
            reproduces=False,
        ),
        Claim(
            "3.2",
            "null active message",
            "102",
            "cycles",
            lambda: 9 + 21 + 117,
            "o_s + L + o_r of LOGPC's Table 1: another quantity (contradiction 24)",
            reproduces=False,
        ),
    ),
    not_computed=("The time breakdowns and the curves over bandwidth and latency are measured or simulated.",),
    contradictions=(
        (
            22,
            "360 MB/s bisection needs 45 MB/s links (8 x 40 = 320); the remote miss is 50 against (38+66)/2 = 52; "
            "'42 or 63, "
            "dirty or clean' against 38 for clean in Fig. 3.",
        ),
        (23, "Paragon: 2800 MB/s = 8 x 350 here, links of 175 MB/s in LOGP."),
        (24, "A null active message takes 102 cycles here, o_s + L + o_r = 147 in LOGPC: different quantities."),
    ),
)
