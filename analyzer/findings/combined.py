"""Cures together: of those that save the same time, one is stated, the others as alternatives.

Cures are taken in the order of what each saves alone, those that are more likely right than not before all others. The
next one is replayed with those that were taken in place: where it then saves less than half of what it does alone, most
of that time is theirs, and it is an alternative to the one whose time it saves.

Where both save as much, but for noise, the one that leaves all code where it is is stated: if the same time is saved
while each rank does its work where and when it does now, the division of work is not the cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from logpost.analyzer.findings.cures.offered import ReplayedCure
from logpost.analyzer.findings.finding import NOISE, UNEXPLAINED, Finding, Number
from logpost.analyzer.findings.wording.facts import ALTERNATIVE, MAINLY


def without_alternatives(found: Iterable[Finding]) -> list[Finding]:
    """The findings that save further time."""
    kept: list[Finding] = []
    for one in sorted(found, key=_order):
        alone = one.replayed.gain()
        stated = next((i for i, other in enumerate(kept) if _saves_the_same(one.replayed, alone, other)), None)
        if stated is None:
            kept.append(one)
            continue
        other = kept[stated]
        if _moves_less(one, other):
            others = tuple(number for number in other.evidence if number.name.startswith(ALTERNATIVE))
            kept[stated] = _with_alternative(replace(one, evidence=(*one.evidence, *others)), other)
        else:
            kept[stated] = _with_alternative(other, one)
    return kept


def _with_alternative(stated: Finding, other: Finding) -> Finding:
    if other.kind in (stated.kind, UNEXPLAINED):
        return stated
    number = Number(f"{ALTERNATIVE}{other.kind}[{other.region or 'several calls'}]", other.gain, "1")
    return replace(stated, evidence=(*stated.evidence, number))


def _order(one: Finding) -> tuple[bool, bool, float, str, int]:
    return one.kind == UNEXPLAINED, one.confidence <= MAINLY, -one.gain, one.kind, one.callpath


def _moves_less(one: Finding, other: Finding) -> bool:
    """Whether it saves as much, but for noise, is more likely right than not, and only the other one moves code."""
    as_much = one.gain > (1 - NOISE) * other.gain and one.confidence > MAINLY
    return as_much and other.replayed.proposal.change.moves_code and not one.replayed.proposal.change.moves_code


def _saves_the_same(cure: ReplayedCure, alone: float, other: Finding) -> bool:
    """Whether most of what a cure saves, the other one's does."""
    first = other.replayed
    both = first.program.gain(first.proposal.change.then(cure.proposal.change))
    return both - first.gain() < MAINLY * alone
