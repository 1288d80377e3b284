"""Sentences that a test expects are found where a text is expected, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.packaging.script import loaded

LONG = "rank 1 waits here for the slowest rank of this step"


@pytest.fixture
def lint() -> ModuleType:
    """The script."""
    return loaded("sentences")


def test_words_are_not_names_options_units_or_patterns(lint: ModuleType) -> None:
    assert lint.words(LONG) == 10
    assert lint.words(r"^--set L=5us MPI_Send a.toml o_s \d+ put|get|shared \(x\)") == 0
    assert lint.words("the program's own file") == 4


@pytest.mark.parametrize(
    "test",
    [
        "def test():\n    assert said == TEXT",
        "def test():\n    assert TEXT in said",
        "def test():\n    assert [one, TEXT] == said",
        "def test():\n    assert said.startswith(f'{x}' TEXT)",
        "def test():\n    with raises(E, match=TEXT): f()",
        "def test():\n    said = TEXT\n    assert f() == said",
        "def test():\n    for said in (TEXT, 'b'):\n        assert said in f()",
        "@mark.parametrize(('a', 'said'), [(1, TEXT)])\ndef test(a, said):\n    assert said in f(a)",
        "@mark.parametrize('said', [TEXT])\ndef test(said):\n    with raises(E, match=said): f()",
        "@mark.parametrize(('a', 'said'), [param(1, TEXT)])\ndef test(a, said):\n    assert f(a) == said",
    ],
)
def test_what_is_expected_is_found(lint: ModuleType, test: str) -> None:
    assert [text for _, text in lint.hits(test.replace("TEXT", repr(LONG)))] == [LONG]


@pytest.mark.parametrize(
    "test",
    [
        "def test():\n    assert f(TEXT) == 3",
        "def test():\n    said = TEXT\n    assert f(said) == 3",
        "@mark.parametrize(('said', 'a'), [(TEXT, 1)])\ndef test(said, a):\n    assert f(said) == a",
        "def test():\n    assert f(), TEXT",
    ],
)
def test_inputs_and_comments_are_not(lint: ModuleType, test: str) -> None:
    assert lint.hits(test.replace("TEXT", repr(LONG))) == []


def test_each_is_an_error_with_its_place(lint: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(f"def test():\n    assert said == {LONG!r}\n")
    assert lint.main(tmp_path) == 1
    assert capsys.readouterr().out.startswith(f"tests/test_a.py:2: {LONG!r} ")
    (tmp_path / "tests" / "test_a.py").write_text("def test():\n    assert facts(said) == ['1']\n")
    assert lint.main(tmp_path) == 0
