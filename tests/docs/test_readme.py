"""The README shows what the report of the tutorial's archive says; manuals stay short, and every verb has its row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.archives import unpacked
from tests.cli.command import logpost
from tests.docs.blocks import ROOT
from tests.docs.stand_ins import EM3D

from logpost.cli.overview import VERBS


def words(text: str) -> list[str]:
    return re.sub(r"[█▊▉▋▌▍▎▏]+", "", text).split()


@pytest.mark.slow
def test_its_report_is_that_of_the_tutorials_archive(tmp_path: Path) -> None:
    archive = unpacked(EM3D / "original.tar.xz", tmp_path)
    done = logpost("analyze", archive, "-o", tmp_path / "original.run")
    assert done.returncode == 0, done.stderr
    said = " ".join(words(logpost("report", tmp_path / "original.run", "--top", "1").stdout))
    shown = re.findall(r"```text\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    lines = [" ".join(words(line)) for block in shown for line in block.splitlines()]
    assert len(lines) == 8
    assert [line for line in lines if line not in said] == []


@pytest.mark.parametrize(
    ("page", "most"),
    [("README.md", 600), ("docs/whatif.md", 3500), ("docs/split.md", 4500), ("CHANGELOG.md", 700)],
    ids=str,
)
def test_manuals_stay_short(page: str, most: int) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= most


def test_every_verb_has_its_row() -> None:
    text = (ROOT / "docs" / "verbs.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == sorted(VERBS)
