"""`logpost compare` from the outside: its exit status gates a CI job."""

from __future__ import annotations

import json

import pytest
from tests.analyzer.two_phases import two_phases
from typer.testing import CliRunner

from logpost.cli.app import build, main


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Before: 5 ms of late sender; after: 20 ms."""
    path = tmp_path_factory.mktemp("compare")
    return str(two_phases(5).write(path / "before.run").path), str(two_phases(20).write(path / "after.run").path)


def test_without_gate_it_succeeds(runs: tuple[str, str]) -> None:
    result = CliRunner().invoke(build("compare"), ["compare", *runs])
    assert result.exit_code == 0, result.output
    assert "Regions that changed most" in result.stdout


def test_a_gate_that_holds_fails_the_job(runs: tuple[str, str]) -> None:
    result = CliRunner().invoke(build("compare"), ["compare", *runs, "--fail-if", "waiting > +5%", "--quiet"])
    assert result.exit_code == 1
    # waiting: 5 + 2 ms, then 20 + 2 ms: 22 / 7 = + 214.3 %
    assert "waiting went from 7.00 ms to 22.0 ms (+214.3 %): FAIL" in " ".join(result.stdout.split())


def test_a_gate_that_does_not_hold_passes(runs: tuple[str, str]) -> None:
    result = CliRunner().invoke(build("compare"), ["compare", *runs, "--fail-if", "contention > +5%", "--quiet"])
    assert result.exit_code == 0
    assert result.stdout == ""


def test_one_of_several_is_enough(runs: tuple[str, str]) -> None:
    gates = ["--fail-if", "contention > +5%", "--fail-if", "late_sender > +10ms"]
    result = CliRunner().invoke(build("compare"), ["compare", *runs, *gates, "--json"])
    assert result.exit_code == 1
    assert [gate["fails"] for gate in json.loads(result.stdout)["gates"]] == [False, True]


def test_a_typing_error_is_bad_usage(
    runs: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["logpost", "compare", *runs, "--fail-if", "contenton > +5%"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "unknown name 'contenton'" in capsys.readouterr().err
