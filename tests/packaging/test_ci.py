"""The GitHub Action and the GitLab template: valid by their schemas, and their script run with stand-ins."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.analyzer.two_phases import two_phases

ROOT = Path(__file__).resolve().parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITLAB = ROOT / "packaging" / "ci" / "logpost.gitlab-ci.yml"
JOB: dict[str, Any] = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))[".logpost"]
STEPS = ACTION["runs"]["steps"]
SCRIPT = STEPS[1]["run"]

LOGPOST = """#!/bin/sh
echo "$#: $*" >> calls
case $1 in
record) exit 0;;
analyze) while [ "$1" != -o ]; do shift; done; rm -rf "$2"; cp -r new.run "$2"; exit 0;;
esac
exec {python} -m logpost.cli.app "$@"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout whose `logpost record` and `analyze` leave a prepared run; every other verb is the real one."""
    two_phases(20).write(tmp_path / "new.run")
    for name, text in {
        "logpost": LOGPOST.format(python=sys.executable),
        "gh": '#!/bin/sh\necho "$*" > gh.txt\n',
        "curl": '#!/bin/sh\necho "$*" > curl.txt\n',
    }.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    return tmp_path


def run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The script as a runner starts it: in bash, with the defaults of the template and other variables."""
    defaults = {name: value.replace("$CI_COMMIT_SHA", "0123456789") for name, value in JOB["variables"].items()}
    environment = {
        **os.environ,
        **defaults,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "LOGPOST_PROGRAM": "mpirun -n 2 ./app 'two words'",
        **variables,
    }
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        environment.setdefault(name, "")
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-actions", ROOT / "action.yml"),
        ("vendor.gitlab-ci", GITLAB),
        *(("vendor.github-workflows", path) for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_files_are_valid_by_their_schemas(schema: str, file: Path) -> None:
    words = ["-m", "check_jsonschema", "--builtin-schema", schema, "--data-transform", "gitlab-ci", str(file)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_both_have_one_script_and_each_variable_of_it() -> None:
    assert JOB["script"] == [SCRIPT]
    given = set(STEPS[1]["env"])
    assert given == set(JOB["variables"]) - {"LOGPOST_TOKEN"}
    for value in STEPS[1]["env"].values():
        name = value.removeprefix("${{ inputs.").removesuffix(" }}")
        assert name in ACTION["inputs"] or value == "${{ github.sha }}"


def test_the_jobs_in_the_documentation_give_what_is_taken() -> None:
    text = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    github, gitlab = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL))
    (step,) = (one for one in github["jobs"]["performance"]["steps"] if one["uses"] == "./logpost")
    required = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert required <= set(step["with"]) <= set(ACTION["inputs"])
    assert gitlab["include"]["file"] == str(GITLAB.relative_to(ROOT))
    assert gitlab["performance"]["extends"] == ".logpost"
    assert set(gitlab["performance"]["variables"]) <= set(JOB["variables"])


def test_a_gate_fails_the_job_and_the_comment_has_the_table(folder: Path) -> None:
    # Both sides are without noise: late sender has grown from 0 to 20 ms.
    for name in ("1.run", "2.run"):
        two_phases(0).write(folder / "baseline" / name)
    gates = "wall > +3%\nlate_sender > +3ms\n"
    done = run(SCRIPT, folder, LOGPOST_FAIL_IF=gates, LOGPOST_REPEATS="2", LOGPOST_HISTORY="kept.parquet")
    assert done.returncode == 1, done.stderr
    comment = (folder / "logpost" / "comment.md").read_text()
    assert comment.startswith("### logpost: 01234567\n```text\n")
    assert comment.endswith("\n```\n")
    assert "late_sender > +3ms" in comment
    assert (folder / "logpost" / "comparison.html").exists()
    assert 'aria-label="time lost: 24.0 %"' in (folder / "logpost" / "badge.svg").read_text()
    calls = (folder / "calls").read_text().splitlines()
    assert calls[0] == "9: record -o logpost/traces/1 -- mpirun -n 2 ./app two words"  # two words are one argument


def test_an_inconclusive_gate_is_a_warning(folder: Path) -> None:
    two_phases(30).write(folder / "baseline" / "1.run")
    gate = {"LOGPOST_FAIL_IF": "late_sender > +3ms", "LOGPOST_REPEATS": "1"}
    assert run(SCRIPT, folder, **gate).returncode == 3 == JOB["allow_failure"]["exit_codes"]
    files = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    on_github = run(SCRIPT, folder, **gate, **files)
    assert (on_github.returncode, "::warning::" in on_github.stdout) == (0, True)
    assert (folder / "GITHUB_OUTPUT").read_text() == "status=3\n"
    assert (folder / "GITHUB_STEP_SUMMARY").read_text() == (folder / "logpost" / "comment.md").read_text()


def test_without_a_baseline_there_is_the_report(folder: Path) -> None:
    done = run(SCRIPT, folder, LOGPOST_REPEATS="1", LOGPOST_FAIL_IF="wall > +3%")
    assert done.returncode == 0, done.stderr
    assert "Lost: 24.0 %" in done.stdout
    assert "No runs in baseline: nothing is compared." in done.stdout


def test_comments_are_the_files(folder: Path) -> None:
    (folder / "logpost").mkdir()
    (folder / "logpost" / "comment.md").write_text("text\n")
    assert run(STEPS[2]["run"], folder, PULL_REQUEST="7", GITHUB_REPOSITORY="a/b").returncode == 0
    assert (folder / "gh.txt").read_text().startswith("pr comment 7 --repo a/b --body-file logpost/comment.md")
    of_gitlab = {"CI_API_V4_URL": "https://h/api", "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "8"}
    assert run(JOB["after_script"][0], folder, LOGPOST_TOKEN="t", **of_gitlab).returncode == 0
    assert (
        "body=<logpost/comment.md https://h/api/projects/5/merge_requests/8/notes" in (folder / "curl.txt").read_text()
    )
