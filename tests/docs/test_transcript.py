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
        "Text\n\n```console\n$ echo 'a  ' > file\n$ cat file\n```\n\n```sh\nfalse\n```\n\n"
        "```console\n$ logpost --version; wc -l < file\nold output\n```\n\n<!-- timeline a.run -->\n"
    )
    assert transcript.transcribed(page, tmp_path, lambda run: f"[{run.name}]") == (
        "Text\n\n```console\n$ echo 'a  ' > file\n$ cat file\na\n```\n\n```sh\nfalse\n```\n\n"
        "```console\n$ logpost --version; wc -l < file\nlogpost 0.1.0\n1\n```\n\n[a.run]\n"
    )


def test_a_command_that_fails_is_named(transcript: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"echo no; exit 4: ended with exit status 4: no"):
        transcript.transcribed("```console\n$ echo no; exit 4\n```\n", tmp_path, str)
