"""The time of calls that reach files, which the accounts have as compute."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from tests.analyzer.story import MS, Story
from tests.said import facts

from logpost.analyzer.render.report.files import files_text
from logpost.analyzer.render.report.json import as_json
from logpost.analyzer.render.report.screen import print_screen
from logpost.analyzer.render.report.sections import print_sections
from logpost.analyzer.report.build import build
from logpost.analyzer.report.data import Report


def reads(path: Path) -> Report:
    """Two ranks of 100 ms after a start-up of 10. Rank 0 reads for 30 ms, with an open of 5 ms inside and 5 ms more
    within its start-up; both write for 2 ms."""
    story = Story(2, 110 * MS)
    read, write = story.path("main", "read in.dat"), story.path("main", "write out.dat")
    nested = story.path("main", "read in.dat", "open in.dat")
    story.start_up(0, 10 * MS)
    story.start_up(1, 10 * MS)
    for location, callpath, enter, leave in (
        (0, read, 5, 10),
        (0, nested, 25, 30),
        (0, read, 20, 50),
        (0, write, 60, 62),
        (1, write, 60, 62),
    ):
        row = {"location": location, "callpath": callpath, "enter_ps": enter * MS, "leave_ps": leave * MS}
        story.rows["file_calls"].append(row)
    return build(story.write(path))


def test_a_call_counts_once_and_in_the_program(tmp_path: Path) -> None:
    found = reads(tmp_path / "run").files
    assert found is not None
    assert (found.exposed_ps, found.share) == (34 * MS, 34 / 200)
    assert [(use.name, use.where, use.calls, use.exposed_ps, use.longest_ps) for use in found.uses] == [
        ("read in.dat", "rank 0", 2, 30 * MS, 30 * MS),
        ("write out.dat", "ranks 0-1", 2, 4 * MS, 2 * MS),
    ]


def test_the_screen_its_section_and_json_have_it(tmp_path: Path) -> None:
    report = reads(tmp_path / "run")
    assert report.files is not None
    said = files_text(report.files)
    assert facts(said) == ["34.0 ms", "17.0 %", "0", "in.dat", "30.0 ms", "1"]
    console = Console(file=io.StringIO(), width=80, color_system=None, highlight=False)
    print_screen(report, console)
    print_sections(report, console, ["files"])
    assert isinstance(console.file, io.StringIO)
    text = " ".join(console.file.getvalue().split())
    assert said in text
    assert "4.00 ms 2.00 ms 2 ranks 0-1 write out.dat" in text
    assert as_json(report)["files"]["uses"][0] == {
        "name": "read in.dat", "where": "rank 0", "calls": 2, "exposed_s": 0.03, "longest_s": 0.03,
    }  # fmt: skip


def test_without_such_calls_nothing_is_said(tmp_path: Path) -> None:
    report = build(Story(2, 100 * MS).write(tmp_path / "run"))
    assert report.files is None
    assert as_json(report)["files"] is None
