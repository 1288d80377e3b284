"""How many ranks of a node run at once, told by when they show that they do.

A rank that enters and leaves calls, or computes between two of them, within less time than a scheduler gives to a
process at a time has had a core meanwhile: these stretches are known to run. T_k is the time in which exactly k ranks
of the node do. Were there a core for each, whoever runs would not keep another one from running: with k of n running,
the odds that one more does would not fall with k (they are equal where ranks are independent, and rise where ranks do
the same at the same time), so that

    T_{k+1} >= T_k x odds x (n - k) / (k + 1),    odds = T_k / T_{k-1} x k / (n - k + 1).

Where the time beyond k is far below that, k ranks run at once at most. Data that is handed from rank to rank has the
same effect, so this alone proves no lack of cores. Times in ps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.finding import MIN_SAMPLES

RUNNING_PS = 20_000_000
"""Two instants of a rank that are no longer apart: it has run in between. Schedulers take cores away for longer, by
0.1 to 10 ms."""
FAR_BELOW = 1 / 20
"""Of the time that more ranks would run at once: so little is left where a rank's core was taken away in between."""


@dataclass(frozen=True)
class Limit:
    """So many ranks run at once."""

    at_once: int
    time_ps: int
    """in which so many do"""
    beyond_ps: int
    """in which more do"""
    expected_ps: float
    """in which more would, had each a core"""


def limit_of(graph: Graph, locations: list[int]) -> Limit | None:
    """How many of these run at once, where fewer than all do."""
    begins, ends = _running(graph, locations)
    if begins.size == 0:
        return None
    times = _times_at_once(begins, ends, len(locations), graph.length_ps)
    stretch = float((ends - begins).mean())
    n = len(locations)
    for k in range(1, n):
        if times[k] <= 0 or times[k - 1] <= 0:
            return None
        odds = times[k] / times[k - 1] * k / (n - k + 1)
        expected = float(times[k] * odds * (n - k) / (k + 1))
        beyond = int(times[k + 1 :].sum())
        if expected >= MIN_SAMPLES * stretch and beyond <= FAR_BELOW * expected:
            return Limit(k, int(times[k]), beyond, expected)
    return None


def _running(graph: Graph, locations: list[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Begins and ends of the stretches in which one of these runs."""
    begins, ends = [], []
    for location in locations:
        rows = graph.calls_of(location)
        instants = np.column_stack([graph.enter_ps[rows], graph.leave_ps[rows]]).ravel()
        length = np.diff(instants)
        runs = (length > 0) & (length <= RUNNING_PS)
        begins.append(instants[:-1][runs])
        ends.append(instants[1:][runs])
    return np.concatenate(begins), np.concatenate(ends)


def _times_at_once(
    begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], most: int, length_ps: int
) -> npt.NDArray[np.int64]:
    """By count, from none on: how long so many of the stretches are under way."""
    at = np.concatenate([begins, ends])
    step = np.concatenate([np.ones(len(begins), dtype=np.int64), np.full(len(ends), -1, dtype=np.int64)])
    order = np.lexsort((step, at))  # what ends at an instant ends before what begins there
    count = np.cumsum(step[order])[:-1]
    found = np.zeros(most + 1, dtype=np.int64)
    np.add.at(found, count, np.diff(at[order]))
    found[0] = max(0, length_ps - int(found[1:].sum()))
    return found
