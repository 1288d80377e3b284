"""Source lines of a call site: shown where the file is at hand; a hostile path shows nothing."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from tests.dashboards.synthetic import make_run

from logpost.dashboards.app.call_site import call_site
from logpost.dashboards.app.runs import Runs
from logpost.dashboards.app.state import State
from logpost.dashboards.app.view import View
from logpost.dashboards.report.source import LARGEST, LONGEST, source_lines


def written(path: Path, text: str = "one\ntwo\nthree\nfour\nfive\n") -> str:
    path.write_text(text)
    return str(path)


def test_the_lines_around_the_call(tmp_path: Path) -> None:
    file = written(tmp_path / "a.c")
    made = source_lines(file, 3, around=1)
    assert (made.first, made.lines, made.why_not) == (2, ("two", "three", "four"), "")
    # Line 1 has none before it.
    assert source_lines(file, 1, around=1).lines == ("one", "two")


def test_a_file_newer_than_the_run_says_so(tmp_path: Path) -> None:
    file = written(tmp_path / "a.c")
    os.utime(file, (1_000, 1_000))
    assert not source_lines(file, 1, run_made=1_000.0).changed
    assert source_lines(file, 1, run_made=999.0).changed


def test_control_characters_and_long_lines_cannot_hide_anything(tmp_path: Path) -> None:
    file = written(tmp_path / "a.c", "a\x1b[2Jb\u202e\n" + "x" * 10_000 + "\n")
    made = source_lines(file, 1)
    assert "\x1b" not in made.lines[0]
    assert "\u202e" not in made.lines[0]
    assert len(made.lines[1]) == LONGEST


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("em3d.c", "without its directory"),
        ("/etc/passwd", "not that of a source file"),
        ("/proc/self/environ", "not that of a source file"),
        ("/dev/zero.c", "not that of a source file"),
        ("/nowhere/at/all.c", "not on this machine"),
        ("/tmp/a\0.c", "not on this machine"),
    ],
)
def test_what_is_not_read(file: str, said: str) -> None:
    assert said in source_lines(file, 1).why_not


def test_neither_links_nor_pipes_nor_directories_nor_large_files_are_read(tmp_path: Path) -> None:
    written(tmp_path / "id_rsa")
    (tmp_path / "link.c").symlink_to(tmp_path / "id_rsa")
    assert "not that of a source file" in source_lines(str(tmp_path / "link.c"), 1).why_not
    os.mkfifo(tmp_path / "pipe.c")
    (tmp_path / "directory.c").mkdir()
    with (tmp_path / "large.c").open("wb") as stream:
        stream.truncate(LARGEST + 1)
    for name in ("pipe.c", "directory.c", "large.c"):
        assert "no regular file of at most 4 MB" in source_lines(str(tmp_path / name), 1).why_not


def test_a_line_beyond_the_end_is_another_file(tmp_path: Path) -> None:
    assert "has no line 6: it is not" in source_lines(written(tmp_path / "a.c"), 6).why_not


def test_the_page_shows_text_and_marks_the_line(tmp_path: Path) -> None:
    file = written(tmp_path / "a.c", "int a;\n<script>alert(1)</script>\n")
    run = make_run(tmp_path / "a.run")
    paths = run.table("callpaths").collect()
    named = pl.Series("file", [file, *[""] * (paths.height - 1)])
    first = paths["callpath"][0]
    paths.with_columns(named, line=pl.lit(2, pl.Int32)).write_parquet(run.path / "callpaths.parquet")
    view = View(Runs([run.path]), State())
    shown = call_site(view, first)
    assert shown is not None
    source = shown.children[1]
    assert source.children[0] == "     1  int a;\n"
    # A child of an element is text to React; only dangerously-set markup would run.
    assert source.children[1].children == "     2  <script>alert(1)</script>\n"
    assert call_site(view, paths["callpath"][1]) is None
    assert call_site(view, None) is None
