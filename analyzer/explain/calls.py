"""The calls worth explaining for what is no message: one-sided transfers and collective operations."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from logpost.analyzer.findings.evidence.places import NOWHERE, places_of
from logpost.analyzer.run.directory import Run
from logpost.analyzer.words.location_names import LocationNames


@dataclass(frozen=True)
class CallCandidate:
    """A transfer, or a member's part in a collective operation, and the call that `explain` takes for it."""

    call: int
    """that completed it"""
    what: str
    """put, get or atomic; or the operation"""
    where: str
    """the origin, or the member"""
    target: str
    """of a transfer; empty of an operation"""
    bytes: int
    """payload; of an operation, what the member received"""
    time_ps: int
    """the envelope; of an operation, its time beyond the wait that its definition names"""
    residual_ps: int | None
    """None of an operation, and where the run's machine does not distinguish it from other transport"""
    deficit_ps: int | None
    """None of an operation"""
    region: str
    """of the call that started it"""


def worst_transfers(run: Run, most: int) -> list[CallCandidate]:
    """Those that the run's own model explains worst, as `candidates` has messages."""
    known = "residual" not in run.manifest.machine.undivided
    misfit = pl.col("deficit_ps") + (pl.col("residual_ps") if known else 0)
    rows = run.table("transfers").filter(pl.col("complete_call") >= 0).with_columns(misfit=misfit)
    order = ["misfit", "envelope_ps", "location", "number"]
    return _found(
        run,
        rows.sort(order, descending=[True, True, False, False])
        .head(most)
        .select(
            *("location", "target", "bytes", "deficit_ps", "callpath"),
            call="complete_call",
            what=pl.col("kind").cast(pl.String),
            time_ps="envelope_ps",
            residual_ps=pl.col("residual_ps") if known else pl.lit(None, dtype=pl.Int64),
        ),
    )


def longest_operations(run: Run, most: int) -> list[CallCandidate]:
    """Members' parts in collective operations, those that last longest beyond the wait that the definition names."""
    rows = run.table("collectives").filter(pl.col("complete_call") >= 0, pl.col("instance") >= 0)
    nothing = pl.lit(None, dtype=pl.Int64)
    return _found(
        run,
        rows.with_columns(time_ps=pl.col("leave_ps") - pl.col("enter_ps") - pl.col("wait_ps"))
        .sort("time_ps", "complete_call", descending=[True, False])
        .head(most)
        .select(
            *("location", "callpath", "time_ps"),
            target=pl.lit(-1),
            bytes="bytes_received",
            call="complete_call",
            what=pl.col("operation").cast(pl.String),
            residual_ps=nothing,
            deficit_ps=nothing,
        ),
    )


def _found(run: Run, rows: pl.LazyFrame) -> list[CallCandidate]:
    names = LocationNames(run.facts("locations").collect())
    places = places_of({name: run.facts(name) for name in ("callpaths", "regions")})
    return [
        CallCandidate(
            call=row["call"],
            what=row["what"],
            where=names[row["location"]],
            target=names[row["target"]] if row["target"] >= 0 else "",
            bytes=row["bytes"],
            time_ps=row["time_ps"],
            residual_ps=row["residual_ps"],
            deficit_ps=row["deficit_ps"],
            region=places.get(row["callpath"], NOWHERE).named,
        )
        for row in rows.collect().iter_rows(named=True)
    ]
