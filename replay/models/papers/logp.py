"""LOGP's numbers: round trips, extraction, scaling, bulk transfer, and the micro-benchmark played."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from logpost.replay.models import logp, logp_benchmark, units
from logpost.replay.models.papers.claim import Claim, Paper
from logpost.replay.models.parameters import LogGPParameters

# LOGP section 3.3.
PARAGON = LogGPParameters(L=6.3, o_s=1.4, o_r=2.2, g=7.6, unit=units.MICROSECOND)
MEIKO = LogGPParameters(L=7.5, o_s=1.7, o_r=1.6, g=13.6, unit=units.MICROSECOND)
MYRINET = LogGPParameters(L=11.1, o_s=2.0, o_r=2.6, g=12.4, unit=units.MICROSECOND)


def benchmark_recovery(p: LogGPParameters, parameter: str) -> float:
    """A parameter read off the played benchmark: first points, M = 20000 asymptote, Delta = 16, round trip."""
    found = logp_benchmark.extract(
        o_s=float(np.mean([logp_benchmark.cost(p, M) for M in (1, 2, 3, 4)])),
        g=logp_benchmark.cost(p, 20_000),
        cost_with_delay=logp_benchmark.cost(p, 20_000, 16.0),
        delta=16.0,
        rtt=float(np.asarray(logp.round_trip(p))),
        unit=p.unit,
    )
    return float(np.asarray(getattr(found, parameter)))


def one_way(p: LogGPParameters) -> float:
    """Half of the round trip."""
    return float(np.asarray(logp.round_trip(p))) / 2.0


LOGP = Paper(
    key="LOGP",
    title="Culler, Liu, Martin & Yoshikawa, LogP Performance Assessment of Fast Network Interfaces",
    claims=(
        Claim(
            "Table 3",
            "round trip, Paragon, the shortest",
            "19.9",
            "us",
            lambda: logp.round_trip(PARAGON),
            "L = 6.3; parameters of two digits leave 19.5 to 20.1",
            reproduces=False,
        ),
        Claim(
            "Table 3",
            "round trip, Paragon, the most, with the text's L",
            "20.1",
            "us",
            lambda: 2 * (1.4 + 7.5 + 2.2),
            "L = 7.5 is Meiko's value (contradiction 13)",
            reproduces=False,
        ),
        Claim(
            "Table 3",
            "round trip, Meiko CS-2",
            "21.6",
            "us",
            lambda: logp.round_trip(MEIKO),
            "the maximum of 20.3 - 21.6 (contradiction 15)",
        ),
        Claim(
            "Table 3",
            "round trip, Myrinet",
            "31.5",
            "us",
            lambda: logp.round_trip(MYRINET),
            "the maximum of 30.6 - 31.5 (contradiction 15), a range that has 31.4; rounding leaves 31.1 to 31.7",
            reproduces=False,
        ),
        Claim(
            "3.3",
            "one-way time of Myrinet over that of the other two",
            "1.5",
            "",
            lambda: 2.0 * one_way(MYRINET) / (one_way(PARAGON) + one_way(MEIKO)),
            "'roughly 50% larger': o_s + L + o_r, the other two's mean",
        ),
        Claim(
            "3.3",
            "o_r, Paragon",
            "2.2",
            "us",
            lambda: (
                logp_benchmark.extract(
                    o_s=1.4, g=7.6, cost_with_delay=19.6, delta=16, rtt=19.9, unit=units.MICROSECOND
                ).o_r
            ),
            "g' - Delta - o_s = 19.6 - 16 - 1.4",
        ),
        Claim(
            "3.3",
            "L, Paragon, from the shortest round trip",
            "6.3",
            "us",
            lambda: (
                logp_benchmark.extract(
                    o_s=1.4, g=7.6, cost_with_delay=19.6, delta=16, rtt=19.9, unit=units.MICROSECOND
                ).L
            ),
            "RTT/2 - o_s - o_r with 19.9: between 6.3 and 6.4",
        ),
        Claim(
            "3.3",
            "L, Paragon, from the greatest round trip",
            "6.3",
            "us",
            lambda: (
                logp_benchmark.extract(
                    o_s=1.4, g=7.6, cost_with_delay=19.6, delta=16, rtt=20.1, unit=units.MICROSECOND
                ).L
            ),
            "RTT/2 - o_s - o_r with 20.1",
            reproduces=False,
        ),
        Claim(
            "3.3, Fig. 8",
            "overhead of a message, Paragon",
            "3.7",
            "us",
            lambda: PARAGON.o_s + PARAGON.o_r,
            "1.4 + 2.2 = 3.6 (contradiction 14)",
            reproduces=False,
        ),
        Claim("3.3", "overhead of a message, Meiko CS-2", "3.3", "us", lambda: MEIKO.o_s + MEIKO.o_r, "o_s + o_r"),
        Claim("3.3", "overhead of a message, Myrinet", "4.6", "us", lambda: MYRINET.o_s + MYRINET.o_r, "o_s + o_r"),
        Claim(
            "Table 4",
            "gap of 3-to-1 over 1-to-1, Myrinet",
            "3",
            "",
            lambda: 1.0 / (np.asarray(logp.sender_rate(MYRINET, 3)) / np.asarray(logp.sender_rate(MYRINET, 1))),
            "k g",
        ),
        Claim(
            "Table 4",
            "gap of 7-to-1 over 1-to-1, Paragon",
            "6",
            "",
            lambda: 1.0 / (np.asarray(logp.sender_rate(PARAGON, 7)) / np.asarray(logp.sender_rate(PARAGON, 1))),
            "k g; 6 is measured",
            reproduces=False,
        ),
        Claim(
            "Table 4",
            "gap of 15-to-1 over 1-to-1, Meiko CS-2",
            "16.8",
            "",
            lambda: 1.0 / (np.asarray(logp.sender_rate(MEIKO, 15)) / np.asarray(logp.sender_rate(MEIKO, 1))),
            "k g; 16.8 is measured",
            reproduces=False,
        ),
        Claim(
            "3.5",
            "bandwidth of 1-to-many over 1-to-1, Paragon and Myrinet",
            "1.4",
            "",
            lambda: (
                np.asarray(logp.sender_rate(replace(PARAGON, g=PARAGON.g * 0.7), 1))
                / np.asarray(logp.sender_rate(PARAGON, 1))
            ),
            "1/g with the gap 30 % smaller, which is measured",
        ),
        Claim(
            "4.2",
            "overlappable share of 4 KB, Myrinet",
            None,
            "",
            lambda: logp_benchmark.overlappable_share(143, 298),
            "(T - o)/T with the printed o = 143, T = 298 us; the paper says that 'a portion can be overlapped'",
        ),
        Claim(
            "4.1, Fig. 9",
            "bandwidth of 4 KB, Myrinet",
            None,
            "MB/s",
            lambda: logp_benchmark.delivered_bandwidth(4096, 298),
            "n/T(n) with the printed 298 us, MB = 10^6",
        ),
        *(
            Claim(
                "3.2",
                f"{parameter} of {name}, read off the played benchmark",
                f"{float(np.asarray(getattr(p, parameter))):.1f}",
                "us",
                partial(benchmark_recovery, p, parameter),
                "simulated signature",
            )
            for name, p in (("Paragon", PARAGON), ("Meiko CS-2", MEIKO), ("Myrinet", MYRINET))
            for parameter in ("o_s", "o_r", "L", "g")
        ),
    ),
    not_computed=(
        "Meiko50 (L and g about 30 % larger), Myrinet10 (o_s 3.6, o_r 4.0), the 30 % smaller gap of 1-to-many and "
        "the bulk "
        "signatures (g = 18 us at 8 B, o = 143 us and T = 298 us at 4 KB) are measured.",
    ),
    contradictions=(
        (13, "Paragon's L is 7.5 in the text of 3.3 and 6.3 below it; RTT/2 - 3.6 gives 6.35 .. 6.45. 7.5 is Meiko's."),
        (14, "Paragon's overhead is 3.7 against 1.4 + 2.2 = 3.6."),
        (15, "Meiko's 7.5 and Myrinet's 11.1 need the maximum round trip."),
        (16, "T_0 + n/R_inf is printed once as T_0 + n R_inf."),
    ),
    redo=(
        ("logpost predict logp --machine paragon", "Table 3; also meiko_cs2, myrinet_now"),
        (
            "logpost predict logp-extract --set o_s=1.4us --set g=7.6us --set cost=19.6us --set delta=16us "
            "--sweep RTT=19.9us,20.1us",
            "3.3: o_r and L of the Paragon",
        ),
        ("logpost predict logp-benchmark --machine paragon --sweep M=1:10000:9", "Fig. 7's curve for Delta = 0"),
    ),
)
