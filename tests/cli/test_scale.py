"""`logpost scale` from outside: text, JSON, a page that is not overwritten, one line where the runs do not suffice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.analyzer.chains import chain
from tests.cli.command import logpost
from tests.said import facts

pytestmark = pytest.mark.slow


def test_text_json_and_page(tmp_path: Path) -> None:
    runs = [chain(ranks, tmp_path / f"{ranks}.run").path for ranks in (8, 16)]
    done = logpost("scale", *runs, "--to", "64", "--html", tmp_path / "a.html", COLUMNS="120")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert facts(lines[0]) == ["64", "181 µs", "181-181 µs", "late sender", "96.9 %"]
    assert next(line for line in lines if line.startswith("late sender")).endswith("1.00 x replay")
    assert (tmp_path / "a.html").stat().st_size < 3_000_000
    printed = json.loads(logpost("scale", *runs, "--to", "64", "--json").stdout)
    assert printed["categories"][0]["category"] == "late_sender"
    again = logpost("scale", *runs, "--to", "64", "--html", tmp_path / "a.html")
    assert again.returncode == 2
    assert "already exists; pass --force to overwrite it" in again.stderr
    refused = logpost("scale", runs[0], "--to", "64")
    assert (refused.returncode, refused.stdout, len(refused.stderr.splitlines())) == (2, "", 1)
