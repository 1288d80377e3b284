"""Roles: ranks that make the same calls do the same work, and only their times can be compared as shares of it."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MIN_SAMPLES


def roles_of(evidence: Evidence) -> dict[int, int]:
    """Location to the number of its role: the set of places at which it calls communication at least `MIN_SAMPLES`
    times."""
    rows = (
        evidence.exposure.group_by("location", "callpath")  # calls without time included
        .agg(pl.col("calls").max())
        .filter(pl.col("calls") >= MIN_SAMPLES)
    )
    places: dict[int, set[int]] = {int(location): set() for location in evidence.locations["location"]}
    for location, callpath, _ in rows.iter_rows():
        if location in places and evidence.moves_data[callpath]:
            places[location].add(callpath)
    numbers: dict[frozenset[int], int] = {}
    return {location: numbers.setdefault(frozenset(calls), len(numbers)) for location, calls in sorted(places.items())}
