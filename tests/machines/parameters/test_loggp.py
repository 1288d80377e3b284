"""From a machine file, or a fit, to the flat numbers of the replay engine."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.machines.builders import machine, problems
from tests.said import says

from logpost.errors import InputError
from logpost.machines import (
    LOCALITIES,
    Quality,
    RangeValues,
    ReplayParameters,
    assemble,
    estimated_parameters,
    load_machine,
    replay_parameters,
)
from logpost.machines.parameters import ESTIMATED, PARAMETERS, UNLIMITED


def test_units_arrive_as_picoseconds() -> None:
    # L = 5 us = 5,000,000 ps; G = 4 ns/B = 4,000 ps/B.
    p = replay_parameters(machine())
    assert p.L_ps.tolist() == [5_000_000] * 4
    assert p.o_s_ps[3] == 1_000_000
    assert p.o_r_ps[3] == 2_000_000
    assert p.g_ps[3] == 3_000_000
    assert p.G_ps_per_byte[3] == 4_000
    assert p.L_ps.dtype == np.int64
    assert p.G_ps_per_byte.dtype == np.float64
    assert not p.L_ps.flags.writeable


def test_cycles_take_the_clock_of_the_file() -> None:
    # Alewife, 20 MHz: a cycle is 50,000 ps. Two-argument message: o_s 15 -> 750,000, L 21 -> 1,050,000, o_r 122 ->
    # 6,100,000; long: G 0.5 cycle/B -> 25,000 ps/B.
    p = replay_parameters(load_machine("alewife"))
    other = slice(int(p.class_start[3]), int(p.class_start[4]))
    assert p.max_bytes[other].tolist() == [0, 4, 8, UNLIMITED]
    assert p.o_s_ps[other].tolist() == [450_000, 600_000, 750_000, 1_250_000]
    assert p.L_ps[other].tolist() == [1_050_000, 1_050_000, 1_050_000, 400_000]
    assert p.o_r_ps[other].tolist() == [5_850_000, 5_950_000, 6_100_000, 6_450_000]
    assert p.G_ps_per_byte[other].tolist() == [0, 0, 0, 25_000]


def test_a_size_at_the_limit_still_belongs_to_the_range() -> None:
    p = replay_parameters(load_machine("alewife"))
    first = int(p.class_start[3])
    assert (p.row(3, [0, 1, 4, 5, 8, 9, 10**9]) - first).tolist() == [0, 1, 1, 2, 2, 3, 3]
    # Classes and sizes broadcast; class self has the same four rows, separately.
    assert p.row([[0], [3]], [0, 9]).tolist() == [[0, 3], [12, 15]]


@pytest.mark.parametrize(
    ("given_classes", "origin"),
    [
        (["other_node"], [3, 3, 3, 3]),
        (["same_node", "other_node"], [2, 2, 2, 3]),
        (["same_node"], [2, 2, 2, 2]),
        (["self", "other_node"], [0, 3, 3, 3]),
        (["self", "same_socket"], [0, 1, 1, 1]),
        (list(LOCALITIES), [0, 1, 2, 3]),
    ],
)
def test_absent_classes_take_the_next_farther_then_nearer_one(given_classes: list[str], origin: list[int]) -> None:
    loggp = {name: {"L": LOCALITIES.index(name) + 1, "o_s": 1, "o_r": 1, "g": 1, "G": 1} for name in given_classes}
    p = replay_parameters(machine(loggp=loggp))
    assert p.class_origin.tolist() == origin
    assert p.L_ps.tolist() == [(c + 1) * 1_000_000 for c in origin]
    # Each substitution is on record.
    said = [a for a in p.assumptions if "is not given: the values of" in a]
    assert len(said) == 4 - len(given_classes)
    for name, c in zip(LOCALITIES, origin, strict=True):
        if name not in given_classes:
            assert f"class {name} is not given: the values of {LOCALITIES[c]} hold" in p.assumptions


@pytest.mark.parametrize(
    ("name", "model", "sentence"),
    [
        ("paragon", "LogGP", r"machine paragon, class other_node: G \(gap per byte\) .* source"),
        ("myrinet10", "LogP", r"machine myrinet10, class other_node: L \(latency\) is not given"),
        ("meiko_cs2_50mhz", "LogP", r"machine meiko_cs2_50mhz, class other_node: o_s \(send overhead\)"),
        ("elan4", "LoPC", r"o_s \(send overhead\) .*, nor .* o_r \(receive overhead\); use"),
        (
            "elan4",
            "LogGP",
            r", nor .* o_r \(receive overhead\), G \(gap per byte\); .* o_s, o_r, G to a copy",
        ),
        ("lumi_c", "LogGP", r"machine lumi_c, class other_node: L"),
        ("sens_t3e", "LogP", "machine sens_t3e: .* has LogGP values, .* needs L, o_s, o_r, g"),
        ("titan_ia64", "LogGP", r"machine titan_ia64: no locality class has LogGP values"),
        ("alewife", "LogQ", "model 'LogQ' .* replay parameters; .* LogP, LogGP, LoPC"),
    ],
)
def test_missing_values_are_named(name: str, model: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        replay_parameters(load_machine(name), model)


def test_missing_value_of_a_range_names_the_size() -> None:
    ranges = [{"up_to_bytes": 64, "L": 1, "o_s": 1, "o_r": 1, "G": 1}, {"up_to_bytes": 128, "L": 1, "o_s": 1, "o_r": 1}]
    with pytest.raises(InputError, match=r"class same_node up to 128 B: G"):
        replay_parameters(machine(loggp={"same_node": {"range": ranges}}))


def test_optional_values_are_zero_and_said_so() -> None:
    p = replay_parameters(machine(loggp={"other_node": {"L": 1, "o_s": 1, "o_r": 1, "G": 1}}))
    assert p.g_ps.tolist() == [0] * 4
    assert "g of other_node is not given: 0" in p.assumptions
    assert "o_s_per_byte of other_node is not given: 0" in p.assumptions
    assert "nic.per_node is not given: 1 NIC per node" in p.assumptions


def test_logp_knows_small_messages_and_no_bytes() -> None:
    # Alewife's bulk range has no g: LogP keeps the small-message ranges and lets the last of them continue.
    p = replay_parameters(load_machine("alewife"), "LogP")
    assert p.max_bytes[-3:].tolist() == [0, 4, UNLIMITED]
    assert "class other_node above 8 B lacks values that LogP needs" in p.assumptions
    # Tukey gives G, which LogP does not have.
    p = replay_parameters(load_machine("tukey_infiniband"), "LogP")
    assert not p.G_ps_per_byte.any()
    assert "G of other_node is not part of the model: 0" in p.assumptions


def test_a_closed_last_range_continues() -> None:
    p = replay_parameters(load_machine("tukey_infiniband"))
    assert p.max_bytes[-1] == UNLIMITED
    assert "class other_node ends at 8192 B: its last range continues" in p.assumptions


def test_round_trip_latency_is_halved() -> None:
    # 7.4 us of round trip: 3.7 us one way; its error bar halves too, 0.2 -> 0.1 us.
    loggp = {"other_node": {"round_trip_L": {"value": 7.4, "uncertainty": 0.2}, "o_s": 1, "o_r": 1, "G": 0}}
    p = replay_parameters(machine(loggp=loggp))
    assert p.L_ps[3] == 3_700_000
    assert p.errors["L_ps"][3] == 100_000


def test_error_bars_are_converted_to_picoseconds() -> None:
    values: dict[str, Any] = {
        "L": {"value": 5, "uncertainty": 0.25},  # us -> 250,000 ps
        "o_s": 1,
        "o_r": {"value": 2, "interval": [1.5, 2.1]},  # the larger side, 0.5 us: 2 - 0.5 reaches 1.5
        "G": {"range": [3, 5]},  # ns/B: middle 4,000, half width 1,000 ps/B
    }
    p = replay_parameters(machine(loggp={"other_node": values}))
    assert p.errors["L_ps"][3] == 250_000
    assert np.isnan(p.errors["o_s_ps"][3])
    assert p.errors["o_r_ps"][3] == pytest.approx(500_000)
    assert p.sides["o_r_ps"][3].tolist() == pytest.approx([500_000, 100_000])
    assert np.isnan(p.sides["L_ps"][3]).all()
    assert np.isnan(p.with_value("o_r", 1e6).sides["o_r_ps"]).all()
    assert (p.G_ps_per_byte[3], p.errors["G_ps_per_byte"][3]) == (4_000, 1_000)


def test_eager_limits_and_nics() -> None:
    kib = {"unit": "KiB"}
    loggp = {
        "same_node": {"eager_limit": {"value": 4, **kib}, "L": 1, "o_s": 1, "o_r": 1, "G": 1},
        "other_node": {"L": 1, "o_s": 1, "o_r": 1, "G": 1},
    }
    p = replay_parameters(machine(loggp=loggp, nic={"per_node": 4}))
    assert [p.eager_limit(name) for name in LOCALITIES] == [4096, 4096, 4096, None]
    assert p.nics_per_node == 4
    assert not any("nic" in a for a in p.assumptions)
    with pytest.raises(InputError, match=r"'rack' is not a .* class; .* self, same_socket"):
        p.eager_limit("rack")


def test_eager_limit_without_ranges_is_not_lost() -> None:
    # A class may state its eager limit and leave its times to another class.
    loggp = {
        "same_node": {"eager_limit": {"value": 512, "unit": "B"}},
        "other_node": {"eager_limit": {"value": 8192, "unit": "B"}, "L": 1, "o_s": 1, "o_r": 1, "G": 1},
    }
    p = replay_parameters(machine(loggp=loggp))
    assert [p.eager_limit(name) for name in LOCALITIES] == [512, 512, 512, 8192]
    assert any(re.match("the eager limit of self .*: .* same_node holds$", one) for one in p.assumptions)


def test_a_class_without_values_has_the_eager_limit_of_the_class_whose_values_it_takes() -> None:
    # Ranks that were measured on one socket and are not bound to it later are ranks of one node.
    loggp = {"same_socket": {"eager_limit": {"value": 4040, "unit": "B"}, "L": 1, "o_s": 1, "o_r": 1, "G": 1}}
    p = replay_parameters(machine(loggp=loggp))
    assert [p.eager_limit(name) for name in LOCALITIES] == [4040] * 4
    assert any(re.match("the eager limit of same_node .*: .* same_socket holds$", one) for one in p.assumptions)


def test_log3p_table_has_rows_of_l_mw_and_holes_over_the_size() -> None:
    points: list[dict[str, Any]] = [
        {"size_bytes": 1024, "o_mw": 3, "o_net": 9, "T_mem": 1},
        {"size_bytes": 1024, "stride_bytes": 64, "l_mw": 5, "l_mw_self": 6},
        {"size_bytes": 4096, "stride_bytes": 16, "block_bytes": 128, "l_mw": 7, "o_mw": 4},
    ]
    table = replay_parameters(machine(log3p={"point": points})).log3p
    assert table is not None
    assert table.sizes.tolist() == [1024, 4096]
    assert table.l_mw.tolist() == [[1024, 64, 0, 5e6], [4096, 16, 128, 7e6]]
    assert table.l_mw_self.tolist() == [[1024, 64, 0, 6e6]]
    np.testing.assert_array_equal(table.o_mw_ps, [3e6, 4e6])
    np.testing.assert_array_equal(table.o_net_ps, [9e6, np.nan])
    points.append({"size_bytes": 1024, "stride_bytes": 16, "o_mw": 3.5})
    (sentence,) = problems(log3p={"point": points})
    assert says(sentence, "log3p.point", "3", "3.5 us", "log3p.point", "0", "3 us", "1024")


def test_what_if_values_replace_and_forget_the_error_bar() -> None:
    p = replay_parameters(
        machine(loggp={"other_node": {"L": {"value": 5, "uncertainty": 1}, "o_s": 1, "o_r": 1, "G": 1}})
    )
    slow = p.with_value("L", 7e6, ["other_node"])
    assert slow.L_ps.tolist() == [5_000_000, 5_000_000, 5_000_000, 7_000_000]
    assert np.isnan(slow.errors["L_ps"][3])
    assert slow.errors["L_ps"][2] == 1_000_000
    assert p.L_ps[3] == 5_000_000
    assert slow.source.endswith("L set")
    assert slow.with_value("G", 12.5).G_ps_per_byte.tolist() == [12.5] * 4
    with pytest.raises(InputError, match=r"'l' is not a LogGP parameter; use one of L, o_s"):
        p.with_value("l", 1)
    with pytest.raises(InputError, match=r"L = -1 ps is not a time"):
        p.with_value("L", -1)


def test_parameters_estimated_from_a_trace() -> None:
    near = RangeValues(max_bytes=UNLIMITED, L_ps=300e3, o_s_ps=100e3, o_r_ps=120e3, errors={"L": 20e3})
    far = [
        RangeValues(max_bytes=1024, L_ps=1.5e6, o_s_ps=200e3, o_r_ps=250e3, G_ps_per_byte=80),
        RangeValues(max_bytes=UNLIMITED, L_ps=2.5e6, o_s_ps=200e3, o_r_ps=250e3, G_ps_per_byte=41.6),
    ]
    quality = {"same_node": Quality(1200, 35e3), "other_node": Quality(90, 410e3)}
    p = estimated_parameters(
        "traces.otf2", {"same_node": [near], "other_node": far}, quality, eager_limits={"other_node": 4096}
    )
    assert p.source == ESTIMATED == "estimated from this trace"
    assert p.quality["other_node"] == Quality(n=90, residual_ps=410e3)
    assert p.class_start.tolist() == [0, 1, 2, 3, 5]
    assert p.G_ps_per_byte.tolist() == [0, 0, 0, 80, 41.6]
    assert p.errors["L_ps"][:3].tolist() == [20e3] * 3
    assert p.eager_limit("other_node") == 4096


def _one(**values: Any) -> list[RangeValues]:
    return [RangeValues(**{"max_bytes": UNLIMITED, "L_ps": 1, "o_s_ps": 1, "o_r_ps": 1, **values})]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: assemble("m", "s", {}, eager_limits={}, nics_per_node=1), r"m: no locality class has values"),
        (
            lambda: assemble("m", "s", {"rack": _one()}, eager_limits={}, nics_per_node=1),
            r"'rack' is not a locality",
        ),
        (lambda: assemble("m", "s", {"self": _one()}, eager_limits={}, nics_per_node=0), r"nics_per_node = 0; a node"),
        (
            lambda: assemble("m", "s", {"self": _one(L_ps=-4)}, eager_limits={}, nics_per_node=1),
            "class self: L = -4 ps .* finite and not negative",
        ),
        (
            lambda: assemble("m", "s", {"self": _one(G_ps_per_byte=float("nan"))}, eager_limits={}, nics_per_node=1),
            r"class self: G = nan ps is not a time",
        ),
        (
            lambda: assemble("m", "s", {"self": _one() + _one()}, eager_limits={}, nics_per_node=1),
            r"class self: ranges .* \[.*\] bytes; .* increasing order",
        ),
        (
            lambda: estimated_parameters("t", {"self": _one()}, {"self": Quality(0, 0)}),
            "t: .* class self .* 0 messages; .* at least one",
        ),
    ],
)
def test_bad_fits_are_refused(call: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()


@given(
    st.dictionaries(
        st.sampled_from(LOCALITIES),
        st.lists(st.integers(0, 2**40), min_size=1, max_size=6, unique=True).map(sorted),
        min_size=1,
    )
)
def test_layout_holds_for_any_ranges(limits: dict[str, list[int]]) -> None:
    classes = {
        name: [RangeValues(max_bytes=m, L_ps=m, o_s_ps=1, o_r_ps=1) for m in ends] for name, ends in limits.items()
    }
    p = assemble("m", "s", classes, eager_limits={}, nics_per_node=1)
    check_layout(p)
    for name, ends in limits.items():
        c = LOCALITIES.index(name)
        assert p.class_origin[c] == c
        # Every size finds the first range whose limit is not below it; the last range has no limit.
        for size in (0, *ends, ends[-1] + 1):
            expected = next((m for m in ends[:-1] if size <= m), ends[-1])
            assert p.L_ps[p.row(c, size)] == expected


def check_layout(p: ReplayParameters) -> None:
    """What the native engine relies on."""
    assert p.class_start[0] == 0
    assert p.class_start[-1] == len(p.class_id)
    assert (np.diff(p.class_start) >= 1).all()
    for c in range(4):
        rows = slice(int(p.class_start[c]), int(p.class_start[c + 1]))
        assert (p.class_id[rows] == c).all()
        assert (np.diff(p.max_bytes[rows].astype(object)) > 0).all()
        assert p.max_bytes[rows][-1] == UNLIMITED
    for column in PARAMETERS.values():
        assert len(getattr(p, column)) == len(p.errors[column]) == len(p.class_id)


@pytest.mark.parametrize("name", ["alewife", "tukey_infiniband"])
def test_library_machines_have_the_layout(name: str) -> None:
    check_layout(replay_parameters(load_machine(name)))
