"""What a verb imports is what its start costs: `--help` and `--version` nothing, `report` its tables and its text."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest
from tests.analyzer.two_phases import two_phases
from tests.cli.command import imported

from logpost import __version__
from logpost.cli.app import main

pytestmark = pytest.mark.slow

HEAVY = {"typer", "click", "rich", "polars", "numpy", "pydantic", "pyarrow", "plotly", "jinja2", "perfetto"}


@pytest.mark.parametrize("option", ["--help", "-h", "--version"])
def test_the_overview_imports_no_library(option: str) -> None:
    modules = imported(option)
    assert modules & HEAVY == set()
    assert {name for name in modules if name.startswith("logpost")} <= {
        "logpost",
        "logpost.cli",
        "logpost.cli.app",
        "logpost.cli.overview",
        "logpost.address_space",
        "logpost.cli.mishaps",
        "logpost.cli.output",
        "logpost.errors",
    }


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_a_report_imports_no_arrays_no_pages_and_no_engine(options: list[str], tmp_path: Path) -> None:
    run = two_phases().write(tmp_path / "late.run").path
    modules = imported("report", run, *options)
    assert {"polars", "pydantic"} <= modules
    assert modules & {"numpy", "pyarrow", "plotly", "jinja2", "perfetto"} == set()
    others = {name for name in modules if name.startswith(("logpost.machines", "logpost.replay", "logpost.dashboards"))}
    known = {"logpost.replay", "logpost.replay._native", "logpost.replay.cost", "logpost.replay.cost.message_models"}
    assert others <= known, "the order of categories and the names of models are there, once"
    assert "logpost.analyzer.archive._native" not in modules


@pytest.mark.parametrize("option", ["--quiet", "--force"])
def test_an_analysis_that_draws_no_bar_loads_nothing_that_draws_one(traces: Path, tmp_path: Path, option: str) -> None:
    modules = imported("analyze", traces / "pipit-ping-pong", "-o", tmp_path / "a.run", option)
    assert modules & {"rich.console", "rich.progress"} == set(), "its errors are no terminal"
    assert modules & {"polars", "numpy", "pyarrow"} == set()


def test_a_page_imports_plotly_only_when_one_is_made(tmp_path: Path) -> None:
    run = two_phases().write(tmp_path / "late.run").path
    assert "plotly" in imported("report", run, "--html", tmp_path / "a.html", "--quiet")


@pytest.mark.parametrize(("verb", "threads"), [("whatif", "1"), ("testbed", None)])
def test_no_library_starts_threads_and_programs_get_the_users_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], verb: str, threads: str | None
) -> None:
    monkeypatch.setattr("sys.argv", ["logpost", verb, "--help"])
    with mock.patch.dict(os.environ):
        os.environ.pop("OPENBLAS_NUM_THREADS", None)
        with pytest.raises(SystemExit):
            main()
        assert os.environ.get("OPENBLAS_NUM_THREADS") == threads
    assert verb in capsys.readouterr().out


def test_the_version_is_that_of_the_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["logpost", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capsys.readouterr().out) == (0, f"logpost {__version__}\n")
