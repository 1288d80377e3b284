"""The manual pages follow the command line: every verb has one, with every option and example."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from tests.packaging.script import loaded

from logpost.cli.app import build
from logpost.cli.overview import VERBS

MACROS = {"TH", "SH", "PP", "TP", "B", "I", "BR", "nf", "fi"}


@pytest.fixture(scope="module")
def manpages() -> ModuleType:
    return loaded("manpages")


@pytest.fixture(scope="module")
def pages(manpages: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man")
    manpages.write(folder)
    return folder


def read(text: str) -> str:
    """What a reader sees of a page's text."""
    return text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def options(command: Any) -> set[str]:
    inner = getattr(command, "commands", {}).values()
    own = {one for parameter in command.params for one in parameter.opts if one.startswith("-")}
    return own.union(*map(options, inner)) if inner else own


def test_every_verb_has_a_page_with_its_options_and_an_example(pages: Path) -> None:
    assert {page.name for page in pages.iterdir()} == {"logpost.1", *(f"logpost-{verb}.1" for verb in VERBS)}
    for verb in VERBS:
        text = read((pages / f"logpost-{verb}.1").read_text(encoding="utf-8"))
        command: Any = typer.main.get_command(build(verb)).commands[verb]  # type: ignore[attr-defined]
        listed = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text))
        assert options(command) - listed <= {"--help", "--show-completion", "--install-completion"}, verb
        assert f"\n.nf\nlogpost {verb}" in text, verb
        assert "`" not in text, verb


def test_the_pages_are_macros_and_text_alone(pages: Path) -> None:
    for page in pages.iterdir():
        lines = page.read_text(encoding="utf-8").splitlines()
        assert {line.split()[0][1:] for line in lines if line.startswith((".", "'"))} <= MACROS, page.name
        assert all(lines), page.name


def test_text_that_would_be_a_macro_is_escaped(manpages: ModuleType) -> None:
    assert manpages._escaped(".otf2 a-b\\c") == "\\&.otf2 a\\-b\\ec"
    assert manpages._escaped("'x'") == "\\&'x'"


def test_mandoc_has_no_complaint(pages: Path) -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", *sorted(pages.iterdir())], capture_output=True, text=True
    )
    # The pages have no date, so that the same version makes the same bytes.
    assert [line for line in done.stdout.splitlines() + done.stderr.splitlines() if "missing date" not in line] == []
