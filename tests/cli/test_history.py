"""`logpost history` from outside: runs are appended, and shown as text, JSON and a page."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from tests.analyzer.two_phases import two_phases
from tests.cli.command import logpost


def test_runs_are_appended_and_shown(tmp_path: Path) -> None:
    run = two_phases().write(tmp_path / "app.run")
    kept = tmp_path / "app.parquet"
    for label in ("before", "after"):
        done = logpost("history", "add", kept, run.path, "--label", label)
        assert (done.returncode, done.stderr) == (0, "")
    files = ("--html", tmp_path / "a.html", "--badge", tmp_path / "a.svg")
    shown = logpost("history", "show", kept, *files, COLUMNS="160")
    assert (shown.returncode, shown.stderr) == (0, "")
    first, second = (line.split() for line in shown.stdout.splitlines()[1:3])
    assert (first[0], second[0]) == ("before", "after")
    assert ("+0.0" in second, "+0.0" in first) == (True, False)
    report = json.loads(logpost("report", run.path, "--json").stdout)
    runs = json.loads(logpost("history", "show", kept, "--last", "1", "--json").stdout)["runs"]
    assert [one["label"] for one in runs] == ["after"]
    assert runs[0]["lost"] == pytest.approx(report["coverage"]["share"])
    known = {name: time for name, time in report["breakdown_s"].items() if time is not None}
    assert runs[0]["exposed_s"] == known
    assert (tmp_path / "a.html").stat().st_size < 3_000_000
    badge = ElementTree.parse(tmp_path / "a.svg").getroot()
    # 48 of 200 ms are no computation.
    assert badge.get("aria-label") == "time lost: 24.0 %"
    assert logpost("history", "show", kept, "--badge", tmp_path / "a.svg").returncode == 2


def test_what_is_no_history_is_refused_and_kept(tmp_path: Path) -> None:
    run = two_phases().write(tmp_path / "app.run")
    other = tmp_path / "other.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(other)
    text = tmp_path / "text.parquet"
    text.write_text("a")
    for path in (other, text):
        before = path.read_bytes()
        done = logpost("history", "add", path, run.path)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert path.read_bytes() == before
    missing = logpost("history", "show", tmp_path / "none.parquet")
    assert (missing.returncode, len(missing.stderr.splitlines())) == (2, 1)
    nowhere = logpost("history", "add", tmp_path / "no" / "a.parquet", run.path)
    assert (nowhere.returncode, len(nowhere.stderr.splitlines())) == (2, 1)
