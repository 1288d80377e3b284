"""All cures that were replayed at places of a run, also those that save too little to be stated."""

from __future__ import annotations

from dataclasses import dataclass

from logpost.analyzer.findings import find
from logpost.analyzer.findings.cures.offered import TriedCure
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MIN_SHARE
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.schema import TABLES
from logpost.analyzer.words.location_names import named_text

STATED, OTHER = "stated", "another explains this time, or its gain is not sure"
TOO_LITTLE, LOSES = "saves less than 1 %", "the program lasts longer"
"""What became of a cure."""


@dataclass(frozen=True)
class Tried:
    """A cure at a place."""

    kind: str
    place: str
    """the call path that loses time; empty: several"""
    ranks: str
    """at fault"""
    gain: float
    """of the longest program; negative: it lasts so much longer"""
    outcome: str


def tried(run: Run) -> list[Tried]:
    """Every cure that was replayed, the one that saves most first."""
    tables = {name: run.table(name) for name in TABLES if name != "findings"}
    evidence = Evidence(tables, run.manifest, run=run)
    stated = {TriedCure.of(one.replayed) for one in find.stated(evidence, faults=Faults())}
    found = []
    for cure in evidence.tried:
        small = LOSES if cure.gain < 0 else TOO_LITTLE if cure.gain < MIN_SHARE else None
        outcome = STATED if cure in stated else small or OTHER
        ranks = named_text(evidence.named(sorted(cure.at_fault)))
        found.append(Tried(cure.kind, evidence.path(cure.callpath), ranks, cure.gain, outcome))
    return sorted(found, key=lambda one: (-one.gain, one.kind, one.place, one.ranks))
