"""The glossary has every word of the accounting, and every source that it names."""

from __future__ import annotations

import re

from tests.docs.blocks import ROOT

from logpost.analyzer.report.efficiencies import NAMES
from logpost.analyzer.run.schema import CATEGORIES, PARTS, WAIT_STATES

TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


def test_categories_parts_efficiencies_and_wait_states_are_explained() -> None:
    named = set(re.findall(r"`(\w+)`", TEXT))
    assert {*CATEGORIES, *PARTS} - named == set()
    first = {cell.lower() for cell in re.findall(r"^\| ([^|]+?) \|", TEXT, re.MULTILINE)}
    words = {state.replace("_", " ") for state in WAIT_STATES}
    assert words - first == set()
    efficiencies = {name.replace("_", " ").removesuffix(" efficiency") for name in NAMES}
    assert efficiencies - {word.removesuffix(" efficiency") for word in first} == set()


def test_every_source_is_listed() -> None:
    text, listed = TEXT.split("## Sources")
    cited = {one for several in re.findall(r"\[([A-Z0-9, ]+)\](?!\()", text) for one in several.split(", ")}
    assert cited == set(re.findall(r"^\| ([A-Z0-9]+) \|", listed, re.MULTILINE))


def test_peers_cite_sources_that_are_listed() -> None:
    text, listed = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8").split("## Sources")
    cited = {int(one) for one in re.findall(r"\[(\d)\]", text)}
    assert cited == {int(one) for one in re.findall(r"^(\d)\. ", listed, re.MULTILINE)}
