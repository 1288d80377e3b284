"""The container files: read as their builders read them, since no builder runs here, and compared with each other."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OCI = ROOT / "packaging" / "containers" / "Containerfile"
APPTAINER = ROOT / "packaging" / "containers" / "logpost.def"
INSTRUCTIONS = {"FROM", "RUN", "COPY", "WORKDIR", "ENV", "ENTRYPOINT"}
SECTIONS = {"files", "files from build", "post", "environment", "runscript", "test"}


def instructions() -> list[tuple[str, str]]:
    """Each instruction and its words, with lines that a backslash joins."""
    text = "\n".join(line for line in OCI.read_text().splitlines() if not line.startswith("#"))
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines if line]


def sections() -> list[list[tuple[str, str]]]:
    """For each stage its sections with their text; what precedes them is the header."""
    stages = re.split(r"(?m)^(?=Bootstrap: )", APPTAINER.read_text())[1:]
    return [re.findall(r"(?ms)^%([^\n]+)\n(.*?)(?=^%|\Z)", stage) for stage in stages]


def installed(text: str) -> set[str]:
    """The packages that an apt-get line installs."""
    return {name for words in re.findall(r"--no-install-recommends ([\w .+-]+)", text) for name in words.split()}


def test_the_containerfile_has_what_a_builder_knows() -> None:
    assert {name for name, _ in instructions()} <= INSTRUCTIONS
    bases = [words for name, words in instructions() if name == "FROM"]
    assert bases == ["debian:bookworm-slim AS build", "debian:bookworm-slim"]
    for name, words in instructions():
        if name == "ENTRYPOINT":
            assert json.loads(words) == ["logpost"]
        if name == "RUN" and "apt-get" in words:
            assert words.startswith("apt-get update &&")
            assert words.endswith("rm -rf /var/lib/apt/lists/*")
        if name == "COPY" and not words.startswith("--from"):
            assert (ROOT / words.split()[0]).exists()
    assert [words for name, words in instructions() if name == "RUN"][1] == "make wheel"
    assert re.search(r"^wheel:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_both_install_the_same() -> None:
    build, final = sections()
    assert {name for stage in (build, final) for name, _ in stage} == SECTIONS
    posts = [dict(stage)["post"] for stage in (build, final)]
    runs = [words for name, words in instructions() if name == "RUN" and "apt-get" in words]
    assert [installed(post) for post in posts] == [installed(run) for run in runs]
    environment = dict(instructions())["ENV"]
    assert f"export {environment}" in dict(final)["environment"]


@pytest.mark.parametrize("shell", ["sh", "dash"])
def test_what_they_run_is_shell(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    scripts = [words for name, words in instructions() if name == "RUN"]
    scripts += [text for stage in sections() for name, text in stage if not name.startswith("files")]
    for script in scripts:
        done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
