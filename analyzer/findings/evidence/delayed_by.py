"""What the delays behind waits consist of: computation, or time in calls, by the delay costs (docs/causes.md).

Who computes at the moment at which it is waited for need not be late by that: everybody computes as long, and the rank
began later because its calls before had more to do.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.root_causes import COMPUTATION
from logpost.analyzer.findings.evidence.tables import Evidence


def computed_share(evidence: Evidence, waits: Iterable[int], late: Iterable[int]) -> float | None:
    """The fraction of computation in what delays the waits in some calls; None where no delay is known.

    Arguments:
        evidence: of the run.
        waits: call paths of the waiting.
        late: locations that are waited for.
    """
    rows = _costs(evidence).filter(
        pl.col("wait_callpath").is_in(list(waits)), pl.col("location").is_in(list(late)), pl.col("costs_ps") > 0
    )
    every = float(rows["costs_ps"].sum())
    computed = float(rows.filter(pl.col("place") == COMPUTATION)["costs_ps"].sum())
    return computed / every if every > 0 else None


@once
def _costs(evidence: Evidence) -> pl.DataFrame:
    """(location, wait_callpath, place, costs_ps)."""
    return (
        evidence.tables["delay_costs"]
        .filter(pl.col("location") >= 0)
        .group_by("location", "wait_callpath", pl.col("place").cast(pl.String))
        .agg(costs_ps=(pl.col("short_term_ps") + pl.col("long_term_ps")).sum())
        .collect()
    )
