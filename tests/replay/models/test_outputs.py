"""Every output of every closed form, from numbers small enough for pencil and paper."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

from logpost.replay.models import MODELS

PARAGON = {"L": 6.3, "o_s": 1.4, "o_r": 2.2, "g": 7.6}
ALEWIFE = {"L": 21, "o_s": 15, "o_r": 122}
PRINTED = {"k_d": 2, "n": 2, "units": "printed", "cycle": 1}
# (x - 226.5)(x - 8) = 3 * 8^2/2 = 96: 8 bytes, two messages in 453 cycles
SYNC = (234.5 + sqrt(218.5**2 + 4 * 96)) / 2
# (x - 16022.5)(x - 32000) = 1.5 * 32000^2
LONG = (48_022.5 + sqrt(15_977.5**2 + 6 * 32_000**2)) / 2
# (x - 40)(x - 20) = w * 3 * 20^2/2, w = 2: 1200
TWICE = (60 + sqrt(20**2 + 4 * 1200)) / 2
# (x - 60)(x - 8) = 2 * 3 * 8^2/2 = 192
BLOCK = (68 + sqrt(52**2 + 4 * 192)) / 2
# One client, one server, Bard: q^2 - 95 q - 137 * 110.5 = 0 from q = 137 (1 + (q - 137/2)/(179 + q)).
SERVED = (95 + sqrt(95**2 + 4 * 137 * 110.5)) / 2

CASES: list[tuple[str, dict[str, Any], dict[str, float]]] = [
    # 1.4 + 6.3 + 2.2 = 9.9; + 9 * 7.6; twice; 3 * 7.6; ceil(6.3/7.6)
    ("logp", {**PARAGON, "n": 10, "k": 3}, {"T": 9.9, "T_n": 78.3, "RTT": 19.8, "interval_k": 22.8, "capacity": 1}),
    # one request and 16 us of work; g' = 1.4 + 2.2 + 16
    ("logp-benchmark", {**PARAGON, "M": 1, "delta": 16}, {"cost": 17.4, "steady": 19.6, "RTT": 19.8}),
    ("logp-extract", {"o_s": 1.4, "g": 7.6, "cost": 19.6, "delta": 16, "RTT": 20}, {"o_r": 2.2, "L": 6.4}),
    # 10 bytes after the first: 5; 1 + 5 + 5 + 2; 1 + 3 * 5 + 2 * 3 + 5 + 2; max(3, 11/2)
    (
        "loggp",
        {"L": 5, "o_s": 1, "o_r": 2, "g": 3, "G": 0.5, "B": 11, "n": 3},
        {"T": 13, "T_n": 29, "serialization": 5, "interface_time": 5.5},
    ),
    # 1 + 5 + 100/2 + 2 + 2 * 101/4 = 108.5; the handshake adds 2 (5 + 1)
    (
        "loggops",
        {"L": 5, "o_s": 1, "o_r": 2, "G": 0.5, "O": 0.25, "S": 100, "B": 101},
        {"T": 120.5, "T_eager": 108.5},
    ),
    ("lopc", {**ALEWIFE, "W": 100, "lopc": "rule"}, {"R": 553, "C_r": 137, "R_free": 416, "U_q": 137 / 553}),
    # by a damped fixed point of the seven equations, apart from this program
    (
        "lopc",
        {**ALEWIFE, "lopc": "amva"},
        {"R": 496.87064, "C_r": 180.87064, "R_free": 316, "U_q": 137 / 496.87064},
    ),
    # R = 2 * 21 + q + 137; C = R - 316: the 42 cycles by which Bard's approximation charges a lone client
    (
        "lopc-servers",
        {**ALEWIFE, "clients": 1, "servers": 1},
        {
            "R": 179 + SERVED,
            "C_r": SERVED - 137,
            "R_q": SERVED,
            "U_q": 137 / (179 + SERVED),
            "Q_q": SERVED / (179 + SERVED),
        },
    ),
    ("logpc-short", {**ALEWIFE, "C_n": 23}, {"T_sr": 181}),
    # 25 + 8 + max(129 + 4 + 36.25, 49.5) + 10; 25 + 8 + 49.5 + 10; (129 + 9/2)/(0.5 - 0.3625)
    (
        "logpc-long",
        {"L": 8, "o_sl": 25, "o_rl": 129, "G": 0.5, "G_m": 0.3625, "a": 8, "B": 100, "C_n": 10},
        {"T_sr": 212.25, "T_bandwidth": 92.5, "tail": 119.75, "crossover": 133.5 / 0.1375},
    ),
    # k_d = 16/4; rho = 0.01 * 20 * 4/2; w = 0.4 * 20/0.6 * 3/16 * 1.5 = 3.75 at 8 hops; 8 + 30 + 20
    (
        "kary-ncube",
        {"kx": 16, "ky": 16, "B": 20, "m": 0.01, "topology": "torus"},
        {"hops": 8, "T_net": 58, "C_n": 30, "rho": 0.4},
    ),
    # (2 * 28 + 2 * 3 * 8)/64; in x 6 nodes have 3 choices (2/3) and 2 have 2 (1/2), in y 2 and 2
    (
        "locality",
        {"kx": 8, "ky": 4, "ends": "zero", "span": 1},
        {"neighbours": 1.625, "within_span": (6 * 2 / 3 + 1) / 8 + (2 * 2 / 3 + 1) / 4},
    ),
    # open: 600/(40 - 20)
    (
        "logpc-network",
        {**PRINTED, "B": 20, "T": 40, "w": 2, "G": 0.5},
        {"C_n": (TWICE - 40) / 2, "T_c": TWICE, "rho": 20 / TWICE, "C_n_open": 30, "rho_open": 0.5},
    ),
    # async: 96/(137 - 8)
    (
        "logpc-all-to-all",
        {**PRINTED, **ALEWIFE, "B": 8, "G": 0.5},
        {
            "sync_logp": 316,
            "sync_lopc": 453,
            "sync": 2 * SYNC,
            "C_r": 137,
            "sync_C_n": SYNC - 226.5,
            "async": 137,
            "async_C_n": 96 / 129,
            "async_rho": 8 / 137,
        },
    ),
    # 25 + 31999/4 + 31991/4; (F - 0.5)(F - 1) = 1.5 -> F = (1.5 + 2.5)/2; F/(2G) = 2/0.5
    (
        "logpc-all-to-all-long",
        {**PRINTED, "o_s": 25, "B": 32_000, "a": 8, "G": 0.25},
        {"iteration": 16_022.5, "T_c": LONG, "C_n": LONG - 16_022.5, "F": 2, "bound": 4, "rho": 32_000 / LONG},
    ),
    # B = 4 * 4/2; W = 16 * 8/4 + 4/2; O_s = 5 + 7; O_r = 7 + 7; v = 12 + 34 + 14; M = 34 + 3 + 0 + 60 + 14 + 34;
    # b* = sqrt((68 - 16)/(5 - 2 + 7)); M(1) = 161, M(3) = 146.3; M_contended = M + (1 + 2) C_n
    (
        "diamond-dag",
        {
            **PRINTED,
            "n_tasks": 4,
            "P": 2,
            "b": 2,
            "task": 8,
            "L": 3,
            "o_s": 5,
            "G": 1,
            "interrupt": 7,
            "alpha": 1,
            "bytes_per_value": 4,
        },
        {
            "M": 145,
            "M_contended": 145 + 3 * (BLOCK - 60) / 2,
            "B": 8,
            "W": 34,
            "v": 60,
            "b_best": 2,
            "b_star": sqrt(5.2),
        },
    ),
    # max(3, 5) + 1 + max(4, 2)
    ("lognp", {"o0": 3, "g0": 5, "l0": 1, "o1": 4, "g1": 2}, {"T": 10, "N": 2}),
    ("log3p", {"o_mw": 29, "l_mw": 420, "o_net": 131, "T_mem": 3}, {"T": 580, "T_contiguous": 160, "T_self": 452}),
    (
        "log3p-extract",
        {"T00": 32, "T01": 160, "T00_strided": 452, "T_mem": 3},
        {"o_mw": 29, "l_mw": 420, "o_net": 131, "T": 580},
    ),
    # 5 * 3 (1 + 4); 3 * 3 (1 + 4); 3; 4; 3 + 2; 1
    (
        "complexity",
        {"N": 5, "S": 3, "D": 4, "C": 2},
        {
            "lognp": 75,
            "log3p": 45,
            "memory-logp": 45,
            "copy-transfer": 75,
            "logp": 3,
            "loggp": 4,
            "lopc": 5,
            "logpc": 5,
            "pram": 1,
        },
    ),
    # k = 10: 3 + 5 + 7 * 5 + 6 * 3; 3 (3 + 5 + 5) + 2 * 3
    (
        "broadcast-loggp",
        {"L": 5, "o_s": 1, "o_r": 2, "g": 3, "G": 0.5, "B": 11, "P": 8},
        {"linear": 61, "tree": 45, "h": 3},
    ),
    # 8 * 449/2 + 131; 3 * 580
    ("broadcast-log3p", {"o_mw": 29, "l_mw": 420, "o_net": 131, "P": 8}, {"linear": 1927, "tree": 1740, "h": 3}),
    # put: L = 5. (5): 7 * 2 * 160/819.2 + 429.6 is less than (4): 7 + 409.6 + 20, the lower bound;
    # 8 (7 + 51.2) + 160; 659.2 > 16; 56.2 > 6; 4 < 5; 2048 B
    (
        "overlap",
        {
            "V": 4096,
            "S": 512,
            "b": 4,
            "t_V": 160,
            "o": 2,
            "L": 10,
            "G": 0.1,
            "G_V": 0.2,
            "HD": 5,
            "outstanding": 2048,
            "operation": "put",
        },
        {
            "T": 436.6,
            "T_blocking": 625.6,
            "N": 8,
            "n_b": 2,
            "hides_initiation": 1,
            "hides_burst": 1,
            "below_queue_depth": 1,
            "below_outstanding": 1,
        },
    ),
    # V = 2: one message 1.1/20 + 21 by (5), two 2.2/20 + 20.5, two in a burst 1.1/20 + 20.5: all less than (4),
    # which is 1.1 + 20 + 1 for one and 1.1 + 20 + 0.5 for two, in a burst or not
    (
        "overlap-search",
        {"V": 2, "t_V": 1, "o": 0.1, "L": 1, "G": 10},
        {"S": 1, "b": 2, "T": 21.6, "admissible": 3},
    ),
    # HD = 2 drops the burst of two
    (
        "overlap-search",
        {"V": 2, "t_V": 1, "o": 0.1, "L": 1, "G": 10, "HD": 2},
        {"S": 1, "b": 1, "T": 21.6, "admissible": 2},
    ),
]


@pytest.mark.parametrize(("name", "given", "expected"), CASES, ids=[name for name, _, _ in CASES])
def test_every_output_by_hand(name: str, given: dict[str, Any], expected: dict[str, float]) -> None:
    found = MODELS[name].predict(**given)
    assert found.keys() == expected.keys() == {output.name for output in MODELS[name].outputs}
    assert found == pytest.approx(expected, rel=1e-6)


def test_no_model_is_left_out() -> None:
    assert {name for name, _, _ in CASES} == set(MODELS)
