"""SENS's numbers that follow from the other papers' parameters."""

from __future__ import annotations

import operator
from functools import partial

import numpy as np

from logpost.replay.models.kary_ncube import mean_distances
from logpost.replay.models.papers.alewife import ALEWIFE_LONG, MESH
from logpost.replay.models.papers.claim import Claim, Paper

BISECTIONS = {
    "MIT Alewife": (20.0, 360, "18.0"),
    "TMC CM5": (33.0, 640, "19.4"),
    "KSR-2": (20.0, 1000, "50.0"),
    "MIT J-Machine": (12.5, 3200, "256.0"),
    "MIT M-Machine": (100.0, 12800, "128.0"),
    "Intel Delta": (40.0, 216, "5.4"),
    "Intel Paragon": (50.0, 2800, "56.0"),
    "Stanford DASH": (33.0, 480, "14.5"),
    "Stanford FLASH": (200.0, 3200, "16.0"),
    "Cray T3D": (150.0, 4800, "32.0"),
    "Cray T3E": (300.0, 19200, "64.0"),
    "SGI Origin": (200.0, 10800, "54.0"),
}
"""Of Table 1: MHz, MB/s, and the bytes per cycle that it prints."""

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
        *(
            Claim(
                "Table 1",
                f"bisection per cycle, {machine}",
                printed,
                "B/cycle",
                partial(operator.truediv, rate, clock),
                f"{rate:,} MB/s at {clock:g} MHz",
            )
            for machine, (clock, rate, printed) in BISECTIONS.items()
        ),
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
        (
            25,
            "'All modern machines have considerably higher network latencies than Alewife' (5.3), whose 15 cycles "
            "Table 1 prints for the Delta and the T3D too, and less for the J-Machine (7), the M-Machine (10) and the "
            "Paragon (12).",
        ),
    ),
)
