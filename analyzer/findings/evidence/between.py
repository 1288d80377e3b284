"""Locate computation between two communication calls: from leaving one to entering the next.

Calls that do not locate code (MPI_Wtime, MPI_Comm_rank) do not end a stretch of code.
"""

from __future__ import annotations

import polars as pl

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.run.wide import wide_sum


def longest_excess(evidence: Evidence, location: int) -> tuple[int, int] | None:
    """The two call paths between which `location` computes longest beyond the mean of the ranks.

    None where it never computes longer than the others between two calls.
    """
    telling = [callpath for callpath, moves in enumerate(evidence.moves_data) if moves]
    accounted = evidence.locations["location"].implode()
    rows = (
        evidence.tables["calls"]
        .filter(pl.col("callpath").is_in(telling), pl.col("location").is_in(accounted))
        .select("call", "location", "enter_ps", "leave_ps", "callpath")
        .sort("call")  # of calls that a coarse clock has at one instant, time states no order
        .with_columns(
            before=pl.col("callpath").shift(1).over("location"),
            gap_ps=pl.col("enter_ps") - pl.col("leave_ps").shift(1).over("location"),
        )
        .drop_nulls("before")
        .group_by("before", "callpath")
        .agg(
            own=pl.col("gap_ps").filter(pl.col("location") == location).sum(),
            mean=wide_sum("gap_ps") / max(1, evidence.locations.height),
        )
        .filter(pl.col("own") > pl.col("mean"))
        .sort(pl.col("mean") - pl.col("own"), "before", "callpath")
        .head(1)
        .collect()
    )
    return None if rows.is_empty() else (int(rows["before"][0]), int(rows["callpath"][0]))


def between_text(evidence: Evidence, pair: tuple[int, int]) -> str:
    """`between MPI_Recv (cg.c:10) and MPI_Send (cg.c:31)`."""
    return " and ".join([f"between {_named(evidence, pair[0])}", _named(evidence, pair[1])])


def _named(evidence: Evidence, callpath: int) -> str:
    place = evidence.places.get(callpath)
    source = place.source if place is not None and place.is_site else ""
    return evidence.region(callpath) + (f" ({source})" if source else "")
