"""What chance alone does to the sum of a rank's compute times: noise of every step adds up a little."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import graph_of, lasts_longer
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MIN_SAMPLES

BLOCKS = MIN_SAMPLES
"""Parts of the stretches whose sums are compared."""


def chance_of(evidence: Evidence, times: Mapping[int, float]) -> float:
    """Standard deviation of a location's total compute time; ps; the mean over these locations.

    From the stretches of code between the same two calls, in the order of time: the sums of `BLOCKS` equal parts of
    them, which vary by s, add up to s sqrt(BLOCKS). What alternates from call to call varies little from part to part,
    and is no chance.
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
    order = ("location", "before", "callpath")
    parts = (
        stretches.with_columns(
            number=pl.int_range(pl.len()).over(order),
            count=pl.len().over(order),
            beyond=pl.col("gap") - pl.col("gap").mean().over(order),
        )
        .filter(pl.col("count") >= MIN_SAMPLES)
        .group_by(*order, part=pl.col("number") * BLOCKS // pl.col("count"), maintain_order=True)
        .agg(pl.col("beyond").sum())
    )
    variance = float(parts["beyond"].pow(2).sum()) * BLOCKS / (BLOCKS - 1)
    return math.sqrt(lasts_longer(evidence, graph) * variance / max(1, len(times)))
