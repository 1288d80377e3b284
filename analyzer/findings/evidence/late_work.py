"""The program with the work of late senders shared with those who wait for them.

Ranks that wait for each other, directly or through others, are a group. Each of a group then has the mean of its code
times, which is taken from the gaps in which it takes longer than the others, as `shared_work` tells; what is given to
the others lies where they have less.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.replayed import cure_replayed
from logpost.analyzer.findings.evidence.shared_work import shared_gaps
from logpost.analyzer.findings.evidence.slow_ranks import evenly
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Cure, Hypothesis


def shared_by_groups(evidence: Evidence, graph: Graph, pairs: Iterable[tuple[int, int]]) -> Cure:
    """The program in which the ranks of each group work as long.

    Arguments:
        evidence: of the run.
        graph: of the program.
        pairs: (receiver, sender) of those who wait, and whom for.
    """
    code = np.bincount(graph.location, weights=graph.gap_ps.astype(np.float64))
    times: dict[int, float] = {}
    wanted: dict[int, float] = {}
    for group in groups_of(pairs):
        own = {location: float(code[location]) for location in group if location < len(code)}
        times |= own
        wanted |= evenly(own)
    return cure_replayed(evidence, graph, Hypothesis(gap_ps=shared_gaps(graph, times, wanted)))


def groups_of(pairs: Iterable[tuple[int, int]]) -> list[set[int]]:
    """Connected ones."""
    groups: list[set[int]] = []
    for pair in pairs:
        joined = set(pair)
        others = []
        for group in groups:
            if group & joined:
                joined |= group
            else:
                others.append(group)
        groups = [*others, joined]
    return groups
