"""Words that the project does not use are found in names, comments and text."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from tests.packaging.script import loaded

LISTED = "# a comment\n\\b(?:told|tells)\\b => shows\n\\bin turn\\b => one after another\n\\bMade\\b => FigureCache\n"


@pytest.fixture
def lint() -> ModuleType:
    """The script."""
    return loaded("words")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with three patterns and a file that has four of their words."""
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging" / "words.txt").write_text(LISTED)
    (tmp_path / "a.py").write_text("def told_by(x): ...\n# It tells ranks in\n# turn.\nclass Made: ...\nmade = 1\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "a.py"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("forbidden", "ordinary"),
    [
        ("the trace tells it", "handle.tell()"),
        ("def told_by():", "untold, hotel"),
        ("it stands in the list", "a row stands for ten; stand-ins; stand_ins"),
        ("rank 1, who waits", "for people who profile"),
        ("a message comes", "the name comes from OTF2"),
        ("the rest goes on", "go to the folder"),
        ("it takes 3 ms", "the option takes 3 values"),
        ("what a message takes", "what takes an argument"),
        ("it takes twice as long", "takes two arguments"),
        ("a page lies in memory", "the truth lies within the interval, between both"),
        ("beside it", "besides"),
        ("the graph asks it", "a user asks it"),
        ("another course", "of course; in the course of a run"),
        ("a message under way", "the way out"),
        ("it meets nothing", "it meets the bar"),
        ("the root is late", "late_sender; a late sender"),
        ("self.made = Made()", "Made by hand"),
        ("at_once = 3", "all at once; each_at_once"),
    ],
)
def test_a_word_is_distinguished_from_its_ordinary_use(lint: ModuleType, forbidden: str, ordinary: str) -> None:
    listed = lint.words(lint.ROOT)
    assert len(lint.hits(forbidden, listed)) == 1
    assert lint.hits(ordinary, listed) == []


def test_words_of_names_and_across_lines_of_a_comment_are_found(lint: ModuleType, tree: Path) -> None:
    text = (tree / "a.py").read_text()
    assert [(hit.line, hit.text) for hit in lint.hits(text, lint.words(tree))] == [
        (1, "told"),
        (2, "tells"),
        (2, "in # turn"),
        (4, "Made"),
    ]


def test_each_word_is_an_error_with_its_replacement(
    lint: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint.main(tree) == 1
    assert capsys.readouterr().out.splitlines() == [
        "a.py:1: 'told'; rather: shows",
        "a.py:2: 'tells'; rather: shows",
        "a.py:2: 'in # turn'; rather: one after another",
        "a.py:4: 'Made'; rather: FigureCache",
    ]
    subprocess.run(["git", "mv", "a.py", "told.py"], cwd=tree, check=True)
    (tree / "told.py").write_text("made = 1\n")
    assert lint.main(tree) == 1
    assert capsys.readouterr().out == "told.py:1: 'told'; rather: shows\n"
    subprocess.run(["git", "mv", "told.py", "a.py"], cwd=tree, check=True)
    assert lint.main(tree) == 0


def test_a_pattern_without_a_replacement_is_named(lint: ModuleType, tree: Path) -> None:
    (tree / "packaging" / "words.txt").write_text("\\btold\\b\n")
    with pytest.raises(ValueError, match=r"words\.txt:1: has no replacement"):
        lint.words(tree)
