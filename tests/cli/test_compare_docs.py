"""The jobs in docs/compare.md: their commands are ones that the command line takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.analyzer.two_phases import two_phases
from tests.cli.command import logpost

DOCS = Path(__file__).parents[2] / "docs" / "compare.md"
COMMANDS = re.findall(r"logpost compare baseline/[^\n|]*?(?= \|\||\n)", DOCS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_documented_job_compares(command: str, tmp_path: Path) -> None:
    for folder in ("baseline", "new"):
        for i in range(2):
            two_phases(10 + i).write(tmp_path / folder / f"{i}.run")
    words = [
        str(path)
        for word in shlex.split(command)[1:]
        for path in (sorted(tmp_path.glob(word)) if "*" in word else [word])
    ]
    done = logpost(*words, cwd=tmp_path)
    # Wall time is 100 ms in every run and passes; 10 and 11 ms against themselves hide 5 %.
    assert done.returncode == 3, done.stderr
    assert "INCONCLUSIVE" in done.stdout
    assert (tmp_path / "comparison.html").is_file()


def test_both_systems_have_a_job() -> None:
    assert len(COMMANDS) == 2
