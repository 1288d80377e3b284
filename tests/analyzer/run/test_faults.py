"""What of logpost fails costs itself alone, is counted, and is shown wherever the result is."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console
from tests.analyzer.in_process import analyze
from tests.analyzer.two_phases import two_phases
from typer.testing import CliRunner

import logpost.analyzer.pipeline.stages.describe as describing
import logpost.analyzer.pipeline.stages.tables as writing
import logpost.analyzer.pipeline.tables.ideal_network as replayed
from logpost.analyzer.findings import find
from logpost.analyzer.findings.cures import late_ranks
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import Finding
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.pipeline.rescope import rescope
from logpost.analyzer.render.report.json import as_json
from logpost.analyzer.render.report.sections import print_sections
from logpost.analyzer.report.build import build
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.manifest import Fault
from logpost.analyzer.run.roi import RegionOfInterest
from logpost.analyzer.words.fault_text import fault_texts
from logpost.cli.analyze import faults as said_by_analyze
from logpost.cli.app import build as command
from logpost.dashboards.report import page
from logpost.dashboards.report.html import render

ARCHIVE = "casita-4_mpi_ls_barr"
"""In which `late_ranks` finds rank 0, and the other finders nothing else."""


def breaks(_evidence: Evidence) -> Iterable[Finding]:
    raise TypeError("int() argument must be a number,\nnot 'NoneType'")


breaks.__module__ = "logpost.analyzer.findings.cures.uneven_steps"


@pytest.fixture
def anchor(archives: list[Path]) -> str:
    return next(str(anchor) for anchor in archives if anchor.parent.name == ARCHIVE)


@pytest.fixture
def faulty(anchor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The archive analyzed by a logpost whose `uneven_steps` raises."""
    finders = tuple(breaks if one.__module__ == breaks.__module__ else one for one in find.FINDERS)
    assert breaks in finders
    monkeypatch.setattr(find, "FINDERS", finders)
    return Run.open(analyze(Request(anchor, str(tmp_path / "faulty.run")), faulty=True))


def test_a_finder_that_raises_costs_itself_alone(faulty: Run, runs: dict[str, Run]) -> None:
    (fault,) = faulty.manifest.faults
    assert fault.part == "finder uneven_steps"
    # One line, with the place in the code.
    assert fault.error.startswith("TypeError: int() argument must be a number, (test_faults.py:")
    known = runs[ARCHIVE]
    for name in known.manifest.tables:
        if name != "time_cells":
            assert faulty.table(name).collect().equals(known.table(name).collect()), name


def test_it_is_shown_by_analyze_report_json_and_page(faulty: Run) -> None:
    (sentence,) = fault_texts((fault.part, fault.error) for fault in faulty.manifest.faults)
    assert sentence.startswith("Fault of logpost: finder uneven_steps failed: TypeError: int() argument")
    assert said_by_analyze(faulty.path) == [sentence]
    report = build(faulty)
    assert report.warnings[0] == sentence
    assert as_json(report)["faults"] == [fault.model_dump() for fault in faulty.manifest.faults]
    console = Console(file=io.StringIO(), width=400, color_system=None, highlight=False)
    print_sections(report, console, ["warnings"])
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().startswith(f"! {sentence}")
    assert "finder uneven_steps failed" in render(page.build(faulty, page.Caps()))
    result = CliRunner().invoke(command("report"), ["report", str(faulty.path), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["faults"][0]["part"] == "finder uneven_steps"


def test_findings_of_a_region_count_their_own(runs: dict[str, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "FINDERS", (breaks, late_ranks.find))
    part = rescope(runs[ARCHIVE], RegionOfInterest(from_ps=0))
    assert [fault.part for fault in build(part).faults] == ["finder uneven_steps"]
    assert runs[ARCHIVE].manifest.faults == []


@pytest.mark.parametrize(
    ("where", "name", "part"),
    [
        (find, "without_alternatives", "combining of cures"),
        (find, "RootCauses", "causes of findings"),
        (find, "frame", "words of load_imbalance"),
        (replayed, "ideal_network", "table ideal_network"),
        (writing, "detail_levels", "table detail_levels"),
        (describing, "ended_early", "calls that never ended"),
    ],
)
def test_what_follows_finders_and_optional_tables_cost_themselves_alone(
    anchor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: object, name: str, part: str
) -> None:
    known: Callable[..., pl.DataFrame] = getattr(where, name)

    def fails(*given: object) -> pl.DataFrame:
        if name == "frame" and not given[0]:  # a table without rows
            return known(*given)
        raise ValueError(name)

    monkeypatch.setattr(where, name, fails)
    run = Run.open(analyze(Request(anchor, str(tmp_path / "a.run")), faulty=True))
    assert {fault.part for fault in run.manifest.faults} == {part}
    assert run.table("findings").collect().is_empty() == (name == "frame")


def test_a_figure_that_raises_leaves_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = two_phases().write(tmp_path / "a.run")
    whole = page.build(run, page.Caps())
    monkeypatch.setattr(page, "matrix", lambda *_: 1 / 0)
    made = page.build(run, page.Caps())
    assert made.charts.keys() == whole.charts.keys()
    assert [fault.part for fault in made.report.faults] == ["figure matrix"]
    text = render(made)
    assert "Fault of logpost: figure matrix failed: ZeroDivisionError" in text
    assert "This figure failed: a fault of logpost." in text


def test_a_section_of_the_report_that_raises_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logpost.analyzer.report.build.collectives", lambda _run: [][1])
    report = build(two_phases().write(tmp_path / "a.run"))
    assert report.collectives is None
    assert report.faults[0].part == "collective operations"
    assert report.findings


def test_parts_that_fail_by_one_error_share_a_sentence() -> None:
    said = fault_texts([("finder a", "E (x.py:1)"), ("finder b", "E (x.py:1)"), ("figure c", "F (y.py:2)")])
    assert [one.split(":")[1] for one in said] == [" finder a, finder b failed", " figure c failed"]


@pytest.mark.parametrize("error", [MemoryError, OSError])
def test_what_the_system_lacks_is_no_fault_of_a_part(error: type[Exception]) -> None:
    def fails() -> int:
        raise error

    faults = Faults()
    with pytest.raises(error):
        faults.guard("figure a", fails, 0)
    assert faults.found == []


def test_faults_are_in_the_order_of_their_parts() -> None:
    faults = Faults([Fault(part="finder z", error="E")])
    assert faults.guard("finder a", lambda: "ab"[2], "instead") == "instead"
    assert [fault.part for fault in faults.found] == ["finder a", "finder z"]
