"""A prediction as stated on the command line: units, sweeps, grids, machines, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from logpost.machines import load_machine
from logpost.replay.models import MODELS, ModelError
from logpost.replay.predict.prediction import Prediction, predict

ALEWIFE = load_machine("alewife")


def column(found: Prediction, name: str) -> list[float]:
    return next(c.values.tolist() for c in (*found.swept, *found.results) if c.name == name)


def test_table_4_of_logpc_from_the_machine_file() -> None:
    # Alewife's file counts in cycles, and so does the table when no time is given in seconds.
    found = predict(MODELS["logpc-all-to-all"], ["B=8"], machine=ALEWIFE)
    row = found.rows()[0]
    assert (row["sync_logp"], row["sync_lopc"], row["C_r"], row["async"]) == pytest.approx((316, 453, 137, 137))
    assert {c.unit for c in found.results} == {"cycles", ""}
    assert ("L", "21 cycles", "alewife") in found.used


def test_bound_of_logpc_from_the_machine_file() -> None:
    found = predict(MODELS["logpc-all-to-all-long"], ["B=32000", "self_messages=no"], machine=ALEWIFE, unit="cycle")
    assert column(found, "F") == [pytest.approx(2.2247, abs=5e-5)]
    consistent = predict(MODELS["logpc-all-to-all-long"], ["B=32000", "units=consistent"], machine=ALEWIFE)
    assert column(consistent, "bound") == [pytest.approx(1.389, abs=5e-4)]


def test_a_sweep_in_units() -> None:
    found = predict(MODELS["loggp"], ["L=5us", "o=1us", "G=10GB/s"], ["B=1:1MiB:21"])
    assert column(found, "B") == [2.0**i for i in range(21)]
    # 7 us + (B-1) 0.1 ns
    np.testing.assert_allclose(column(found, "T"), [7 + (2**i - 1) * 1e-4 for i in range(21)])
    assert [c.unit for c in found.results] == ["us"] * 4


def test_a_grid_varies_the_last_sweep_fastest() -> None:
    found = predict(MODELS["loggp"], ["o=1", "G=0.5"], ["L=1,2", "B=1,3,5"])
    assert column(found, "L") == [1, 1, 1, 2, 2, 2]
    assert column(found, "B") == [1, 3, 5, 1, 3, 5]
    assert column(found, "T") == [3, 4, 5, 4, 5, 6]


def test_a_sweep_of_both_overheads() -> None:
    found = predict(MODELS["logp"], ["L=5"], ["o=1,2"])
    assert column(found, "T") == [7, 9]


def test_a_machine_s_ranges_follow_a_swept_size() -> None:
    found = predict(MODELS["loggp"], [], ["B=4,8,1000"], machine=ALEWIFE, unit="cycle")
    # 4 B: 12 + 21 + 119; 8 B: 15 + 21 + 122; 1000 B: 25 + 8 + 999/2 + 129. g = 0 where it is not printed.
    assert column(found, "T") == pytest.approx([152, 158, 661.5])


def test_cycles_alone_need_no_clock() -> None:
    found = predict(MODELS["logp"], ["L=21cycle", "o_s=15cycle", "o_r=122"])
    assert column(found, "T") == [158]
    assert found.results[0].unit == "cycles"


def test_seconds_make_seconds() -> None:
    in_us = predict(MODELS["logpc-all-to-all"], ["B=8"], machine=ALEWIFE, unit="us")
    assert column(in_us, "sync_lopc") == [pytest.approx(453 * 0.05)]
    work = predict(MODELS["logpc-all-to-all"], ["B=8", "W=10us"], machine=ALEWIFE)
    assert column(work, "sync_logp") == [pytest.approx(316 * 0.05 + 10)]
    assert work.results[0].unit == "us"
    assert predict(MODELS["logp"], [], machine=load_machine("paragon")).results[0].unit == "us"
    # A bandwidth holds seconds as well.
    assert predict(MODELS["loggp"], ["L=5", "o=1", "G=10GB/s", "B=11"]).results[0].unit == "us"


def test_cycles_and_seconds_need_the_clock() -> None:
    with pytest.raises(ModelError, match=r"a table in cycles needs the processor clock .* e.g. --clock 20MHz"):
        predict(MODELS["logp"], ["L=21cycle", "o=1us"])
    with pytest.raises(ModelError, match=r"L = '21cycle' needs the processor clock .* e.g. --clock 20MHz"):
        predict(MODELS["logp"], ["L=21cycle", "o=1us"], unit="us")
    with pytest.raises(ModelError, match=r"a table in cycles needs the processor clock"):
        predict(MODELS["logp"], ["L=5us", "o=1us"], unit="cycle")
    assert column(predict(MODELS["logp"], ["L=20cycle", "o=1us"], unit="us", clock_hz=20e6), "T") == [pytest.approx(3)]


def test_printed_units_need_the_cycle() -> None:
    arguments = ["B=8", "T=10us", "G=1ns", "k_d=2", "units=printed"]
    with pytest.raises(ModelError, match=r"units=printed counts a byte as a cycle: give the clock"):
        predict(MODELS["logpc-network"], arguments)
    by_clock = predict(MODELS["logpc-network"], arguments, clock_hz=20e6)
    by_cycle = predict(MODELS["logpc-network"], [*arguments, "cycle=50ns"])
    assert column(by_clock, "rho_open") == column(by_cycle, "rho_open") == [pytest.approx(8 * 0.05 / 10)]


def test_a_mean_distance_is_swept_as_it_is() -> None:
    # 2.2 of LOGPC from both of its k_d: 1.9375 is no whole number.
    found = predict(MODELS["logpc-all-to-all-long"], ["B=1000"], ["k_d=1.9375,2"], machine=ALEWIFE, unit="cycle")
    assert column(found, "k_d") == [1.9375, 2.0]
    assert column(found, "bound") == pytest.approx([2.1703, 2.2247], abs=5e-5)


def test_own_distances_go_before_the_machine_s_network() -> None:
    own = predict(MODELS["logpc-network"], ["B=8", "T=137cycle", "k_d=2"], machine=ALEWIFE)
    assert not {name for name, _, _ in own.used} & {"kx", "ky"}


@pytest.mark.parametrize(
    ("assignments", "sweeps", "message"),
    [
        (["x=1"], [], r"model logp has no parameter 'x'; it takes L, o_s, o_r, g, n, k, B, o"),
        (["L=1", "L=2"], [], r"L is given twice; keep one --set L="),
        (["L=1"], ["L=1,2"], r"L is given twice; keep one --sweep L="),
        (["L=-1", "o=1"], [], r"L = '-1' must be at least 0"),
    ],
)
def test_bad_requests(assignments: list[str], sweeps: list[str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        predict(MODELS["logp"], assignments, sweeps)


@pytest.mark.parametrize(
    ("name", "assignments", "unit", "message"),
    [
        # 5 - 6 = -1
        ("log3p-extract", ["T00=5", "T01=4", "T00_strided=7", "T_mem=6"], "ns", r"o_mw = .* = -1 ns is negative"),
        # 2 - 3 - 1 = -2
        ("logp-extract", ["o_s=1us", "g=5us", "cost=2us", "delta=3us", "RTT=4us"], None, r"= -2 us is .* = 3 us does"),
        # o_r = 9 - 3 - 1 = 5, 4/2 - 1 - 5 = -4
        ("logp-extract", ["o_s=1", "g=5", "cost=9", "delta=3", "RTT=4"], "cycle", r"= -4 cycles is .* 4 cycles is too"),
    ],
)
def test_a_time_that_makes_no_sense_has_the_users_unit(
    name: str, assignments: list[str], unit: str | None, message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        predict(MODELS[name], assignments, unit=unit)


def test_a_bad_unit() -> None:
    with pytest.raises(ModelError, match=r"unit 'kB' is not .*; .* ps, ns, us, ms, "):
        predict(MODELS["logp"], ["L=1", "o=1"], unit="kB")
