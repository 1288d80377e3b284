"""Findings for a page: text, and the size as a bar, sorted by the number shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logpost.analyzer.findings.wording.numbers import gain_text
from logpost.analyzer.report.data import PlacedFinding
from logpost.analyzer.words.units import percent_text
from logpost.dashboards.figures.labels import tied


@dataclass(frozen=True)
class CureRow:
    """One of several cures of the same time."""

    cure: str
    saves: str
    """`21.0 %`."""
    bar: float
    """Length of its bar: what it saves over what the first one saves; 0 to 1."""


@dataclass(frozen=True)
class FindingRow:
    """One finding, ready to be placed."""

    found: PlacedFinding
    size: float
    """The number that the page shows and sorts by; a fraction of 1."""
    bar: float
    """Length of its bar: `size` over the largest of the list; 0 to 1."""
    said: str
    """The number with what it means."""
    site: str
    """Call site as file:line; empty where unknown."""
    cures: tuple[CureRow, ...] = ()
    """Its cure, and those that save most of the same time; none where there is no other."""


def finding_rows(
    found: Sequence[PlacedFinding], sites: Mapping[int, str] | None = None, largest: float | None = None
) -> list[FindingRow]:
    """Findings in descending order of the number they show.

    Args:
        found: in the order of the run's table.
        sites: number of a finding in that table to its call site.
        largest: what a full bar stands for; the largest of the list without it.
    """
    ordered = sorted(enumerate(found), key=lambda one: (-size_of(one[1]), one[0]))
    full = largest if largest is not None else max((size_of(one) for one in found), default=0.0)
    return [
        FindingRow(one, size_of(one), min(1.0, size_of(one) / full) if full > 0 else 0.0, said(one),
                   (sites or {}).get(number, ""), cure_rows(one))
        for number, one in ordered
    ]  # fmt: skip


def cure_rows(found: PlacedFinding) -> tuple[CureRow, ...]:
    """What a finding's cure and each alternative saves; nothing without alternatives."""
    if not found.alternatives:
        return ()
    each = ((found.cure, found.gain), *((one.cure, one.gain) for one in found.alternatives))
    return tuple(
        CureRow(cure, percent_text(gain), min(1.0, gain / found.gain) if found.gain > 0 else 0.0) for cure, gain in each
    )


def size_of(found: PlacedFinding) -> float:
    """What its cure saves."""
    return found.gain


def said(found: PlacedFinding) -> str:
    """The number with what it means."""
    return tied(gain_text(found.gain, found.gain_low, found.gain_high))
