"""What chance alone does to the sum of a rank's compute times: noise of every step adds up a little."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import graph_of, lasts_longer
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MIN_SAMPLES


def chance_of(evidence: Evidence, times: Mapping[int, float]) -> float:
    """Standard deviation of a location's total compute time; ps; the mean over these locations.

    From the stretches of code between the same two calls: n of them that vary by s add up to s sqrt(n).
    """
    graph = graph_of(evidence)
    (calls,) = np.nonzero(graph.follows & np.isin(graph.location, list(times)))
    stretches = pl.DataFrame(
        {
            "location": graph.location[calls],
            "before": graph.callpath[calls - 1],
            "callpath": graph.callpath[calls],
            "gap": graph.gap_ps[calls].astype(np.float64),
        }
    )
    variance = (
        stretches.group_by("location", "before", "callpath", maintain_order=True)
        .agg(squares=(pl.col("gap") - pl.col("gap").mean()).pow(2).sum(), count=pl.len())
        .filter(pl.col("count") >= MIN_SAMPLES)["squares"]
    )
    return math.sqrt(lasts_longer(evidence, graph) * float(variance.sum()) / max(1, len(times)))
