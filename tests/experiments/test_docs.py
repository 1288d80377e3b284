"""docs/experiments.md is what `logpost experiments run all` writes; the numbers in it are not computed again here."""

from __future__ import annotations

import re
from pathlib import Path

from logpost.experiments.framework.registry import experiments

PAGE = Path(__file__).resolve().parents[2] / "docs" / "experiments.md"


def test_the_page_has_every_experiment_in_its_full_form() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "<!-- Written by `logpost experiments run all`; do not edit. -->" in text
    assert re.findall(r"^## (\S+)$", text, flags=re.MULTILINE) == list(experiments())


def test_the_page_says_of_every_experiment_what_came_out() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "Not run here" not in text
    assert len(
        re.findall(r"^\| \[.+\]\(#.+\) \|.*\| (?:\d+ of \d+(?: \([^|]*\))?|–) \|$", text, flags=re.MULTILINE)
    ) == len(experiments())
