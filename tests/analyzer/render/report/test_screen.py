"""The report's screen: at most 45 lines of 80 columns, whatever the run, with what is lost, why, and what to do."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.analyzer.findings.cures.test_receive_order import all_at_once
from tests.analyzer.in_process import analyze
from tests.analyzer.story import MS, Story
from tests.analyzer.two_phases import two_phases
from tests.archives import DATA, unpacked
from tests.said import says

from logpost.analyzer.findings.finding import COVERS, Number
from logpost.analyzer.pipeline.request import Request
from logpost.analyzer.render.report.screen import LINES, print_screen
from logpost.analyzer.render.report.sections import print_sections
from logpost.analyzer.report.build import build
from logpost.analyzer.report.coverage import coverage
from logpost.analyzer.report.data import Report
from logpost.analyzer.run.directory import Run
from logpost.machines.calibration.while_recording import Outcome

ARCHIVES = ("scorep-npb-sp-S-comp-4", "sst-macro-otf2", "casita-2_cuda_simple", "tau-one-sided-4")


def lines_of(report: Report, *, width: int = 80, replays: bool = True) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    print_screen(report, console, replays=replays)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_it_has_what_is_lost_by_category(tmp_path: Path) -> None:
    report = build(two_phases().write(tmp_path / "a.run"))
    text = " ".join(" ".join(lines_of(report)).split())
    # Of 200 ms: 20 late sender, 10 send overhead, 6 serialization, 6 collective, 4 others, 2 wait at the barrier.
    assert "Lost: 24.0 % of the ranks' time (48.0 ms " in text
    assert says(text, "late sender", "20.0 ms", "10.0 %")
    assert says(text, "collective wait", "2.00 ms", "1.0 %")
    assert "residual 0" not in text


def test_a_finding_has_other_cures_of_the_same_time(tmp_path: Path) -> None:
    report = build(all_at_once().write(tmp_path / "a.run"))
    text = " ".join(" ".join(lines_of(report)).split())
    # Of 20 ms, rank 0's 8 that others have not are stated; with messages taken as they arrive it ends 4 earlier.
    assert report.findings[0].kind == "load_imbalance"
    assert [round(one.gain, 3) for one in report.findings[0].alternatives] == [0.2]
    assert "instead: to take messages as they arrive (MPI_Waitany), 20.0 %" in text


def test_what_findings_explain_adds_up_and_is_as_uncertain_as_their_gains(tmp_path: Path) -> None:
    report = build(two_phases().write(tmp_path / "a.run"))
    first, *_ = report.findings

    def of(*times_ms: int, low: float | None = None, high: float | None = None) -> tuple[int, int, int]:
        found = [
            replace(first, gain=0.1, gain_low=low, gain_high=high, evidence=(Number(COVERS, time * MS, "ps"),))
            for time in times_ms
        ]
        covered = coverage(report.breakdown, found)
        assert covered.lost_ps == 48 * MS
        assert covered.by_finding == tuple(time / 48 for time in times_ms)
        return covered.explained_low_ps // MS, covered.explained_ps // MS, covered.explained_high_ps // MS

    assert of() == (0, 0, 0)
    assert of(20, 10) == (30, 30, 30)
    assert of(20, low=0.05, high=0.12) == (10, 20, 24)
    assert of(40, 20) == (48, 48, 48)  # no more than is lost
    # What no cure was replayed for explains nothing; one that was, and saves none of it, saves computation.
    nothing = coverage(report.breakdown, [replace(first, evidence=())])
    computation = coverage(report.breakdown, [replace(first, evidence=(Number(COVERS, 0, "ps"),))])
    assert (nothing.explained_ps, nothing.of_computation) == (0, False)
    assert (computation.explained_ps, computation.of_computation) == (0, True)
    assert computation.explained_text != nothing.explained_text


def test_each_finding_has_its_gain_place_advice_and_a_command_that_verifies_it(tmp_path: Path) -> None:
    report = build(two_phases().write(tmp_path / "a b.run"))
    first = replace(report.findings[0], gain_low=0.08, gain_high=0.12, advice="Even it out: move work. Or not.")
    others = [first for _ in range(4)]
    text = " ".join(" ".join(lines_of(replace(report, findings=(first, *others)))).split())
    assert says(text, "11.0 %", "8.0", "12.0 %")
    assert "Even it out verify" in text
    assert text.count("verify: logpost ") == 3
    assert f"verify: logpost whatif '{report.run}' --without 1" in text.replace("' --", "' --")
    assert "2 further findings" in text
    assert "--without" not in " ".join(lines_of(replace(report, findings=(first,)), replays=False))


def test_other_load_while_recording_is_stated(tmp_path: Path) -> None:
    report = build(two_phases().write(tmp_path / "a.run"))
    why = Outcome("ranks had their processors for 9 % of the measurement", 0.5, 0.5, 2).sentence()
    noted = replace(
        report, machine=report.machine.model_copy(update={"notes": ["no eager limit"], "not_measured": why})
    )
    text = " ".join(" ".join(lines_of(noted)).split())
    assert why[1:] in text
    assert "no eager limit" not in text


def test_warnings_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    report = build(two_phases().write(tmp_path / "a.run"))
    report = replace(report, findings=report.findings[:1])
    without = len(lines_of(report))
    room = LINES - without
    warned = lines_of(replace(report, warnings=tuple("w" * 70 for _ in range(room))))
    assert (len(warned), sum(line.startswith("! w") for line in warned)) == (LINES, room)
    warned = lines_of(replace(report, warnings=tuple("w" * 70 for _ in range(room + 5))))
    assert (len(warned), sum(line.startswith("! w") for line in warned)) == (LINES, room - 1)
    assert "! 6 further warnings: --show warnings" in [line.rstrip() for line in warned]


@pytest.mark.parametrize("name", ARCHIVES)
def test_it_is_a_screen_for_every_run(name: str, tmp_path: Path) -> None:
    archive = unpacked(DATA / "archives" / f"{name}.tar.xz", tmp_path)
    report = build(Run.open(analyze(Request(str(archive), str(tmp_path / "a.run")))))
    lines = lines_of(report)
    assert len(lines) <= LINES
    assert max(len(line.rstrip()) for line in lines) <= 80
    assert "next: logpost report" in " ".join(lines)


def test_a_run_without_ranks_and_one_without_loss_have_a_screen(tmp_path: Path) -> None:
    assert "No rank has a measured runtime" in " ".join(lines_of(build(Story(0, 100 * MS).write(tmp_path / "none"))))
    quiet = lines_of(build(Story(2, 100 * MS).write(tmp_path / "quiet")))
    assert not any("Lost" in line for line in quiet)
    assert sum("No finding applies" in line for line in quiet) == 1


def test_evidence_has_no_time_that_is_zero(tmp_path: Path) -> None:
    first = build(two_phases().write(tmp_path / "a.run")).findings[0]
    numbers = (Number("late", 0.0, "ps"), Number("rank", 0.0, "rank"), Number("rank", 2.0, "rank"))
    assert replace(first, evidence=numbers).evidence_rows == (("rank", "0, 2"),)


def test_evidence_has_neither_other_cures_nor_what_only_chooses_words(tmp_path: Path) -> None:
    found = build(all_at_once().write(tmp_path / "a.run")).findings[0]
    assert {"alone", "instead_receive_order[MPI_Waitall]"} <= {one.name for one in found.evidence}
    rows = dict(found.evidence_rows)
    assert rows["gain if shared"] == "13.3 %"
    assert not [name for name in rows if name == "alone" or name.startswith("instead")]


def test_no_row_of_a_section_is_zero_and_evidence_has_rows(tmp_path: Path) -> None:
    report = build(two_phases().write(tmp_path / "a.run"))
    console = Console(file=io.StringIO(), width=120, color_system=None, highlight=False)
    print_sections(report, console, ["findings", "categories", "waits"])
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert not re.search(r"^.*\b0 s\b.*\b0\.0 %|^ +[A-Z][\w @]+ 0 s +0$", text, re.MULTILINE)
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "late rank: 0" in " ".join(rows)
    assert "they compute there: 74.0 ms" in " ".join(rows)
    assert not any(re.search(r"\d; \w+", row) for row in rows)
