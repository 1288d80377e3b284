"""Cures together: of those that save the same time, the one that saves most is stated, the others as alternatives.

Cures are taken in the order of what each saves alone. The next one is replayed with those that were taken in place:
where it then saves less than half of what it does alone, most of that time is theirs, and it is an alternative to
the one whose time it saves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from logpost.analyzer.findings.cures.offered import ReplayedCure
from logpost.analyzer.findings.finding import UNEXPLAINED, Finding, Number
from logpost.analyzer.findings.wording.facts import ALTERNATIVE, MAINLY


def without_alternatives(found: Iterable[Finding]) -> list[Finding]:
    """The findings that save further time."""
    kept: list[Finding] = []
    for one in sorted(found, key=lambda one: (one.kind == UNEXPLAINED, -one.gain, one.kind, one.callpath)):
        alone = one.replayed.gain()
        stated = next((i for i, other in enumerate(kept) if _saves_the_same(one.replayed, alone, other)), None)
        if stated is None:
            kept.append(one)
        elif one.kind not in (kept[stated].kind, UNEXPLAINED):
            number = Number(f"{ALTERNATIVE}{one.kind}[{one.region or 'several calls'}]", one.gain, "1")
            kept[stated] = replace(kept[stated], evidence=(*kept[stated].evidence, number))
    return kept


def _saves_the_same(cure: ReplayedCure, alone: float, other: Finding) -> bool:
    """Whether most of what a cure saves, the other one's does."""
    first = other.replayed
    both = first.program.gain(first.proposal.change.then(cure.proposal.change))
    return both - first.gain() < MAINLY * alone
