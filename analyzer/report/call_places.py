"""The call paths with the most exposed communication time."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.findings.evidence.places import NOWHERE, Places
from logpost.analyzer.report.data import CallPlace
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.categories import WAITING


def call_places(run: Run, total: int, places: Places, most: int) -> tuple[CallPlace, ...]:
    """The call paths with the most exposed communication time, those with most of it first.

    Args:
        run: a finished run.
        total: the sum of the ranks' program times; ps.
        places: where its call paths are.
        most: call paths at most.
    """
    exposure = program(run.shown("exposure")).with_columns(pl.col("category").cast(pl.String))
    # `calls` belongs to (location, callpath) and is repeated in each of its category rows.
    calls = (
        exposure.group_by("location", "callpath")
        .agg(pl.col("calls").max())
        .group_by("callpath")
        .agg(pl.col("calls").sum())
    )
    rows = (
        exposure.group_by("callpath", "category")
        .agg(wide_sum("exposed_ps"))
        .sort("exposed_ps", descending=True)
        .group_by("callpath", maintain_order=True)
        .agg(
            exposed=wide_sum("exposed_ps"),
            waiting=pl.col("exposed_ps").filter(pl.col("category").is_in(WAITING)).sum(),
            largest=pl.col("category").first(),
            largest_ps=pl.col("exposed_ps").first(),
        )
        .join(calls, on="callpath")
        .filter(pl.col("exposed") > 0)
        .sort("exposed", "callpath", descending=[True, False])
        .head(most)
        .collect()
    )
    return tuple(
        CallPlace(
            path=(place := places.get(row["callpath"], NOWHERE)).path,
            region=place.region,
            file=place.file,
            line=place.line,
            source=place.source,
            calls=int(row["calls"]),
            exposed_ps=int(row["exposed"]),
            share=int(row["exposed"]) / total if total else 0.0,
            waiting_ps=int(row["waiting"]),
            largest=row["largest"],
            largest_ps=int(row["largest_ps"]),
        )
        for row in rows.iter_rows(named=True)
    )
