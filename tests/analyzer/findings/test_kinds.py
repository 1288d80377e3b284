"""A cure names the kinds of its findings, by which the catalogue of the documentation lists it."""

from __future__ import annotations

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.find import FINDERS, kinds_of
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import FINDING_KINDS, TABLES

MANY = 5
"""Runs, those with the most findings."""


def test_every_kind_is_of_a_cure_and_no_other_is() -> None:
    assert {kind for find in FINDERS for kind in kinds_of(find)} == set(FINDING_KINDS)


def test_no_cure_reports_a_kind_that_it_does_not_name(runs: dict[str, Run]) -> None:
    some = sorted(runs.values(), key=lambda run: run.table("findings").collect().height)[-MANY:]
    seen = 0
    for run in some:
        evidence = Evidence({name: run.table(name) for name in TABLES if name != "findings"}, run.manifest, run=run)
        for find in FINDERS:
            found = {finding.kind for finding in find(evidence)}
            assert found <= set(kinds_of(find))
            seen += len(found)
    assert seen > MANY
