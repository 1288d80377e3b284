"""The README shows what its commands print, and stays short; manuals too, and every verb has its row and its page."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.blocks import ROOT
from typer.main import get_command

from logpost.cli.app import build
from logpost.cli.overview import VERBS

MORE = "\n## More\n"


def made(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script of the site."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    return importlib.import_module(name)


@pytest.mark.slow
@pytest.mark.parametrize("script", ["readme", "json_reference"])
def test_a_page_with_output_is_what_its_script_makes(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = made(script, monkeypatch)
    shown = page.PAGE.read_text(encoding="utf-8").splitlines()
    assert shown == page.page().splitlines(), f"python docs/site/{script}.py writes it anew"


@pytest.mark.parametrize(
    ("page", "most"),
    [("README.md", 600), ("docs/whatif.md", 3500), ("docs/split.md", 4500), ("CHANGELOG.md", 700)],
    ids=str,
)
def test_manuals_stay_short(page: str, most: int) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= most


def test_the_readme_says_what_it_is_for_before_anything_else() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count(MORE) == 1
    assert len(text.partition(MORE)[0].split()) <= 500
    about = text.split("\n\n")[1]
    assert len(re.findall(r"\.(?:\s|$)", about)) == 2
    assert not re.search(r"Log|LoPC|log3P", about.replace("logpost", ""))
    assert len(re.findall(r"^!\[", text, re.MULTILINE)) == 1


def test_every_verb_has_its_row() -> None:
    text = (ROOT / "docs" / "verbs.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == sorted(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_page_with_all_of_its_options(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = made("verbs", monkeypatch).text_of(verb)
    command = get_command(build(verb)).commands[verb]  # type: ignore[attr-defined]
    for one in getattr(command, "commands", {"": command}).values():
        options = [each for each in one.params if each.param_type_name == "option" and not each.hidden]
        assert [each.opts[0] for each in options if f"{each.opts[0]}" not in text] == []
    assert "```sh\nlogpost " in text


def test_the_tutorial_begins_with_a_packed_recording_that_is_there() -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    first = re.findall(r"^\$ (.*)$", text, re.MULTILINE)[0]
    packed = Path(first.split()[-1])
    assert first == f"tar -xf {packed}"
    assert (ROOT / "docs" / "tutorial" / packed).is_file()
