"""Other gaps for regions that ranks share unequally, of many locations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.shared_work import shared_gaps


def _graph(gaps: list[int]) -> Graph:
    """A location each with two calls of one place; its code takes this long before each."""
    count = 2 * len(gaps)
    location = np.repeat(np.arange(len(gaps), dtype=np.int32), 2)
    first = np.arange(count) % 2 == 0
    return cast(
        Graph,
        SimpleNamespace(
            location=location,
            callpath=np.zeros(count, dtype=np.int32),
            gap_ps=np.repeat(np.array(gaps, dtype=np.int64), 2),
            following=np.where(first, np.arange(count) + 1, -1),
            follows=~first,
            count=count,
            calls_of=lambda one: slice(2 * one, 2 * one + 2),
        ),
    )


def test_every_location_gets_what_is_wanted() -> None:
    """The half of 10,000 locations that works 30 each before two calls, the other half 10: 20 each are wanted.

    Adding up all locations anew for each of them would take 10^8 steps.
    """
    half = 5_000
    graph = _graph([30] * half + [10] * half)
    times = {location: 60.0 if location < half else 20.0 for location in range(2 * half)}
    gaps = shared_gaps(graph, times, dict.fromkeys(times, 40.0))
    assert (gaps == 20).all()
