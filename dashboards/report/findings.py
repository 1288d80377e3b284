"""Findings for a page: text, and the size as a bar, sorted by the number shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from logpost.analyzer.findings.wording.numbers import gain_text
from logpost.analyzer.report.data import PlacedFinding
from logpost.dashboards.figures.labels import tied


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
                   (sites or {}).get(number, ""))
        for number, one in ordered
    ]  # fmt: skip


def size_of(found: PlacedFinding) -> float:
    """What fixing a finding can gain at most."""
    return found.gain


def said(found: PlacedFinding) -> str:
    """The number with what it means."""
    return tied(gain_text(found.gain, found.gain_low, found.gain_high))
