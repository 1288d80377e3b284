"""`logpost report` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.analyzer.two_phases import two_phases
from typer.testing import CliRunner

from logpost.cli.app import build, main


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_phases().write(tmp_path_factory.mktemp("report") / "late.run").path


def test_text(run: Path) -> None:
    result = CliRunner().invoke(build("report"), ["report", str(run)])
    assert result.exit_code == 0, result.output
    assert "Findings, by what a fix can gain" in result.stdout
    assert "\x1b" not in result.stdout


def test_json_is_one_object(run: Path) -> None:
    result = CliRunner().invoke(build("report"), ["report", str(run), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["breakdown_s"]["late_sender"] == pytest.approx(0.02)


def test_quiet(run: Path) -> None:
    result = CliRunner().invoke(build("report"), ["report", str(run), "--quiet"])
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) < 12


def test_html(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = CliRunner().invoke(build("report"), ["report", str(run), "--html", str(page)])
    assert result.exit_code == 0, result.output
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")
    assert "page.html" in result.stdout.replace("\n", "")
    result = CliRunner().invoke(build("report"), ["report", str(run), "--html", str(page), "--force", "--json"])
    assert json.loads(result.stdout)["ranks"] == 2


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
