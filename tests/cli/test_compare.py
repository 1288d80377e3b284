"""`logpost compare` from the outside: its exit status gates a CI job."""

from __future__ import annotations

import json

import pytest
from tests.analyzer.two_phases import two_phases
from tests.said import says
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
    # Rank 0 computes 7 ms, then 22 ms of 100 longer than rank 1; half of it is saved where both share
    # it, all where rank 0 is as fast.
    text = " ".join(result.stdout.split())
    assert "time saved: 3.5 % (2.6 to 7.9 %) → 11.0 % (8.9 to 24.1 %)" in text


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


@pytest.fixture(scope="module")
def repeats(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Late by 10 ms, and by 20 ms; each thrice, ± 1 ms."""
    path = tmp_path_factory.mktemp("repeats")
    return {
        name: [str(two_phases(late + more).write(path / f"{name}{more}.run").path) for more in (-1, 0, 1)]
        for name, late in (("a", 10), ("b", 20))
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gate", "status", "words"),
    [
        ("waiting > +5%", 1, "FAIL; most was added by late sender in MPI_Recv"),
        ("late_sender > +50ms", 0, ""),
        ("late_sender > +10ms", 3, "INCONCLUSIVE; the noise hides it even from 100 "),
    ],
)
def test_repeats_decide_a_gate_or_do_not(repeats: dict[str, list[str]], gate: str, status: int, words: str) -> None:
    arguments = ["compare", *repeats["a"], "--with", *repeats["b"], "--fail-if", gate, "-q"]
    result = CliRunner().invoke(build("compare"), arguments)
    assert (result.exit_code, result.exception is None or status > 0) == (status, True), result.output
    assert words in " ".join(result.stdout.split())
    assert bool(result.stdout) == bool(words)


@pytest.mark.slow
def test_repeats_print_every_change_with_its_interval(repeats: dict[str, list[str]]) -> None:
    arguments = ["compare", "--top", "3", *repeats["a"], "--with", *repeats["b"]]
    result = CliRunner().invoke(build("compare"), arguments, env={"COLUMNS": "140"})
    assert result.exit_code == 0, result.output
    # 10 ms more, ± t(0.975, 4) sqrt(1/3 + 1/3) = 2.27 ms
    assert says(
        " ".join(result.stdout.split()),
        "late sender",
        "10.0 ms",
        "20.0 ms",
        "+10.0 ms",
        "7.73 ms",
        "12.3 ms",
        "+100.0 %",
    )


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["A"], "got 1: add the run after the change"),
        (["A", "A", "B"], "got 3: put --with before the first run after"),
        (["A", "--with", "A"], "is given twice; a repeat is another run"),
    ],
)
def test_runs_without_a_before_and_an_after_are_refused(
    runs: tuple[str, str],
    words: list[str],
    error: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    named = {"A": runs[0], "B": runs[1]}
    monkeypatch.setattr("sys.argv", ["logpost", "compare", *(named.get(word, word) for word in words)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert error in capsys.readouterr().err
