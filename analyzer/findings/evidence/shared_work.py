"""Code as long on each rank as is wanted of it: what every gap between two calls then takes.

A region's time is known by rank, not by call. What a rank spends in it beyond what is wanted is taken from the gaps in
which its code takes longer than that of the others that have such gaps, in proportion to how much; what it spends less
is added where it is shorter. Gaps are told apart by the calls around them; on a rank whose calls follow each other in
another order than on the others, so that this explains less than half, by the call behind them; and all of its gaps
are meant where that does not either.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.replay.columns import Int64

Floats = npt.NDArray[np.float64]
EXPLAINS = 0.5
"""Part of what a rank has more or less than is wanted."""


def shared_gaps(graph: Graph, times: Mapping[int, float], wanted: Mapping[int, float]) -> Int64:
    """Every call's gap, if each location had its wanted time in a region instead of what it spends there; ps."""
    paths = int(graph.callpath.max(initial=0)) + 1
    before = np.where(graph.follows, np.roll(graph.callpath, 1), -1).astype(np.int64)
    locations = int(graph.location.max(initial=0)) + 1
    ranks = [location for location in times if location < locations]
    kinds = ((before + 1) * paths + graph.callpath, graph.callpath)
    around, behind = (_Places(graph, keys, ranks) for keys in kinds)
    factor = np.ones(graph.count)
    for location in ranks:
        more = times[location] - wanted[location]  # to be taken away
        for places in (around, behind):
            way = places.beyond(location, longer=more > 0)
            spent = places.spent[location]
            if way.sum() >= EXPLAINS * abs(more):
                break
        else:
            way = spent
        change = abs(more) * way / max(1.0, way.sum())
        change = np.minimum(change, spent) if more > 0 else -change
        scaled = 1.0 - np.divide(change, spent, out=np.zeros(len(spent)), where=spent > 0)
        here = graph.calls_of(location)
        factor[here] = scaled[places.place[here]]
    return np.asarray(np.rint(graph.gap_ps * factor), dtype=np.int64)


class _Places:
    """Kinds of gaps, the time that each location spends in each of them, and its mean over those of some locations
    that have such gaps; ps."""

    def __init__(self, graph: Graph, keys: npt.NDArray[np.integer], ranks: list[int]) -> None:
        self.place = np.unique(keys, return_inverse=True)[1]
        size, count = int(graph.location.max(initial=0)) + 1, int(self.place.max(initial=0)) + 1
        row = graph.location.astype(np.int64) * count + self.place
        shape = (size, count)
        times = np.bincount(row, weights=graph.gap_ps.astype(np.float64), minlength=size * count)
        self.spent: Floats = times.astype(np.float64).reshape(shape)
        has = np.bincount(row, minlength=size * count).reshape(shape) > 0
        self.mean: Floats = self.spent[ranks].sum(axis=0) / np.maximum(1, has[ranks].sum(axis=0))

    def beyond(self, location: int, *, longer: bool) -> Floats:
        """By kind: how much longer, or shorter, a location's gaps are than on the mean."""
        difference = self.spent[location] - self.mean
        way = np.clip(difference if longer else -difference, 0.0, None)
        return np.asarray(np.where(self.spent[location] > 0, way, 0.0), dtype=np.float64)
