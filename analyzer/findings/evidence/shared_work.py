"""Code as long on each rank as is wanted of it: what every gap between two calls then takes.

A region's time is known by rank, not by call. What a rank spends in it beyond what is wanted is taken from the gaps in
which its code takes longer than that of the others, gap for gap, in proportion to how much; what it spends less is
added where it is shorter. Gaps are told apart by the two calls that follow them: what comes before depends on what had
arrived by then (a Test that finds its message, or does not), what follows is what the code is for. Where that explains
less than half, as on a rank that comes to a place more often than the others, all time before a call counts, and all of
a rank's gaps where that does not either.
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
    locations = int(graph.location.max(initial=0)) + 1
    ranks = [location for location in times if location < locations]
    ahead, behind = _Places(graph, _ahead(graph), ranks), _Places(graph, graph.callpath, ranks)
    factor = np.ones(graph.count)
    for location in ranks:
        more = times[location] - wanted[location]  # to be taken away
        for places, each in ((ahead, True), (behind, False)):
            way = places.beyond(location, longer=more > 0, each=each)
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


def _ahead(graph: Graph) -> npt.NDArray[np.int64]:
    """By call: a number of its path and that of the call behind it; where a location begins is another place."""
    paths = int(graph.callpath.max(initial=0)) + 1
    behind = np.where(graph.following >= 0, graph.callpath[graph.following], -1).astype(np.int64)
    return np.asarray(2 * ((behind + 1) * paths + graph.callpath) + graph.follows, dtype=np.int64)


class _Places:
    """Kinds of gaps, the time that each location spends in each of them, and how many it has; times in ps.

    Arguments:
        keys: by call: the kind of the gap before it.
        ranks: locations that are compared.
    """

    def __init__(self, graph: Graph, keys: npt.NDArray[np.integer], ranks: list[int]) -> None:
        self.place = np.unique(keys, return_inverse=True)[1]
        size, count = int(graph.location.max(initial=0)) + 1, int(self.place.max(initial=0)) + 1
        row = graph.location.astype(np.int64) * count + self.place
        shape = (size, count)
        times = np.bincount(row, weights=graph.gap_ps.astype(np.float64), minlength=size * count)
        self.spent: Floats = times.astype(np.float64).reshape(shape)
        self.gaps = np.bincount(row, minlength=size * count).reshape(shape)
        self.whole = self.spent[ranks].sum(axis=0)
        self.gaps_of_all = self.gaps[ranks].sum(axis=0)
        self.ranks_with_any = (self.gaps[ranks] > 0).sum(axis=0)

    def beyond(self, location: int, *, longer: bool, each: bool) -> Floats:
        """By kind: how much longer, or shorter, a location's gaps are than the mean; each of them, or all together
        than those of a location that has any."""
        here = self.gaps[location] if each else 1
        of = self.gaps_of_all if each else self.ranks_with_any
        mean = here * self.whole / np.maximum(1, of)
        difference = self.spent[location] - mean
        way = np.clip(difference if longer else -difference, 0.0, None)
        return np.asarray(np.where(self.spent[location] > 0, way, 0.0), dtype=np.float64)
