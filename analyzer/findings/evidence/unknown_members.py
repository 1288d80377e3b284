"""Collective operations of which the trace does not tell who takes part, and the time in them.

OTF2 has a record for every collective operation but those of neighbours (MPI_Neighbor_alltoall and its like): of these
an archive has the enters and leaves alone. Nobody is seen to wait in them, and nobody is known not to. Times in ps.
"""

from __future__ import annotations

import polars as pl

from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.run.wide import wide_sum


@once
def unknown_members(evidence: Evidence) -> pl.DataFrame:
    """(location, callpath, exposed_ps) of blocking calls of such operations, in the program."""
    blocking = evidence.callpaths.filter(pl.col("kind") == "collective")["callpath"]
    inside = evidence.exposure.filter(pl.col("category") == "collective", pl.col("callpath").is_in(blocking.implode()))
    if inside.is_empty():
        return inside.select("location", "callpath", "exposed_ps")
    known = evidence.tables["collectives"].select(pl.col("callpath").unique()).collect()["callpath"]
    return (
        inside.filter(~pl.col("callpath").is_in(known.implode()))
        .group_by("location", "callpath")
        .agg(wide_sum("exposed_ps"))
        .sort("location", "callpath")
    )


def unknown_members_ps(evidence: Evidence) -> dict[int, int]:
    """Location to its time in them."""
    rows = unknown_members(evidence).group_by("location", maintain_order=True).agg(wide_sum("exposed_ps"))
    return {int(location): int(time) for location, time in rows.iter_rows()}
