"""The jobs in docs/compare.md: their commands are ones that the command line takes."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.analyzer.two_phases import two_phases
from tests.cli.command import logpost

pytestmark = pytest.mark.slow

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


def test_the_jobs_are_ones_that_the_systems_take() -> None:
    """As YAML: GitLab's job has a script that may end with status 3; GitHub's steps each run or use something."""
    gitlab, github = (
        yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    )
    assert all(isinstance(line, str) for line in gitlab["performance"]["script"])
    assert gitlab["performance"]["allow_failure"] == {"exit_codes": 3}
    steps = github["jobs"]["performance"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    gate = next(step["run"] for step in steps if "compare" in step.get("run", ""))
    # Statuses of the gate's script for those of logpost: inconclusive warns.
    for status, wanted in ((0, 0), (1, 1), (2, 2), (3, 0)):
        script = f"logpost() {{ return {status}; }}\n{gate}"
        done = subprocess.run(["bash", "-e", "-c", script], capture_output=True, text=True, check=False)
        assert done.returncode == wanted
        assert ("::warning::" in done.stdout) == (status == 3)
