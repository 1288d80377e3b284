"""`logpost report` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.analyzer.in_process import analyze
from tests.analyzer.two_phases import two_phases
from tests.analyzer.whole_machine import write_whole_machine
from tests.cli.command import logpost
from tests.said import says
from typer.testing import CliRunner

from logpost.analyzer.pipeline.request import Request
from logpost.cli.app import build, main
from logpost.replay.cost.message_models import MessageModel


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_phases().write(tmp_path_factory.mktemp("report") / "late.run").path


def test_text(run: Path) -> None:
    result = CliRunner().invoke(build("report"), ["report", str(run)])
    assert result.exit_code == 0, result.output
    assert "next: logpost report" in result.stdout
    assert "\x1b" not in result.stdout


def test_json_is_one_object(run: Path) -> None:
    result = CliRunner().invoke(build("report"), ["report", str(run), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["breakdown_s"]["late_sender"] == pytest.approx(0.02)


def test_the_four_parts_of_sens(run: Path) -> None:
    result = CliRunner().invoke(build("report"), ["report", str(run), "--show", "sens"])
    assert result.exit_code == 0, result.output
    assert "message overhead" in result.stdout
    assert "part (SENS)" in result.stdout
    shown = json.loads(CliRunner().invoke(build("report"), ["report", str(run), "--json"]).stdout)
    assert sum(shown["sens_s"].values()) == pytest.approx(sum(shown["breakdown_s"].values()))


def test_quiet_prints_what_is_wrong_and_nothing_else(run: Path) -> None:
    # 48 of 200 ms are lost.
    for limit, status, lines in ((">20%", 1, 1), ("> 30 %", 0, 0), ("> 40ms", 1, 1), ("<= 48 ms", 1, 1)):
        words = ["report", str(run), "-q", "--fail-if", f"lost {limit}"]
        result = CliRunner().invoke(build("report"), words, terminal_width=200)
        assert (result.exit_code, len(result.stdout.splitlines())) == (status, lines), result.output


def test_a_gate_is_part_of_the_text_and_of_json(run: Path) -> None:
    gate = ["--fail-if", "lost > 20%", "--fail-if", "load_balance < 0.8"]
    shown = CliRunner().invoke(build("report"), ["report", str(run), *gate])
    assert shown.exit_code == 1
    # mean 76 ms, maximum 87 ms
    assert says(" ".join(shown.stdout.split()), "48.0 ms", "24.0 %", "FAIL")
    assert says(" ".join(shown.stdout.split()), "87.4 %", "ok")
    document = CliRunner().invoke(build("report"), ["report", str(run), *gate, "--json"])
    assert document.exit_code == 1
    found = json.loads(document.stdout)["gates"]
    assert [(one["expression"], one["fails"]) for one in found] == [("lost > 20%", True), ("load_balance < 0.8", False)]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--fail-if", "lost > +5%"], "a change between two runs; leave out the"),
        (["--fail-if", "lots > 5%"], "unknown name 'lots'"),
        (["--show", "rank"], "no section 'rank'; use some of warnings, "),
    ],
)
def test_what_cannot_be_shown_or_decided_is_refused(run: Path, words: list[str], error: str) -> None:
    done = logpost("report", run, *words)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert error in done.stderr


def test_sections_are_shown_by_their_names(run: Path) -> None:
    result = CliRunner().invoke(build("report"), ["report", str(run), "--show", "regions,ranks,threads"])
    titles = [line for line in result.stdout.splitlines() if line and not line.startswith(" ")]
    assert [title.split()[0] for title in titles] == ["Ranks", "threads:", "Communication"]
    full = CliRunner().invoke(build("report"), ["report", str(run), "--full"]).stdout
    assert all(title in full for title in titles if not title.startswith("threads"))


def test_html(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = CliRunner().invoke(build("report"), ["report", str(run), "--html", str(page)])
    assert result.exit_code == 0, result.output
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    assert "page.html" in result.stdout.replace("\n", "")
    result = CliRunner().invoke(build("report"), ["report", str(run), "--html", str(page), "--force", "--json"])
    assert json.loads(result.stdout)["ranks"] == 2


@pytest.fixture(scope="module")
def recorded(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models")
    machine = write_whole_machine(folder)
    archive = str(traces / "pipit-ping-pong")
    return str(analyze(Request(archive, str(folder / "a.run"), machine=machine, model=MessageModel.logp)))


def test_models_are_compared_on_the_same_messages(recorded: str) -> None:
    result = CliRunner().invoke(build("report"), ["report", recorded, "--models"], terminal_width=120)
    assert result.exit_code == 0, result.output
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "share of message time full LogGP LoGPC log3P LogP" in lines
    assert any(line.startswith("misfit: residual + deficit ") and line.count("%") == 5 for line in lines)
    assert any(line.startswith("The smallest misfit is that of ") for line in lines)
    assert "machine: whole (whole)" in lines


def test_json_has_every_model_on_request(recorded: str) -> None:
    printed = [
        json.loads(CliRunner().invoke(build("report"), ["report", recorded, "--json", *more]).stdout)
        for more in ((), ("--models",))
    ]
    assert printed[0]["models"] is None
    assert [model["model"] for model in printed[1]["models"]] == ["full", "loggp", "logpc", "log3p", "logp"]
    assert printed[1]["machine"]["model"] == "logp"
    assert printed[1]["models"][-1]["messages"] == printed[0]["messages"]
    for model in printed[1]["models"]:
        messages = model["messages"]
        assert sum(messages["parts_s"].values()) == pytest.approx(messages["envelope_s"], rel=1e-12)
        assert model["misfit_share"] == messages["residual_share"] + messages["deficit_share"]


def test_a_model_without_values_is_named_with_what_is_lacking(traces: Path, tmp_path: Path) -> None:
    place = str(analyze(Request(str(traces / "pipit-ping-pong"), str(tmp_path / "a.run"))))
    log3p = json.loads(CliRunner().invoke(build("report"), ["report", place, "--json", "--models"]).stdout)["models"][3]
    assert (log3p["messages"], log3p["misfit_share"]) == (None, None)
    assert log3p["reason"].startswith("machine pipit-ping-pong has no o_mw and no o_net: ")


def test_the_page_compares_the_models_on_request(recorded: str, tmp_path: Path) -> None:
    for name, more in (("plain", ()), ("models", ("--models",))):
        page = tmp_path / f"{name}.html"
        result = CliRunner().invoke(build("report"), ["report", recorded, "--html", str(page), *more])
        assert result.exit_code == 0, result.output
        text = page.read_text(encoding="utf-8")
        assert ("Share of message time under each model" in text) == bool(more)
        assert ('data-chart="models"' in text) == bool(more)


def test_the_page_compares_the_models_on_transfers(traces: Path, tmp_path: Path) -> None:
    archive, page = str(traces / "scorep-prk-rma-transpose-flush-4"), tmp_path / "page.html"
    run = str(analyze(Request(archive, str(tmp_path / "a.run"), machine="alewife")))
    result = CliRunner().invoke(build("report"), ["report", run, "--html", str(page), "--models"])
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert "the time of transfers under each model" in text
    assert "the time in collectives under each model" in text


def test_what_is_not_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["logpost", "report", str(tmp_path)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert "is not a run: it has no manifest.json" in error
    assert len(error.splitlines()) == 1


def test_help_has_an_example() -> None:
    assert "Example: logpost report" in CliRunner().invoke(build("report"), ["report", "--help"]).stdout
