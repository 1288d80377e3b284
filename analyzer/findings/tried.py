"""All cures that were replayed at places of a run, also those that save too little to be stated."""

from __future__ import annotations

from dataclasses import dataclass

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.find import findings_of
from logpost.analyzer.findings.finding import MIN_SHARE
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.faults import Faults
from logpost.analyzer.run.schema import TABLES
from logpost.analyzer.words.location_names import named_text

STATED, OTHER, TOO_LITTLE = "stated", "another explains this time, or it is noise", "saves less than 1 %"
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
    """of the longest program"""
    outcome: str


def tried(run: Run) -> list[Tried]:
    """Every cure that was replayed, the one that saves most first."""
    tables = {name: run.table(name) for name in TABLES if name != "findings"}
    evidence = Evidence(tables, run.manifest, run=run)
    stated = [id(one.replayed) for one in findings_of(evidence, faults=Faults())]
    found = []
    for cure in evidence.tried:
        proposal, gain = cure.proposal, cure.gain()
        outcome = STATED if id(cure) in stated else OTHER if gain >= MIN_SHARE else TOO_LITTLE
        ranks = named_text(evidence.named(sorted(proposal.at_fault)))
        found.append(Tried(proposal.kind, evidence.path(proposal.callpath), ranks, gain, outcome))
    return sorted(found, key=lambda one: (-one.gain, one.kind, one.place, one.ranks))
