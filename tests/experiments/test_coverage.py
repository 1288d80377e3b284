"""Every figure and table of the papers has a row, and each says what repeats it or what that would need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from logpost.experiments.framework import registry
from logpost.experiments.framework.experiment import PAPERS
from logpost.experiments.framework.markdown import markdown
from logpost.experiments.framework.runner import Outcome
from logpost.replay.models.papers import PAPERS as NUMBERS
from logpost.replay.models.papers.items import DESCRIBES, FORMULAS, HERE, ITEMS, items_table

# Figures and tables of each paper, counted in its text.
PRINTED = {"LOGPC": (11, 4), "SENS": (10, 1), "LOG3P": (13, 1), "OVL": (12, 2), "LOGP": (13, 4)}


def test_every_paper_has_its_items() -> None:
    assert list(ITEMS) == list(PAPERS)


@pytest.mark.parametrize("paper", PRINTED)
def test_every_figure_and_table_has_one_row(paper: str) -> None:
    figures, tables = PRINTED[paper]
    numbered = [item.where for item in ITEMS[paper] if re.match("Fig|Table", item.where)]
    assert numbered == [*(f"Fig. {i + 1}" for i in range(figures)), *(f"Table {i + 1}" for i in range(tables))]
    assert len(ITEMS[paper]) > len(numbered), "a headline has a row, too"


def test_a_row_names_an_experiment_or_what_is_missing() -> None:
    known = {*registry.experiments(), HERE, FORMULAS}
    every = [item for items in ITEMS.values() for item in items]
    assert [item for item in every if not item.by and not item.needs] == []
    assert {name for item in every for name in item.by} - known == set()


def places(where: str) -> set[str]:
    """Figures, tables and sections: `3.4 (14)` is in 3.4."""
    return {part.split(" (")[0].strip() for part in where.split(",")}


@pytest.mark.parametrize("paper", PRINTED)
def test_the_numbers_of_an_item_are_rows_of_its_paper(paper: str) -> None:
    [rows] = [[claim.where for claim in one.claims] for one in NUMBERS if one.key == paper]
    numbers = {place for where in rows for place in places(where)}
    shown = {place for item in ITEMS[paper] for place in places(item.where)}
    assert [item.where for item in ITEMS[paper] if FORMULAS in item.by and not places(item.where) & numbers] == []
    assert [where for where in rows if not places(where) & shown] == []


def test_both_pages_show_the_items() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "papers.md").read_text(encoding="utf-8")
    assert [paper for paper in ITEMS if "\n".join(items_table(paper)) not in page] == []


def test_every_experiment_repeats_something_of_its_paper() -> None:
    for one in registry.experiments().values():
        assert any(one.name in item.by for item in ITEMS[one.paper]), one.name


def test_the_page_has_the_rows_of_the_papers_that_it_is_about() -> None:
    one = registry.experiments()["latency-sweep"]
    page = markdown([Outcome(one, 0.0, reason="not now")], "a command", [])
    assert "by the node's clock | latency-sweep |" in page
    assert f"| Fig. 3 | the Alewife | {DESCRIBES} |" in page
    assert "Diamond" not in page
