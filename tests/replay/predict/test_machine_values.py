"""A machine's numbers under the models' names: ranges by size, networks, tables, and what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from logpost.errors import InputError
from logpost.machines import Machine, load_machine
from logpost.machines.schema.load import check_machine
from logpost.replay.models import MODELS, ModelError, OverlapProfile
from logpost.replay.predict.machine_values import machine_values, overlap_profile
from logpost.replay.predict.machine_values.locality import class_taken
from logpost.replay.predict.prediction import predict

ALEWIFE = load_machine("alewife")
US = 1e6


def machine(**tables: Any) -> Machine:
    raw = {
        "format": 1,
        "name": "ours",
        "title": "A machine of round numbers",
        "date": "2026-01-01",
        "kind": "publication",
        "sources": {"X": {"kind": "paper", "text": "made up for this test"}},
        "source": "X",
        "units": ["us", "ns/B", "B"],
        **tables,
    }
    found, problems = check_machine(raw, "ours.toml")
    assert found is not None, problems
    return found


RANGES = machine(
    loggp={
        "other_node": {
            "eager_limit": 4096,
            "range": [
                {"up_to_bytes": 64, "L": 2, "o_s": 1, "o_r": 1.5, "g": 3, "G": 10},
                {"L": 4, "o_s": 2, "o_s_per_byte": 0.5, "o_r": 2.5, "o_r_per_byte": 1.5, "G": 1},
            ],
        }
    }
)


def test_values_follow_the_ranges_of_the_size() -> None:
    found = machine_values(MODELS["loggp"], RANGES, {"B": np.array([8.0, 64.0, 65.0, 10_000.0])})
    np.testing.assert_allclose(found["L"], np.array([2, 2, 4, 4]) * US)
    np.testing.assert_allclose(found["G"], [10_000, 10_000, 1_000, 1_000])
    # LogGP has no O: overhead per byte is part of o_s at the size. 2 us + 65 * 0.5 ns.
    np.testing.assert_allclose(found["o_s"], [US, US, 2 * US + 65 * 500, 2 * US + 10_000 * 500])
    np.testing.assert_allclose(found["g"], [3 * US, 3 * US, 0, 0])  # the second range does not print it
    assert machine_values(MODELS["loggp"], RANGES, {"B": 8.0})["g"] == 3 * US


def test_loggops_keeps_overhead_per_byte_and_the_eager_limit() -> None:
    found = machine_values(MODELS["loggops"], RANGES, {"B": 10_000.0})
    assert found["o_s"] == 2 * US
    assert found["O"] == pytest.approx(1_000)  # (0.5 + 1.5)/2 ns, as 2 B O counts both ends
    assert found["S"] == 4096


def test_what_is_given_is_not_replaced() -> None:
    assert "L" not in machine_values(MODELS["loggp"], RANGES, {"B": 8.0, "L": 1.0})


def test_alewife_short_and_long() -> None:
    short = machine_values(MODELS["logpc-all-to-all"], ALEWIFE, {"B": 8.0})
    assert (short["L"], short["o_s"], short["o_r"]) == (21 * 50_000, 15 * 50_000, 122 * 50_000)
    assert short["G"] == 25_000  # of the link, though short messages have G = 0
    assert (short["units"], short["cycle"], short["kx"], short["ky"], short["topology"]) == (
        "printed", 50_000, 8.0, 4.0, "mesh",
    )  # fmt: skip
    long = machine_values(MODELS["logpc-long"], ALEWIFE, {"B": 8.0})
    assert (long["L"], long["o_sl"], long["o_rl"], long["a"]) == (8 * 50_000, 25 * 50_000, 129 * 50_000, 8)
    assert long["G_m"] == pytest.approx(0.3625 * 50_000)


def test_a_locality_class_that_is_not_there_has_a_stand_in() -> None:
    """The next farther class that has values, as for the replay engine, else the next nearer one."""
    there = machine_values(MODELS["loggp"], RANGES, {"B": 8.0})
    assert machine_values(MODELS["loggp"], RANGES, {"B": 8.0}, locality="same_node") == there
    one_node = {"L": 1, "o_s": 1, "o_r": 1, "g": 1, "G": 1}
    nearer = machine(loggp={"self": {"range": [one_node]}, "same_socket": {"range": [{**one_node, "L": 2}]}})
    assert machine_values(MODELS["loggp"], nearer, {"B": 8.0})["L"] == 2 * US
    assert class_taken(nearer, "other_node") == "same_socket"
    assert class_taken(nearer, "self") == "self"
    assert class_taken(machine(), "self") is None


def test_no_such_locality_class() -> None:
    with pytest.raises(ModelError, match=r"'rack' is not a locality class; choose self, same_socket"):
        machine_values(MODELS["loggp"], RANGES, {"B": 8.0}, locality="rack")


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        ({"kind": "torus", "dims": [4, 4]}, {"kx": 4.0, "ky": 4.0, "topology": "torus"}),
        ({"kind": "torus", "dims": [4, 4, 4, 2]}, {"k_d": (1 + 1 + 1 + 0.5) / 4, "n": 4.0, "topology": "torus"}),
        ({"kind": "crossbar", "nodes": 8}, {}),
    ],
)
def test_networks(topology: dict[str, Any], expected: dict[str, Any]) -> None:
    found = machine_values(MODELS["logpc-network"], machine(topology=topology), {"B": 8.0, "T": 1.0})
    found.pop("units")
    assert found == expected


def test_titan_has_one_point() -> None:
    titan = load_machine("titan_ia64")
    found = machine_values(MODELS["log3p"], titan, {"B": 16384.0, "stride": 1024.0})
    assert found == {"o_mw": 29 * US, "l_mw": 420 * US, "o_net": 131 * US, "T_mem": 3 * US}
    assert machine_values(MODELS["log3p"], titan, {"B": 16384.0})["l_mw"] == 0.0
    assert machine_values(MODELS["log3p"], titan, {}) == {}
    with pytest.raises(ModelError, match=r"machine titan_ia64 gives o_mw at B = 16384 only: take that size"):
        machine_values(MODELS["log3p"], titan, {"B": 1024.0})
    with pytest.raises(ModelError, match=r"gives l_mw at B = 16384, stride = 1024 only"):
        machine_values(MODELS["log3p"], titan, {"B": 16384.0, "stride": 64.0})


def test_strides_of_a_machine_without_l_mw_are_refused() -> None:
    bare = machine(log3p={"point": [{"size_bytes": s, "o_mw": 1, "o_net": 2} for s in (1024, 4096)]})
    assert machine_values(MODELS["log3p"], bare, {"B": 1024.0})["l_mw"] == 0.0
    with pytest.raises(ModelError, match=r"machine ours has no l_mw: strided .* take stride=0"):
        machine_values(MODELS["log3p"], bare, {"B": 1024.0, "stride": 64.0})
    # A given l_mw replaces the machine's.
    assert "l_mw" not in machine_values(MODELS["log3p"], bare, {"B": 1024.0, "stride": 64.0, "l_mw": 5e6})


def test_a_stride_of_the_blocks_size_is_contiguous() -> None:
    point = {"size_bytes": 1024, "block_bytes": 8, "l_mw": 3}
    strides = machine(
        log3p={
            "point": [{"size_bytes": 1024, "o_mw": 1, "o_net": 2}, *({**point, "stride_bytes": d} for d in (16, 64))]
        }
    )
    found = machine_values(MODELS["log3p"], strides, {"B": 1024.0, "stride": np.array([0.0, 8.0, 16.0])})
    np.testing.assert_allclose(found["l_mw"], [0, 0, 3 * US])


def test_a_memory_copy_at_one_size_only_does_not_stop_the_others() -> None:
    one = {"size_bytes": 1024, "o_mw": 1, "o_net": 2, "T_mem": 0.5}
    ours = machine(log3p={"point": [one, {"size_bytes": 4096, "o_mw": 2, "o_net": 8}]})
    assert machine_values(MODELS["log3p"], ours, {"B": 1024.0})["T_mem"] == 0.5 * US
    larger = predict(MODELS["log3p"], ["B=4096"], machine=ours)
    assert [column.name for column in larger.results] == ["T", "T_contiguous"]
    assert larger.rows()[0]["T"] == 10.0


def test_log3p_tables_are_interpolated() -> None:
    ours = machine(
        log3p={
            "point": [
                {"size_bytes": 1000, "o_mw": 10, "o_net": 20, "T_mem": 1},
                {"size_bytes": 3000, "o_mw": 30, "o_net": 40, "T_mem": 2},
                {"size_bytes": 1000, "stride_bytes": 64, "l_mw": 5},
                {"size_bytes": 3000, "stride_bytes": 64, "l_mw": 15},
            ]
        }
    )
    found = machine_values(MODELS["log3p"], ours, {"B": np.array([1000.0, 2000.0]), "stride": 64.0})
    np.testing.assert_allclose(found["o_mw"], [10 * US, 20 * US])
    np.testing.assert_allclose(found["l_mw"], [5 * US, 10 * US])


OVERLAP = machine(
    loggp={"other_node": {"round_trip_L": 10, "o_s": 1, "o_r": 2}},
    overlap={
        "HD": 64,
        "outstanding": 4194304,
        "o": [{"size_bytes": 8, "burst": 1, "o": 2}, {"size_bytes": 8, "burst": 64, "o": 1}],
        "G": [
            {"processors": 32, "size_bytes": 8, "pattern": "nearest-neighbour", "level": "lowest", "G": 1},
            {"processors": 32, "size_bytes": 8, "pattern": "cross-section", "level": "lowest", "G": 4},
        ],
    },
)


def test_overlap_tables() -> None:
    profile = overlap_profile(OVERLAP)
    assert isinstance(profile, OverlapProfile)
    assert profile.L("get") == 10 * US
    assert (profile.HD, profile.outstanding_bytes) == (64, 4194304)
    given = {"V": 2**20, "t_V": 500 * US, "S": 1024.0, "b": 8.0, "P": 32.0}
    found = machine_values(MODELS["overlap"], OVERLAP, given)
    assert found["L"] == 10 * US  # a round trip
    assert found["o"] == pytest.approx(1.5 * US)  # burst 8 is halfway between 1 and 64 in log2
    assert found["G"] == 1_000
    interleaved = machine_values(MODELS["overlap"], OVERLAP, {**given, "topology": "all-to-all-interleaved"})
    assert interleaved["G"] == 4_000
    search = machine_values(MODELS["overlap-search"], OVERLAP, {"V": 2**20, "t_V": 500 * US})
    assert isinstance(search["profile"], OverlapProfile)


def test_overlap_without_tables_takes_loggp() -> None:
    elan4 = load_machine("elan4")
    assert overlap_profile(elan4) is None
    found = machine_values(MODELS["overlap-search"], elan4, {"V": 2**20})
    assert found == {"L": pytest.approx(2.4 * US), "HD": 32, "outstanding": 4 * 2**20}
    plain = machine(loggp={"other_node": {"L": 5, "o_s": 1, "o_r": 2, "G": 1}})
    assert machine_values(MODELS["overlap"], plain, {"S": 8.0})["o"] == 3 * US
    assert machine_values(MODELS["overlap"], plain, {"S": 8.0})["L"] == 10 * US


def test_overlap_tables_need_a_latency() -> None:
    bare = machine(overlap={"o": [{"size_bytes": 8, "burst": 1, "o": 2}], "G": [
        {"processors": 32, "size_bytes": 8, "pattern": "cross-section", "level": "lowest", "G": 4}]})  # fmt: skip
    with pytest.raises(ModelError, match=r"machine ours has o\(S,b\) and G\(P,S\) but no L for other_node"):
        overlap_profile(bare)


def test_without_a_size_the_error_names_the_size_and_not_what_depends_on_it() -> None:
    titan = load_machine("titan_ia64")
    with pytest.raises(InputError, match=r"model log3p needs B, the message size: give it, e\.g\. --set B=1KiB"):
        predict(MODELS["log3p"], machine=titan)


def test_a_value_that_the_machine_lacks_is_named_with_the_machine() -> None:
    with pytest.raises(InputError, match=r"model loggp needs G: .*\(machine paragon does not"):
        predict(MODELS["loggp"], ["B=1024"], machine=load_machine("paragon"))


@pytest.mark.parametrize("name", ["alewife", "paragon", "meiko_cs2", "myrinet_now", "titan_ia64", "elan3", "elan4"])
@pytest.mark.parametrize("one", MODELS.values(), ids=lambda one: one.name)
def test_offered_values_are_admissible_for_every_model(name: str, one: Any) -> None:
    """Whatever a machine offers, the model checks and takes; it may still lack others."""
    given = {"B": 16384.0, "stride": 1024.0, "S": 1024.0, "V": 2.0**20}
    chosen = {key: value for key, value in given.items() if key in {p.name for p in one.parameters}}
    offered = machine_values(one, load_machine(name), chosen)
    for key, value in offered.items():
        if not isinstance(value, (str, OverlapProfile)):
            assert (np.asarray(value) >= 0).all(), key


def test_names_that_models_share_with_a_machine_but_not_their_meaning_are_not_offered() -> None:
    """The topology of overlap is an order of peers, LogP's n counts messages, and S is LogGOPS's eager limit only."""
    many = machine(
        topology={"kind": "torus", "dims": [4, 4, 4, 2]},
        loggp={"other_node": {"L": 2, "o_s": 1, "o_r": 1, "g": 3, "G": 1, "eager_limit": 4096}},
    )
    assert "n" not in machine_values(MODELS["loggp"], many, {"B": 8.0})
    assert "n" not in machine_values(MODELS["logp"], many, {})
    assert machine_values(MODELS["complexity"], many, {}) == {}
    assert not {"S", "topology"} & machine_values(MODELS["overlap"], many, {"V": 4096.0}).keys()
    # 2 us * 2 there and back, o = 2 us, 2 messages of 2048 ns: all from the machine but the decomposition.
    found = predict(MODELS["overlap"], ["V=4096", "S=2048", "t_V=1us", "form=pipelined"], machine=many)
    assert found.rows()[0]["T"] == pytest.approx(2 + 4 + 2 * 2.048 + 1 / 2)


def test_the_locality_of_a_mesh_does_not_apply_to_a_torus() -> None:
    assert machine_values(MODELS["locality"], ALEWIFE, {}) == {"kx": 8.0, "ky": 4.0}
    torus = machine(topology={"kind": "torus", "dims": [4, 4]})
    assert machine_values(MODELS["locality"], torus, {}) == {}


def test_overlap_tables_take_the_latency_of_the_chosen_class() -> None:
    ours = machine(
        loggp={
            "other_node": {"round_trip_L": 10, "o_s": 1, "o_r": 2},
            "same_node": {"round_trip_L": 2, "o_s": 1, "o_r": 2},
        },
        overlap={
            "o": [{"size_bytes": 8, "burst": 1, "o": 2}],
            "G": [{"processors": 2, "size_bytes": 8, "pattern": "nearest-neighbour", "level": "lowest", "G": 1}],
        },
    )
    for locality, round_trip in (("other_node", 10), ("same_node", 2)):
        found = machine_values(MODELS["overlap-search"], ours, {}, locality=locality)
        assert found["L"] == found["profile"].L("get") == round_trip * US
