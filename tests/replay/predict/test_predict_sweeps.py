"""Sweeps: their column, their number of points, their ends, and infinities in the table."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from tests.replay.predict.test_command_line import logpost
from tests.replay.predict.test_machine_values import RANGES

from logpost.replay.models import MODELS, ModelError
from logpost.replay.models.interface import Parameter
from logpost.replay.predict.prediction import Prediction, predict
from logpost.replay.predict.quantities import parse_sweep, parse_value

B = Parameter("B", "bytes", "size")
P = Parameter("P", "count", "processes")
HD = Parameter("HD", "count", "depth", default=float("inf"))
LOGGP = ("--set", "L=5us", "--set", "G=10GB/s", "--set", "B=8")


def sweep(parameter: Parameter, text: str) -> list[float]:
    return [float(value) for value in parse_sweep(parameter, text, time_unit="us", clock_hz=None)]


def test_both_overheads_keep_their_column() -> None:
    shown = list(
        csv.reader(io.StringIO(logpost("predict", "loggp", *LOGGP, "--sweep", "o=1us,2", "--csv", "-").stdout))
    )
    # 5 us + 7 * 0.1 ns + 2 o
    assert [row[:2] for row in shown] == [["o [us]", "T [us]"], ["1.0", "7.0007"], ["2.0", "9.0007"]]
    document = json.loads(logpost("predict", "loggp", *LOGGP, "--sweep", "o=1us,2", "--json").stdout)
    assert [row["o"] for row in document["rows"]] == [1, 2]
    assert document["columns"][0] == {"name": "o", "unit": "us", "meaning": "both overheads"}
    one_of_them = predict(MODELS["logp"], ["L=5", "o_r=3"], ["o=1,2"])
    assert [row["T"] for row in one_of_them.rows()] == pytest.approx([9, 10])


def test_both_overheads_in_addition_to_each_are_refused() -> None:
    with pytest.raises(ModelError, match=r"o is given .* o_s and o_r, .* leave o"):
        predict(MODELS["logp"], ["L=5", "o_s=1", "o_r=1"], ["o=1,2"])


@pytest.mark.parametrize("points", ["10000000000", "1000001", "9" * 5000])
def test_too_many_points(points: str) -> None:
    refused = logpost("predict", "loggp", *LOGGP, "--set", "o=1", "--sweep", f"g=1:2:{points}")
    assert refused.returncode == 2
    assert refused.stderr.endswith("at most 1000000 points; ask for fewer\n")


def test_too_many_rows() -> None:
    with pytest.raises(ModelError, match=r"sweeps make 1001000 rows \(L: 1001 x g: 1000\), .* at most"):
        predict(MODELS["logp"], ["o=1"], ["L=1:2:1001", "g=1:2:1000"])
    assert len(predict(MODELS["logp"], ["o=1"], ["L=1:2:1000", "g=1:2:100"]).results[0].values) == 100_000


@pytest.mark.parametrize("points", ["²", "1_0", "+3", "000", ""])
def test_what_is_no_number_of_points(points: str) -> None:
    with pytest.raises(ModelError, match=r"is not a number of points"):
        sweep(B, f"1:8:{points}")


@pytest.mark.parametrize("text", ["8:inf:3", "inf:8:3", "0:inf:3:lin", "8:1e400:3"])
def test_no_steps_lead_to_infinity(text: str) -> None:
    with pytest.raises(ModelError, match=r"no steps up to it; .* points, e\.g\. HD=8,64,inf"):
        sweep(HD, text)
    assert sweep(HD, "8,64,inf") == [8, 64, np.inf]


def test_a_list_is_taken_as_written() -> None:
    assert sweep(P, "2.5,3.5,2.5") == [2.5, 3.5, 2.5]
    refused = logpost("predict", "broadcast-loggp", *LOGGP, "--set", "o=1", "--sweep", "P=2.5,3.5")
    assert (refused.returncode, refused.stderr) == (2, "logpost: P = 2.5 must be a whole number\n")


def test_ends_of_counts_are_whole() -> None:
    for parameter, text in ((P, "2.5:8:3"), (P, "2:8.5:3"), (B, "0.5:8:3")):
        with pytest.raises(ModelError, match=r"is not whole, .* points .*; list them, as A,B,C"):
            sweep(parameter, text)
    assert sweep(B, "1.1kB:2.2kB:2") == [1100, 2200]  # 1.1 * 1000 is 1100.0000000000002
    assert sweep(P, "1:4:7") == [1, 2, 3, 4]


def test_a_machine_has_no_values_for_a_message_without_end() -> None:
    for name, size in (("loggp", "B"), ("overlap", "S")):
        with pytest.raises(ModelError, match=rf"{size} = inf must be finite"):
            predict(MODELS[name], [], [f"{size}=8,inf"], machine=RANGES)


@pytest.mark.parametrize("text", ["infGB/s", "1e400B/s", "1e300GB/s"])
def test_a_bandwidth_without_end_is_no_gap_of_zero(text: str) -> None:
    with pytest.raises(ModelError, match=r"a bandwidth must be positive and finite"):
        parse_value(Parameter("G", "time_per_byte", "gap"), text, time_unit="us", clock_hz=None)


def saturated(found: Prediction) -> dict[str, list[bool]]:
    return {c.name: found.saturated(c).tolist() for c in (*found.swept, *found.results)}


def test_only_full_channels_are_saturated() -> None:
    # rho = 64 * 1 ns * 4/2 / T: 12.8 and 0.128
    found = predict(MODELS["logpc-network"], ["B=64", "G=1ns", "k_d=4"], ["T=10ns,1us"])
    assert saturated(found) == {
        "T": [False] * 2, "C_n": [False] * 2, "T_c": [False] * 2, "rho": [False] * 2,
        "C_n_open": [True, False], "rho_open": [False] * 2,
    }  # fmt: skip
    # rho = m B k_d/2 = 0.1 * 20 * 4/2; its times count channel cycles
    cube = predict(MODELS["kary-ncube"], ["kx=16", "ky=16", "B=20", "m=0.1", "topology=torus"])
    assert {name for name, rows in saturated(cube).items() if any(rows)} == {"T_net", "C_n"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("logp", "--set", "L=5us", "--set", "o=0us"),
        ("logpc-long", *LOGGP, "--set", "o_sl=1us", "--set", "o_rl=1us", "--set", "G_m=1ns"),
        (
            "overlap",
            *LOGGP[:4],
            "--set",
            "V=64",
            "--set",
            "S=8",
            "--set",
            "t_V=1",
            "--set",
            "o=1",
            "--sweep",
            "HD=8,inf",
        ),
    ],
)
def test_other_infinities_are_plain(arguments: tuple[str, ...]) -> None:
    shown = logpost("predict", *arguments)
    assert shown.returncode == 0, shown.stderr
    assert " inf " in shown.stdout
    assert "saturated" not in shown.stdout


@pytest.mark.parametrize("option", ["--json", "--quiet"])
def test_a_csv_file_is_written_in_addition_to_the_printed_table(tmp_path: Path, option: str) -> None:
    request = ("predict", "loggp", *LOGGP, "--set", "o=1us")
    file = tmp_path / "table.csv"
    assert logpost(*request, option, "--csv", str(file)).stdout == logpost(*request, option).stdout != ""
    assert file.read_text(encoding="utf-8") == logpost(*request, "--csv", "-").stdout
    refused = logpost(*request, option, "--csv", "-")
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"logpost: {option} and --csv - both write to standard output; ")
    assert refused.stderr.count("\n") == 1


def test_a_class_needs_a_machine() -> None:
    request = ("predict", "logp", "--set", "L=5us", "--set", "o=1us", "--locality")
    unknown, alone = (logpost(*request, name).stderr for name in ("nowhere", "same_node"))
    assert unknown.startswith("logpost: 'nowhere' is not a locality class; ")
    assert unknown.endswith(" self, same_socket, same_node, other_node\n")
    assert alone.startswith("logpost: --locality same_node chooses among ")
    assert alone.endswith(": give the machine, -m NAME\n")
