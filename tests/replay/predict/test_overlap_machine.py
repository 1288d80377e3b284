"""The overlap models with a machine: its LogGP ranges or tables at every size, and what is given in their place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.replay.predict.test_machine_values import machine as any_machine

from logpost.machines import Machine, load_machine
from logpost.replay.models import MODELS, ModelError, OverlapProfile
from logpost.replay.predict.machine_values import machine_values
from logpost.replay.predict.prediction import predict

SEARCH, OVERLAP = MODELS["overlap-search"], MODELS["overlap"]
US = 1e6


def machine(**tables: Any) -> Machine:
    return any_machine(units=["us", "ns/B", "B", "1"], clock={"processor": {"value": 1, "unit": "GHz"}}, **tables)


RANGES = {
    "other_node": {
        "range": [
            {"up_to_bytes": 1024, "L": 2, "o_s": 1, "o_r": 1, "o_s_per_byte": 2, "G": 10},
            {"L": 5, "o_s": 3, "o_r": 1, "G": 1},
        ]
    }
}
TABLES = {
    "HD": 64,
    "o": [{"size_bytes": 8, "burst": 1, "o": 2}, {"size_bytes": 8, "burst": 64, "o": 1}],
    "G": [{"processors": 2, "size_bytes": 8, "pattern": "nearest-neighbour", "level": "lowest", "G": 1}],
}
LOGGP = {"other_node": {"L": 5, "o_s": 30, "o_r": 30, "G": 100}}


def profile_of(ours: Machine, **given: Any) -> OverlapProfile:
    profile = machine_values(SEARCH, ours, given)["profile"]
    assert isinstance(profile, OverlapProfile)
    return profile


def row(ours: Machine, *assignments: str, sweep: str | None = None) -> list[dict[str, float]]:
    return predict(SEARCH, ["V=1MiB", "t_V=500us", *assignments], [sweep] if sweep else [], machine=ours).rows()


def test_a_search_takes_each_size_from_its_range() -> None:
    profile = profile_of(machine(loggp=RANGES))
    sizes = np.array([512.0, 1024.0, 2048.0])
    # o_s + o_r + 2 ns/B: 2 + 1.024, 2 + 2.048; above 1 KiB 3 + 1
    np.testing.assert_allclose(profile.o(sizes, 4.0), [3.024 * US, 4.048 * US, 4 * US])
    np.testing.assert_allclose(profile.G(2.0, sizes), [10_000, 10_000, 1_000])
    np.testing.assert_allclose(profile.L("get", sizes), [4 * US, 4 * US, 10 * US])
    assert profile.L("put", 2048.0) == 5 * US


@pytest.mark.slow
def test_a_search_and_the_prediction_of_its_choice_agree() -> None:
    """T of the advised S and b is what overlap gives for them, on every machine with LogGP over sizes."""
    for ours in (machine(loggp=RANGES), load_machine("tukey_infiniband"), machine(loggp=LOGGP, overlap=TABLES)):
        for t_V in ("500us", "20ms"):
            for V in ("64KiB", "8MiB"):
                found = predict(SEARCH, [f"V={V}", f"t_V={t_V}"], machine=ours).rows()[0]
                if np.isnan(found["T"]):
                    continue
                again = predict(OVERLAP, [f"V={V}", f"t_V={t_V}", f"S={found['S']}", f"b={found['b']}"], machine=ours)
                assert again.rows()[0]["T"] == pytest.approx(found["T"])
                assert again.rows()[0]["hides_initiation"] == again.rows()[0]["hides_burst"] == 1


def test_large_messages_do_not_cost_the_gap_of_two_bytes() -> None:
    # Tukey: G of 2 B is 12.8 ns/B, of 8 KiB and above 0.455 ns/B: 8 MiB need 3,817 us there, 107,640 us at 2 B's.
    found = predict(SEARCH, ["V=8MiB", "t_V=500us"], machine=load_machine("tukey_infiniband"))
    T = found.rows()[0]["T"]
    assert 8 * 2**20 * 0.455e-3 < T < 1.02 * 8 * 2**20 * 0.455e-3
    # o and G differ from size to size, and nothing that is no size's is shown; L is one number.
    assert [name for name, *_ in found.used] == ["V", "t_V", "L", "profile"]


def test_latencies_that_differ_are_not_shown_as_one() -> None:
    assert "L" not in machine_values(SEARCH, machine(loggp=RANGES), {})
    same = {"other_node": {"range": [
        {"up_to_bytes": 8, "L": 2, "o_s": 1, "o_r": 1, "G": 1}, {"L": 2, "o_s": 3, "o_r": 1, "G": 1}]}}  # fmt: skip
    assert machine_values(SEARCH, machine(loggp=same), {})["L"] == 4 * US


def test_a_range_without_a_latency_has_that_of_the_least_messages() -> None:
    ours = machine(loggp={"other_node": {"range": [
        {"up_to_bytes": 8, "L": 2, "o_s": 1, "o_r": 1, "G": 1}, {"o_s": 3, "o_r": 1, "G": 1}]}})  # fmt: skip
    np.testing.assert_allclose(profile_of(ours).L("get", np.array([8.0, 16.0])), [4 * US, 4 * US])
    assert machine_values(OVERLAP, ours, {"S": 16.0})["L"] == 4 * US
    np.testing.assert_allclose(machine_values(OVERLAP, ours, {"S": np.array([8.0, 16.0])})["L"], [4 * US, 4 * US])


def test_messages_without_a_gap_are_searched_as_well() -> None:
    # Alewife's messages up to 8 B take o_s + o_r = 137 cycles of 50 ns and no time per byte: 8192 of them are 56,115 us
    # of the processor, and 64 KiB of long ones at 0.5 cycle/B need 1,638 us.
    alewife = load_machine("alewife")
    found = predict(SEARCH, ["V=64KiB", "t_V=100us"], machine=alewife).rows()[0]
    assert found["S"] > 8
    assert 1638.4 < found["T"] < 1800
    short = predict(OVERLAP, ["V=64KiB", "t_V=100us", "S=8"], machine=alewife).rows()[0]
    assert short["T"] == pytest.approx(100 + 8192 * 137 * 0.05)


def test_one_peer_is_two_processes() -> None:
    points = [
        {"processors": P, "size_bytes": 8, "pattern": "nearest-neighbour", "level": "lowest", "G": G}
        for P, G in ((1, 7), (2, 1), (8, 3))
    ]
    ours = machine(loggp=LOGGP, overlap={**TABLES, "G": points})
    for P, G in ((1, 1_000), (2, 1_000), (8, 3_000)):
        assert machine_values(OVERLAP, ours, {"S": 8.0, "P": float(P)})["G"] == G
    assert machine_values(OVERLAP, ours, {"S": 8.0})["G"] == 1_000
    assert profile_of(ours).G(1.0, 8.0) == 1_000


def test_a_size_without_an_overhead_is_named() -> None:
    ours = machine(loggp={"other_node": {"range": [
        {"up_to_bytes": 1024, "L": 2, "G": 1}, {"L": 2, "o_s": 3, "o_r": 1, "G": 1}]}})  # fmt: skip
    with pytest.raises(ModelError, match=r"machine ours gives no o .* 1024 bytes: give o"):
        row(ours)
    assert row(ours, "o=1us")[0]["T"] > 0


def test_the_rest_that_neither_gives_is_named() -> None:
    ours = machine(loggp={"other_node": {"L": 2, "o_s": 1, "o_r": 1}})
    with pytest.raises(ModelError, match=r"model overlap-search needs G: .*machine ours does not"):
        row(ours)
    # With G the overheads are the machine's: 2 us. Computation bound at 0.1 ns/B: 4 + 2 + G S + 500, at least.
    assert 506 < row(ours, "G=0.1ns/B")[0]["T"] < 520
    with pytest.raises(ModelError, match=r"model overlap-search needs o, L: give it"):
        SEARCH.predict(V=1024, t_V=1, G=1)


def test_overlap_takes_the_gap_of_all_data_at_its_size() -> None:
    ours = machine(loggp=RANGES)
    found = machine_values(OVERLAP, ours, {"S": 512.0, "V": 2.0**20})
    assert (found["G"], found["G_V"], found["o"]) == (10_000, 1_000, pytest.approx(3.024 * US))
    # One G given counts for all: the machine's G_V with it would be another network's.
    for other in (ours, machine(loggp=LOGGP, overlap=TABLES)):
        assert not {"G", "G_V"} & machine_values(OVERLAP, other, {"S": 512.0, "V": 2.0**20, "G": 5.0}).keys()


def test_what_is_given_counts_more_than_the_tables() -> None:
    ours = machine(loggp=LOGGP, overlap=TABLES)
    # The tables' o and G, not LogGP's 60 us and 100 ns/B; 1 MiB at 1 ns/B is 1048.576 us.
    assert 1048.576 < row(ours)[0]["T"] < 1100
    slow = row(ours, "o=50us", "G=1us/B")[0]
    # Communication bound at 1 us/B: at least (4), 50 + 10 + 1048576 and the last computation.
    assert slow["T"] > 1_048_636
    # Half the cost of the message, 1 ns/B, suffices to be computation bound: 500 against 0.1 ns/B * 1 MiB.
    fast = row(ours, "G=0.1ns/B")[0]
    assert 500 < fast["T"] < 560


def test_given_limits_and_latencies_count_for_every_row() -> None:
    ours = machine(loggp=LOGGP, overlap=TABLES)
    swept = row(ours, sweep="HD=2,4,64")
    # b < HD, in powers of two: 1; 1 and 2; up to 32
    assert [one["b"] <= most for one, most in zip(swept, (1, 2, 32), strict=True)] == [True, True, True]
    assert swept[0]["admissible"] < swept[1]["admissible"] < swept[2]["admissible"]
    # A greater depth than the machine's, and none at all, for which bursts of 64 need a computation-bound program.
    free = predict(SEARCH, ["V=1MiB", "t_V=2ms"], ["HD=64,128,inf"], machine=ours).rows()
    assert free[0]["admissible"] < free[1]["admissible"] == free[2]["admissible"]
    latencies = row(ours, sweep="L=10us,110us")
    assert latencies[1]["T"] > latencies[0]["T"] + 50
    few = row(ours, "outstanding=64KiB")[0]
    assert few["b"] * few["S"] <= 65536
    assert row(ours, sweep="o=1us,50us")[1]["T"] > row(ours)[0]["T"]


def test_nothing_is_shown_that_was_not_given() -> None:
    ours = machine(loggp=LOGGP, overlap=TABLES)
    found = predict(SEARCH, ["V=1MiB", "t_V=500us"], machine=ours)
    assert {name: value for name, value, _ in found.used} == {
        "V": "1048576 B",
        "t_V": "500 us",
        "L": "10 us",
        "HD": "64",
        "profile": "o, G and L by size where not given",
    }
    # With o and G given nothing of the tables counts.
    given = predict(SEARCH, ["V=1MiB", "t_V=500us", "o=1us", "G=1ns/B"], machine=ours)
    assert {name for name, *_ in given.used} == {"V", "t_V", "o", "G", "L", "HD"}


def test_the_limits_of_a_profile_count_unless_others_are_given() -> None:
    profile = OverlapProfile.constant(o=1.0, G=0.001, L_roundtrip=10, unit=profile_of(machine(loggp=LOGGP)).unit, HD=4)
    assert SEARCH.predict(V=2**20, t_V=430, profile=profile)["b"] == 2
    assert SEARCH.predict(V=2**20, t_V=430, profile=profile, HD=2)["b"] == 1
    assert SEARCH.predict(V=2**20, t_V=430, profile=profile, HD=16)["b"] == 8


def test_the_choice_by_the_equation_is_the_paper_s() -> None:
    """Computation bound, t_V = 1590 us against 1048.6: by (5) its own choice, by time one that is no slower."""
    given = {"V": 2**20, "t_V": 1590, "o": 1, "L": 10, "G": 0.001, "HD": 64}
    by_time, by_five = SEARCH.predict(**given), SEARCH.predict(**given, rank="equation")
    assert (by_five["S"], by_five["b"]) != (by_time["S"], by_time["b"])
    assert 1590 < by_time["T"] < by_five["T"]
