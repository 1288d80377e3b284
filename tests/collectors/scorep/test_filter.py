"""`logpost scorep filter`: what it proposes for a recording, used for the next one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import logpost
from tests.collectors.scorep.standing_in import record
from tests.said import facts

pytestmark = pytest.mark.slow


def test_the_next_recording_is_smaller_by_what_was_said(app: Path, tmp_path: Path) -> None:
    # 20,000 visits of tiny, 24 bytes each: 480,000 bytes go.
    assert record(tmp_path, "-o", "before", "--", app, 20_000).returncode == 0
    done = logpost("scorep", "filter", "before", "-o", "app.filter", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(f["name"], f["visits"], f["bytes"]) for f in found["functions"]] == [("tiny", 20_000, 480_000)]
    assert found["filter"] == (tmp_path / "app.filter").read_text()
    again = record(tmp_path, "-o", "after", "--filter", "app.filter", "--", app, 20_000)
    assert again.returncode == 0, again.stderr
    before, after = (next((tmp_path / name).glob("*/traces/0.evt")).stat().st_size for name in ("before", "after"))
    # Time stamps of one tick are written once: the stand-in's clock may show a few.
    assert before - after == pytest.approx(found["saved_bytes"], rel=0.02)


def test_a_run_gives_the_same_file_and_the_summary_names_the_next_command(app: Path, tmp_path: Path) -> None:
    assert record(tmp_path, "-o", "t", "--", app, 20_000).returncode == 0
    (archive,) = (tmp_path / "t").iterdir()
    assert logpost("analyze", archive, "-o", "app.run", cwd=tmp_path).returncode == 0
    done = logpost("scorep", "filter", "app.run", "-o", "app.filter", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    said = done.stderr.splitlines()
    assert facts(said[0])[:3] == ["1", "3", "480000"]
    assert said[-1].endswith("record --with scorep --filter app.filter --memory 3M -- ...")
    printed = logpost("scorep", "filter", "app.run", cwd=tmp_path)
    assert printed.stdout == (tmp_path / "app.filter").read_text()
    none = logpost("scorep", "filter", "app.run", "--visits", 20_001, cwd=tmp_path)
    assert "none of 3 functions " in none.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["none"], "none does not exist; give a run, "),
        ([".", "--time-per-visit", "10%"], "--time-per-visit 10% is no time; write it with"),
        ([".", "-o", "there"], "there already exists; pass --force to overwrite it"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, words: list[str], complaint: str) -> None:
    (tmp_path / "there").write_text("")
    done = logpost("scorep", "filter", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr


def test_an_archive_without_user_functions_is_refused(traces: Path, tmp_path: Path) -> None:
    done = logpost("scorep", "filter", traces / "scorep-lulesh-nocomp-8", cwd=tmp_path)
    assert done.returncode == 2
    assert ": the program was not instrumented" in done.stderr
