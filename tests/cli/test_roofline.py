"""`logpost roofline` from outside: text, JSON, a page that is not overwritten."""

from __future__ import annotations

import json
from pathlib import Path

from tests.analyzer.two_phases import two_phases
from tests.cli.command import logpost

from logpost.machines.schema.load import template_text


def test_text_json_and_page(tmp_path: Path) -> None:
    run = two_phases().write(tmp_path / "app.run")
    run.machine_file.write_text(template_text())
    done = logpost("roofline", run.path, "--html", tmp_path / "a.html", COLUMNS="140")
    assert (done.returncode, done.stderr) == (0, "")
    row = next(line for line in done.stdout.splitlines() if line.startswith("main / solve"))
    # 30 ms over 3.7282 us
    assert row.split()[-7:] == ["30.0", "ms", "3.73", "µs", "L", "8,047", "x"]
    assert (tmp_path / "a.html").stat().st_size < 3_000_000
    printed = json.loads(logpost("roofline", run.path, "--json").stdout)
    assert printed["regions"][0]["limit"] == "L"
    again = logpost("roofline", run.path, "--html", tmp_path / "a.html")
    assert again.returncode == 2
    assert "already exists; pass --force to overwrite it" in again.stderr
