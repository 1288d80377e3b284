"""`logpost models` and `logpost predict` as a person runs them."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from logpost.cli.app import main
from logpost.replay.models import MODELS
from logpost.replay.models.papers import PAPERS


@dataclass(frozen=True)
class Outcome:
    """What a run of the program left."""

    returncode: int
    stdout: str
    stderr: str


def logpost(*arguments: str, columns: int = 100) -> Outcome:
    """The program in this process: the same entry point, without an interpreter's start for each."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    environment = {"COLUMNS": str(columns), "NO_COLOR": "1"}
    with (
        mock.patch.object(sys, "argv", ["logpost", *arguments]),
        mock.patch.dict("os.environ", environment),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            status = int(ended.code or 0)
    return Outcome(status, out.getvalue(), err.getvalue())


@pytest.mark.slow
def test_the_installed_program_does_the_same() -> None:
    program = [sys.executable, "-m", "logpost.cli.app", "predict", "logp"]
    done = subprocess.run([*program, "--set", "L=5", "--set", "o=1", "-q"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split("\t")[0], done.stderr) == (0, "7", "")
    refused = subprocess.run([*program, "--set", "L"], capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "logpost: --set L: write NAME=VALUE, e.g. --set L=5us\n"


def test_models_lists_every_model() -> None:
    shown = logpost("models")
    assert shown.returncode == 0, shown.stderr
    for name in MODELS:
        assert f" {name} " in shown.stdout
    assert logpost("models", "--quiet").stdout.split() == list(MODELS)


def test_models_shows_one_with_equations_units_source_and_validity() -> None:
    shown = logpost("models", "logpc-long").stdout
    for text in (
        "(2) T_sr = o_sl + L + max(o_rl + a G + B G_m, (B-1) G) + C_n",
        "time/byte",
        "Source: Moritz",
        "Valid for",
    ):
        assert text in shown
    assert logpost("models", "logpc-long", "-q").stdout.splitlines() == list(MODELS["logpc-long"].equations)


def test_models_as_json() -> None:
    everything = json.loads(logpost("models", "--json").stdout)
    assert [one["name"] for one in everything["models"]] == list(MODELS)
    one = json.loads(logpost("models", "loggp", "--json").stdout)
    assert one["parameters"][0] == {
        "name": "L", "unit": "time", "meaning": "latency", "needed": True, "default": None, "choices": [],
    }  # fmt: skip


def test_the_papers_page_is_written(tmp_path: Path) -> None:
    assert logpost("models", "--papers", str(tmp_path / "papers.md")).returncode == 0
    assert (tmp_path / "papers.md").read_text(encoding="utf-8").startswith("# The papers' numbers and logpost's")
    refused = logpost("models", "--papers", str(tmp_path / "no" / "papers.md"))
    assert refused.returncode == 2
    assert "cannot be written: No such file or " in refused.stderr


COMMANDS = [command for paper in PAPERS for command, _ in paper.redo]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_papers_page_run(command: str) -> None:
    shown = logpost(*command.split()[1:])
    assert (shown.returncode, shown.stderr) == (0, "")


def figures(command: str) -> list[dict[str, float]]:
    found = next(c for c in COMMANDS if c.startswith(f"logpost predict {command} "))
    rows: list[dict[str, float]] = json.loads(logpost(*found.split()[1:], "--json").stdout)["rows"]
    return rows


def test_commands_of_the_papers_page_redo_the_numbers() -> None:
    table_4 = figures("logpc-all-to-all")[0]
    assert (table_4["sync_logp"], table_4["sync_lopc"], table_4["async"]) == pytest.approx((316, 453, 137))
    assert figures("lopc")[0]["C_r"] == pytest.approx(180.9, abs=0.05)
    assert figures("locality")[0] == {"neighbours": 1.875, "within_span": 3.875}
    assert figures("logpc-all-to-all-long")[0]["F"] == pytest.approx(2.2247, abs=5e-5)
    assert [row["C_n_open"] for row in figures("logpc-network")] == pytest.approx([3.2, 7.6, 31.2], abs=0.05)
    assert figures("logpc-long")[0]["crossover"] == pytest.approx(970.9, abs=0.05)
    assert [row["M"] for row in figures("diamond-dag")] == pytest.approx([4_866_748.5, 3_397_731])
    assert figures("log3p")[0]["T"] == 580
    assert figures("log3p-extract")[0] == pytest.approx({"o_mw": 29, "l_mw": 420, "o_net": 131, "T": 580})
    assert figures("complexity")[0]["log3p"] == 6
    rows = figures("overlap")
    assert [row["b"] for row in rows if row["T"] is None] == [64]  # b < HD = 64: the last one blocks the processor
    times = [row["T"] for row in rows if row["T"] is not None]
    assert min(times) < times[0]
    assert figures("logp")[0]["RTT"] == pytest.approx(19.8)
    assert [row["L"] for row in figures("logp-extract")] == pytest.approx([6.35, 6.45])
    assert figures("logp-benchmark")[-1]["cost"] == pytest.approx(7.6, rel=0.01)


def test_predict_prints_a_table() -> None:
    shown = logpost("predict", "loggp", "--set", "L=5us", "-s", "o=1us", "--set", "G=10GB/s", "--sweep", "B=1:1MiB:21")
    assert shown.returncode == 0, shown.stderr
    assert "1048576" in shown.stdout
    assert "111.8575" in shown.stdout  # 7 + 1048575 * 1e-4


def test_no_figure_is_cut_off_in_a_narrow_terminal() -> None:
    shown = logpost(
        "predict", "logpc-all-to-all", "-m", "alewife", "--sweep", "B=8,24", "--unit", "cycle", columns=40
    ).stdout
    assert "453.8213" in shown
    assert "…" not in shown


def test_predict_as_csv_and_json(tmp_path: Path) -> None:
    request = ("predict", "log3p", "-m", "titan_ia64", "--set", "B=16KiB", "--sweep", "stride=0,1024")
    rows = list(csv.reader(io.StringIO(logpost(*request, "--csv", "-").stdout)))
    assert rows[0] == ["stride [B]", "T [us]", "T_contiguous [us]", "T_self [us]"]
    assert [list(map(float, row)) for row in rows[1:]] == [[0, 160, 160, 32], [1024, 580, 160, 452]]
    file = tmp_path / "titan.csv"
    assert logpost(*request, "--csv", str(file)).stdout == ""
    assert file.read_text(encoding="utf-8").splitlines()[0] == ",".join(rows[0])
    document = json.loads(logpost(*request, "--json").stdout)
    assert document["model"] == "log3p"
    assert document["rows"][1] == {"stride": 1024.0, "T": 580.0, "T_contiguous": 160.0, "T_self": 452.0}
    assert {"name": "o_mw", "value": "29 us", "from": "titan_ia64"} in document["parameters"]


def test_saturation_and_missing_results_are_shown_as_such() -> None:
    request = ("predict", "logpc-network", "--set", "T=10ns", "--set", "G=1ns", "--set", "k_d=4", "--set", "B=64")
    assert "inf (saturated)" in logpost(*request).stdout
    assert json.loads(logpost(*request, "--json").stdout)["rows"][0]["C_n_open"] == "inf"
    nothing = ["predict", "overlap-search", "--sweep", "V=1KiB,1KiB"]
    nothing += ["--set", "t_V=1", "--set", "o=1", "--set", "L=10", "--set", "G=1ns"]
    assert json.loads(logpost(*nothing, "--json").stdout)["rows"][0]["S"] is None
    assert logpost(*nothing, "--csv", "-").stdout.splitlines()[1] == "1024.0,,,,0.0"
    assert logpost(*nothing, "-q").stdout.split("\t")[1] == "nan"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "loggq"), "logpost: no model is called 'loggq'; there "),
        (("models", "loggq"), "logpost: no model is called 'loggq'; there "),
        (("predict", "loggp", "--set", "L"), "logpost: --set L: write NAME=VALUE, e.g. --set L=5us"),
        (("predict", "loggp", "--set", "L=5us"), "logpost: model loggp needs o_s, o_r, G, B: give it, "),
        (("predict", "logp", "-m", "nowhere"), "logpost: unknown machine 'nowhere'"),
        (("predict", "logp", "--clock", "fast"), "logpost: --clock fast is not a clock rate; write e.g. --clock 20MHz"),
        (("predict", "logp", "--clock", "0MHz"), "logpost: --clock 0MHz is not a clock rate"),
        (
            ("predict", "logp", "--set", "L=1", "--set", "o=1", "--csv", "/no/such/file"),
            "logpost: /no/such/file cannot be",
        ),
    ],
)
def test_a_mistake_is_one_line_and_status_2(arguments: tuple[str, ...], message: str) -> None:
    refused = logpost(*arguments)
    assert refused.returncode == 2
    assert refused.stderr.startswith(message)
    assert len(refused.stderr.splitlines()) == 1
    assert "Traceback" not in refused.stdout + refused.stderr


def test_clock_for_cycles() -> None:
    shown = logpost("predict", "logp", "--set", "L=21cycle", "--set", "o=1us", "--clock", "20MHz", "--unit", "us", "-q")
    assert shown.stdout.split("\t")[0] == "3.05"  # 1.05 + 2
