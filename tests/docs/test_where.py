"""docs/where.md: twenty questions, whose places exist and hold what the answer names; CONTRIBUTING's paths exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "where.md"
SOURCES = {".py", ".cpp", ".hpp", ".c", ".h", ".toml", ".txt"}


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def test_there_are_twenty_questions() -> None:
    questions = [question for question, _, _ in rows()]
    assert len(set(questions)) == len(questions) == 20
    assert all(question.endswith("?") for question in questions)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_the_place_exists_and_holds_what_the_answer_names(row: list[str]) -> None:
    _, place, why = row
    (path,) = re.findall(r"`([^`]+)`", place)
    found = ROOT / path
    assert found.is_dir() if path.endswith("/") else found.is_file()
    assert why.count(".") == 1, "one sentence"
    files = [found] if found.is_file() else [file for file in found.rglob("*") if file.suffix in SOURCES]
    text = "\n".join(file.name + "\n" + file.read_text() for file in files)
    names = re.findall(r"`([^`]+)`", why)
    assert names
    assert [name for name in names if name not in text] == []


def test_paths_of_contributing_exist() -> None:
    """A path is from the root or the end of one; a file's name alone is that of a file anywhere."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    known = {"/" + file for file in listed}
    known |= {f"{parent}/" for file in known for parent in Path(file).parents}
    named = re.findall(
        r"`((?:[\w.-]+/)+[\w.-]*|[\w.-]+\.(?:py|cpp|hpp|c|toml|md|txt))`", (ROOT / "CONTRIBUTING.md").read_text()
    )
    paths = [path for path in named if "NAME" not in path and not path.startswith("build/")]
    assert len(paths) > 50
    assert [
        path for path in paths if not any(file.rstrip("/").endswith(f"/{path.rstrip('/')}") for file in known)
    ] == []
