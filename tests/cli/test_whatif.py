"""`logpost whatif` from the outside."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from tests.analyzer.findings.cures.test_missed_overlap import exchange
from tests.analyzer.findings.cures.test_unattended import transfers
from tests.analyzer.in_process import analyze
from tests.analyzer.story import MS
from tests.cli.command import logpost
from tests.said import says
from typer.testing import CliRunner

from logpost.analyzer.findings import find
from logpost.analyzer.findings.cures import unattended
from logpost.analyzer.pipeline.request import Request
from logpost.cli.app import build
from logpost.machines.schema.load import template_text


@pytest.fixture(scope="module")
def run(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    anchor = next(one for one in archives if one.parent.name == "pipit-ping-pong")
    return str(analyze(Request(str(anchor), str(tmp_path_factory.mktemp("whatif") / "a.run"))))


def test_json_holds_the_measurement_the_prediction_and_its_interval(run: str) -> None:
    result = CliRunner().invoke(build("whatif"), ["whatif", run, "--set", "L=x2", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["settings"] == ["L=x2"]
    assert found["measured_ps"] < found["predicted_ps"]
    assert found["interval_ps"][0] <= found["predicted_ps"] <= found["interval_ps"][1]
    assert sum(found["after"]["critical_path_ps"].values()) == found["predicted_ps"]


def test_without_settings_it_says_that_nothing_is_changed(run: str) -> None:
    result = CliRunner().invoke(build("whatif"), ["whatif", run])
    assert result.exit_code == 0, result.output
    assert "nothing is changed" in result.stdout
    assert "Critical path" in result.stdout


def test_a_sweep_is_a_curve_with_tolerances(run: str) -> None:
    result = CliRunner().invoke(build("whatif"), ["whatif", run, "--sweep", "L=x0.001:x1000:5"])
    assert result.exit_code == 0, result.output
    assert "▁" in result.stdout
    assert "5 % more time: at" in result.stdout
    assert "latency hiding x0.001 to x" in result.stdout
    assert "reakpoint" not in result.stdout


def test_breakpoints_of_a_sweep_are_found_on_request(run: str) -> None:
    options = ["--sweep", "L=x0.001:x1000:5", "--breakpoints"]
    result = CliRunner().invoke(build("whatif"), ["whatif", run, *options])
    assert result.exit_code == 0, result.output
    assert "Breakpoints: " in result.stdout
    assert "latency hiding x0.001 to x" in result.stdout


def test_breakpoints_need_a_sweep(run: str) -> None:
    refused = CliRunner().invoke(build("whatif"), ["whatif", run, "--breakpoints"])
    assert "--breakpoints belongs to --sweep" in str(refused.exception)


def test_a_sweeps_pieces_join_from_its_first_to_its_last_point(run: str) -> None:
    result = CliRunner().invoke(build("whatif"), ["whatif", run, "--sweep", "L=1us:100us:3", "--breakpoints", "--json"])
    assert result.exit_code == 0, result.output
    sweep = json.loads(result.stdout)["sweep"]
    pieces = sweep["pieces"]
    assert (pieces[0]["from"], pieces[-1]["to"]) == ("1 us", "100 us")
    assert sweep["above_ps"] == 0
    assert all(a["to_value"] == b["from_value"] and a["count"] < b["count"] for a, b in itertools.pairwise(pieces))
    last = pieces[-1]
    grown = last["makespan_ps"] + last["count"] * (last["to_value"] - last["from_value"])
    assert grown == pytest.approx(sweep["points"][-1]["makespan_ps"], abs=1000)


def test_a_sweep_of_protocols_has_no_pieces(run: str) -> None:
    result = CliRunner().invoke(build("whatif"), ["whatif", run, "--sweep", "eager_limit=1:100000:3", "--json"])
    assert result.exit_code == 0, result.output
    sweep = json.loads(result.stdout)["sweep"]
    assert (len(sweep["points"]), sweep["pieces"], sweep["tolerances"]) == (3, [], [])


def test_it_says_whether_contention_is_modelled_and_why_not(run: str) -> None:
    result = CliRunner().invoke(build("whatif"), ["whatif", run])
    assert "contention in the network: not modelled: " in result.stdout
    found = json.loads(CliRunner().invoke(build("whatif"), ["whatif", run, "--json"]).stdout)
    assert found["network"] == {
        "contention_modelled": False,
        "why_not": "no message is between nodes",
        "before": None,
        "after": None,
    }


def test_a_mapping_is_written_for_the_launchers(run: str, tmp_path: Path) -> None:
    file = tmp_path / "ranks"
    command = ["whatif", run, "--mapping", "best", "--rankfile", str(file)]
    result = CliRunner().invoke(build("whatif"), command)
    assert result.exit_code == 0, result.output
    assert "Placements that were replayed" in result.stdout
    lines = file.read_text().splitlines()
    assert [line.partition("=")[0] for line in lines] == ["rank 0", "rank 1"]
    assert sorted(line.partition(" slot=")[2] for line in lines) == ["0", "1"]
    assert (tmp_path / "ranks.mpich").read_text().endswith(":2\n")
    again = CliRunner().invoke(build("whatif"), command)
    assert "already exists; pass --force" in str(again.exception)


def test_a_rankfile_needs_a_mapping(run: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(build("whatif"), ["whatif", run, "--rankfile", str(tmp_path / "ranks")])
    assert "needs a mapping to write; add --mapping best" in str(result.exception)


def test_the_predicted_execution_is_written_as_a_run(run: str, tmp_path: Path) -> None:
    place = tmp_path / "predicted.run"
    command = ["whatif", run, "--set", "L=x2", "-o", str(place)]
    result = CliRunner().invoke(build("whatif"), command)
    assert result.exit_code == 0
    assert f"The predicted run is {place}." in result.stdout
    again = CliRunner().invoke(build("whatif"), command)
    assert f"{place} already exists; pass --force to overwrite it" in str(again.exception)
    found = json.loads(CliRunner().invoke(build("report"), ["report", str(place), "--json"]).stdout)
    assert found["predicted"]["settings"] == ["L=x2"]
    assert any(warning.startswith("This run is predicted, not measured") for warning in found["warnings"])
    assert "predicted, not measured" in CliRunner().invoke(build("report"), ["report", str(place)]).stdout.replace(
        "\n", " "
    )


def test_overlap_is_advised_alone(tmp_path: Path) -> None:
    place = exchange(work=3).write(tmp_path / "a.run")
    place.machine_file.write_text(template_text())
    result = CliRunner().invoke(build("whatif"), ["whatif", str(place.path), "--overlap"])
    assert result.exit_code == 0
    assert "into 4 of 1.00 KiB" in " ".join(result.stdout.split())
    printed = json.loads(CliRunner().invoke(build("whatif"), ["whatif", str(place.path), "--overlap", "--json"]).stdout)
    assert printed["overlap"][0]["pieces"] == 4
    refused = CliRunner().invoke(build("whatif"), ["whatif", str(place.path), "--overlap", "--set", "L=x2"])
    assert str(refused.exception).startswith("--overlap is about the run as it was")


def test_a_grid_is_a_table_with_regions_and_lines(run: str) -> None:
    grid = ["whatif", run, "--grid", "L=1us:1ms:4,G=0.001ns/B:1ns/B:4"]
    result = CliRunner().invoke(build("whatif"), grid, env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    title = next(i for i, line in enumerate(result.stdout.splitlines()) if line.startswith("Makespan over L"))
    rows = result.stdout.splitlines()[title + 1 : title + 6]
    assert rows[0].split() == ["0.001", "0.01", "0.1", "1"]
    assert [row.split()[0] for row in rows[1:]] == ["1", "10", "100", "1000"]
    assert rows[-1].endswith(" -")
    assert " +5 %: L " in result.stdout
    assert "latency dominated" in result.stdout
    narrow = CliRunner().invoke(build("whatif"), grid, env={"COLUMNS": "40"})
    assert "█" in narrow.stdout
    found = json.loads(CliRunner().invoke(build("whatif"), [*grid, "--json"]).stdout)["grid"]
    assert (found["names"], found["values"][0]) == (["L", "G"], ["1 us", "10 us", "100 us", "1000 us"])
    assert [len(row) for row in found["makespan_ps"]] == [4] * 4
    assert found["interval_ps"][1][2][0] <= found["makespan_ps"][1][2] <= found["interval_ps"][1][2][1]
    assert [one["percent"] for one in found["contours"]] == [5, 10]


def test_a_grid_that_is_not_understood_is_one_line_and_status_2(run: str) -> None:
    done = logpost("whatif", run, "--grid", "L=1us:2us:3")
    assert done.returncode == 2
    assert done.stderr == ("logpost: --grid L=1us:2us:3: write two parameters, NAME=FROM:TO:COUNT,NAME=FROM:TO:COUNT\n")


def test_the_page_has_the_curve_and_the_map(run: str, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    command = ["whatif", run, "--set", "o=2us", "--sweep", "L=1us:1ms:4", "--grid", "L=1us:1ms:4,G=1ns/B:1us/B:4"]
    result = CliRunner().invoke(build("whatif"), [*command, "--html", str(page)])
    assert result.exit_code == 0, result.output
    text = page.read_text()
    for chart in ("path", "sweep", "grid", "regions"):
        assert f'data-chart="{chart}"' in text
    assert page.stat().st_size < 3_000_000
    again = logpost(*command, "--html", page)
    assert again.returncode == 2
    assert "already exists; pass --force to overwrite it" in again.stderr


def test_a_page_of_a_plain_prediction_has_no_curve(run: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(build("whatif"), ["whatif", run, "--html", str(tmp_path / "a.html")])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "a.html").read_text()
    assert 'data-chart="path"' in text
    assert 'data-chart="sweep"' not in text
    assert "nothing is changed" in text


def test_a_finding_is_removed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "FINDERS", (unattended.find,))
    place = transfers(computes=True).write(tmp_path / "a.run")
    result = CliRunner().invoke(build("whatif"), ["whatif", str(place.path), "--without", "1"])
    assert result.exit_code == 0, result.output
    # 100 ms and 90 without it: tests/analyzer/findings/test_cured.py has the arithmetic.
    assert "recorded   100 ms" in result.stdout
    assert says(result.stdout, "90.0 ms", "10.0 %", "10.0 %")
    printed = json.loads(
        CliRunner().invoke(build("whatif"), ["whatif", str(place.path), "--without", "1", "--json"]).stdout
    )
    assert (printed["measured_ps"], printed["predicted_ps"]) == (100 * MS, 90 * MS)
    assert sum(printed["after_path_ps"].values()) == 87 * MS  # behind the last call, 3 ms of code are on no path
    beyond = logpost("whatif", place.path, "--without", "9")
    assert beyond.returncode == 2
    assert beyond.stderr.startswith("logpost: finding 9: the run's findings are 1 to ")
    cures = json.loads(CliRunner().invoke(build("whatif"), ["whatif", str(place.path), "--cures", "--json"]).stdout)
    assert [(one["kind"], one["gain"], one["outcome"]) for one in cures["cures"]] == [
        ("unattended", pytest.approx(0.1), "stated")
    ]
    assert "10.0 %" in CliRunner().invoke(build("whatif"), ["whatif", str(place.path), "--cures"]).stdout
    both = logpost("whatif", place.path, "--without", "1", "--cures")
    assert both.returncode == 2
    assert both.stderr.startswith("logpost: --cures is about the run as ")
    both = logpost("whatif", place.path, "--without", "1", "--set", "L=x2")
    assert both.returncode == 2
    assert both.stderr.startswith("logpost: --without is about the run as ")


def test_quick_has_the_lengths_of_the_whole_prediction(run: str) -> None:
    whole, quick = (
        json.loads(CliRunner().invoke(build("whatif"), ["whatif", run, "--set", "L=x2", "--json", *more]).stdout)
        for more in ([], ["--quick"])
    )
    assert quick == {name: whole[name] for name in ("json_version", "settings", "measured_ps", "predicted_ps")} | {
        "machine": whole["recorded_machine"]
    }
    text = CliRunner().invoke(build("whatif"), ["whatif", run, "--set", "L=x2", "--quick"]).stdout
    assert [line.split()[0] for line in text.splitlines()] == ["machine", "measured", "predicted"]
    refused = CliRunner().invoke(build("whatif"), ["whatif", run, "--quick", "--sweep", "L=x1:x2:3"])
    assert refused.exit_code != 0
