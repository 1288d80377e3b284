"""What chance alone does to the sum of a rank's compute times: noise of every step adds up a little."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MIN_SAMPLES


def chance_of(evidence: Evidence, times: Mapping[int, float]) -> float:
    """Standard deviation of a location's total compute time; ps; the mean over these locations.

    From the stretches of code between the same two calls: n of them that vary by s add up to s sqrt(n).
    """
    graph = graph_of(evidence)
    stretches: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for node in graph.nodes.values():
        if node.location in times and node.before >= 0:
            stretches[node.location, graph.nodes[node.before].callpath, node.callpath].append(node.gap)
    variance: dict[int, float] = defaultdict(float)
    for (location, _, _), gaps in stretches.items():
        if len(gaps) >= MIN_SAMPLES:
            mean = sum(gaps) / len(gaps)
            variance[location] += sum((gap - mean) ** 2 for gap in gaps)
    whole = evidence.slowest_program_ps / max(1, graph.length_ps)
    return math.sqrt(whole * sum(variance.values()) / max(1, len(times)))
