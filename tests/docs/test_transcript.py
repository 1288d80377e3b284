"""Commands of a page run when the site is made, and their output follows them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from logpost.errors import InputError

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"


@pytest.fixture
def transcript(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SITE))
    monkeypatch.delitem(sys.modules, "transcript", raising=False)
    return importlib.import_module("transcript")


def test_commands_run_in_order_in_one_folder(transcript: ModuleType, tmp_path: Path) -> None:
    page = (
        "```console\n$ echo 'a  ' > file\n$ cat file\n```\n\n```sh\nfalse\n```\n\n"
        "```console\n$ logpost --version; wc -l < file\nold output\n```\n\n<!-- timeline a.run -->\n"
    )
    expected = page
    for old, new in (
        ("$ cat file\n", "$ cat file\na\n"),
        ("old output\n", "logpost 0.1.0\n1\n"),
        ("<!-- timeline a.run -->", "[a.run]"),
    ):
        expected = expected.replace(old, new)
    assert transcript.transcribed(page, tmp_path, lambda run: f"[{run.name}]") == expected


def test_a_command_that_fails_is_named(transcript: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"echo no; exit 4: .* exit status 4: no"):
        transcript.transcribed("```console\n$ echo no; exit 4\n```\n", tmp_path, str)
