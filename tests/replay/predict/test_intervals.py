"""The interval that a machine's uncertainties give a prediction, and what is shown of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.machines.builders import stated
from tests.replay.predict.test_command_line import logpost
from tests.replay.predict.test_machine_values import machine
from tests.said import says

from logpost.machines.values.quantity import Time
from logpost.replay.models import MODELS
from logpost.replay.predict.intervals import ends_of
from logpost.replay.predict.prediction import predict

LEVEL: dict[str, Any] = {"value": 5, "unit": "us", "source": "TEST"}


def uncertain(value: float, half: float) -> dict[str, float]:
    return {"value": value, "uncertainty": half}


OURS = machine(
    loggp={"other_node": {"L": uncertain(10, 3), "o_s": uncertain(2, 0.4), "o_r": 1, "G": uncertain(10, 0.4)}}
)


def test_independent_uncertainties_add_up_in_quadrature() -> None:
    # T = 2 + 10 + 100 + 1: G of 10 ns/B +- 4 %, L +- 3, o_s +- 0.4 us: sqrt(16 + 9 + 0.16) = 5.016.
    found = predict(MODELS["loggp"], ["B=10001"], machine=OURS)
    T = next(column for column in found.results if column.name == "T")
    assert T.values[0] == pytest.approx(113)
    assert T.interval is not None
    assert [float(end[0]) for end in T.interval] == pytest.approx([113 - 25.16**0.5, 113 + 25.16**0.5])
    # o_r states none; g and the costs per byte are not in the file, and do not enter.
    assert found.uncertain == (3, 4)


def test_sweeps_have_an_interval_in_each_row() -> None:
    found = predict(MODELS["loggp"], [], ["B=1,10001"], machine=OURS)
    T = found.results[0]
    assert T.interval is not None
    halves = (T.interval[1] - T.interval[0]) / 2
    np.testing.assert_allclose(halves, [9.16**0.5, 25.16**0.5])


def test_lopsided_ends_stay_lopsided_and_a_time_is_not_negative() -> None:
    L = {"value": 2, "interval": [0, 8], "confidence": 0.95}
    ours = machine(loggp={"other_node": {"L": L, "o_s": 1, "o_r": 1, "G": 0}})
    T = predict(MODELS["loggp"], ["B=1"], machine=ours).results[0]
    assert T.interval is not None
    assert [float(end[0]) for end in T.interval] == pytest.approx([2, 10])


def test_other_levels_are_scaled_to_95_percent() -> None:
    # 68.27 % is one standard deviation, 95 % is 1.96 of them.
    low, high = ends_of(Time(**LEVEL, uncertainty=1, confidence=0.682689492)) or (0, 0)
    assert (low, high) == pytest.approx((5 - 1.959964, 5 + 1.959964))
    assert ends_of(Time(**LEVEL, uncertainty=1)) == (4, 6)
    assert ends_of(Time(**LEVEL, uncertainty=9)) == (0, 14)
    assert ends_of(Time(**LEVEL)) is None


def test_given_values_are_exact_and_certain_machines_give_no_interval() -> None:
    given = predict(MODELS["loggp"], ["B=1", "L=10us", "o_s=2us", "G=0.01us/B"], machine=OURS)
    assert given.uncertain is None
    assert all(column.interval is None for column in given.results)
    assert predict(MODELS["logp"], ["L=1us", "o=1us", "g=1us"]).uncertain is None


def test_what_no_uncertain_value_moves_has_an_interval_of_no_width() -> None:
    found = predict(MODELS["loggp"], ["B=10001", "G=0"], machine=OURS)
    serialization = next(column for column in found.results if column.name == "serialization")
    assert serialization.interval is not None
    assert [float(end[0]) for end in serialization.interval] == [0, 0]


def test_tables_of_size_and_stride_count_too() -> None:
    points = [
        {"size_bytes": 1000, "o_mw": 10, "o_net": 20},
        {"size_bytes": 3000, "o_mw": 30, "o_net": 40},
        {"size_bytes": 1000, "stride_bytes": 64, "l_mw": uncertain(5, 1)},
        {"size_bytes": 3000, "stride_bytes": 64, "l_mw": uncertain(15, 3)},
    ]
    T = predict(MODELS["log3p"], ["B=2000", "stride=64"], machine=machine(log3p={"point": points})).results[0]
    # Each of the two counts by half: sqrt(0.5^2 + 1.5^2).
    assert T.interval is not None
    assert float(T.interval[1][0] - T.values[0]) == pytest.approx(2.5**0.5)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ours.toml"
    path.write_text(
        stated(
            "ours",
            ("us", "us/B"),
            """[[loggp.other_node.range]]
up_to_bytes = 65536
L = { value = 10, uncertainty = 3 }
o_s = 2
o_r = 1
G = 0.01

[[log3p.point]]
size_bytes = 1024
o_mw = 1
o_net = 2

[[log3p.point]]
size_bytes = 1024
stride_bytes = 64
block_bytes = 8
l_mw = 1

[[log3p.point]]
size_bytes = 4096
stride_bytes = 64
block_bytes = 8
o_mw = 4
o_net = 8
l_mw = 4
""",
        )
    )
    return path


def test_the_table_shows_intervals_and_what_is_extrapolated(file: Path) -> None:
    one = logpost("predict", "loggp", "-m", str(file), "--set", "B=1MiB").stdout
    assert "L, o_s, o_r, G are extrapolated beyond the largest measured size, 64 KiB\n" in one
    assert says(one, "95 %", "1", "4")
    swept = logpost("predict", "loggp", "-m", str(file), "--sweep", "B=1,64KiB,1MiB", columns=200).stdout
    assert "64 KiB in 1 of 3 rows" in swept
    assert "10 to 16" in swept  # 13 +- 3


def test_json_and_csv_have_both(file: Path) -> None:
    found = json.loads(logpost("predict", "loggp", "-m", str(file), "--sweep", "B=1,1MiB", "--json").stdout)
    assert found["interval"][0]["T"] == [10.0, 16.0]
    assert found["interval_level"] == 0.95
    assert found["interval_from"] == {"stated": 1, "entering": 4}
    assert found["extrapolated"] == [
        {"values": ["L", "o_s", "o_r", "G"], "why": "beyond the largest measured size, 64 KiB", "rows": 1}
    ]
    lines = logpost("predict", "loggp", "-m", str(file), "--sweep", "B=1,1MiB", "--csv", "-").stdout.splitlines()
    assert lines[0].startswith("B [B],T [us],T low [us],T high [us],")
    assert lines[1].startswith("1.0,13.0,10.0,16.0,")


@pytest.mark.parametrize(
    ("stated", "names"),
    [
        (["B=4KiB", "stride=64"], []),
        (["B=8KiB", "stride=0"], ["o_mw is extrapolated beyond the largest measured size, 4 KiB"]),
        (["B=8KiB", "stride=64"], ["l_mw is extrapolated beyond the largest measured number"]),
        (["B=4KiB", "stride=1024"], ["l_mw is extrapolated from the largest measured stride"]),
        (["B=4KiB", "stride=64", "block=4"], ["l_mw is extrapolated beyond the largest measured number"]),
    ],
)
def test_what_log3p_reads_beyond_its_tables(file: Path, stated: list[str], names: list[str]) -> None:
    shown = logpost("predict", "log3p", "-m", str(file), *(f"--set={one}" for one in stated)).stdout
    assert ("extrapolated" in shown) == bool(names)
    assert all(one in shown for one in names)
