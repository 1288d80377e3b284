"""docs/where.md: twenty questions, whose places exist and hold what the answer names."""

from __future__ import annotations

import re
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
