"""Code as long on each rank as on the mean of them: what every gap between two calls then takes.

A region's time is known by rank, not by call. What a rank spends in it beyond the mean is taken from the gaps in which
its code takes longer than the others', in proportion to how much; what it spends less is added where it is shorter.
Gaps are told apart by the calls around them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.replay.columns import Int64


def shared_gaps(graph: Graph, times: Mapping[int, float]) -> Int64:
    """Every call's gap, if each location had the mean of these times (ps) in the region that they are of."""
    size = int(graph.location.max(initial=0)) + 1
    paths = int(graph.callpath.max(initial=0)) + 1
    before = np.where(graph.follows, np.roll(graph.callpath, 1), -1).astype(np.int64)
    _, place = np.unique((before + 1) * paths + graph.callpath, return_inverse=True)
    places = int(place.max(initial=0)) + 1
    row = graph.location.astype(np.int64) * places + place
    spent = np.bincount(row, weights=graph.gap_ps.astype(np.float64), minlength=size * places).reshape(size, places)
    ranks = [location for location in times if location < size]
    mean = sum(times.values()) / len(times)
    beyond = spent - spent[ranks].mean(axis=0)
    factor = np.ones((size, places))
    for location in ranks:
        more = times[location] - mean  # to be taken away
        way = np.clip(beyond[location] if more > 0 else -beyond[location], 0.0, None)
        way = np.where(spent[location] > 0, way, 0.0)
        if way.sum() == 0:
            way = spent[location]
        change = abs(more) * way / max(1.0, way.sum())
        change = np.minimum(change, spent[location]) if more > 0 else -change
        factor[location] = 1.0 - np.divide(change, spent[location], out=np.zeros(places), where=spent[location] > 0)
    return np.asarray(np.rint(graph.gap_ps * factor.reshape(-1)[row]), dtype=np.int64)
