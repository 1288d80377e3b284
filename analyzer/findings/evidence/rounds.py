"""Rounds of messages in collective operations, and their duration."""

from __future__ import annotations

import math

import polars as pl

from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.run.schema import HANDLE_OPERATIONS

PERSONAL = ("alltoall", "alltoallv", "alltoallw")
"""Operations in which each member has data for each other one: one round with each."""


def rounds(operation: str, members: float) -> float:
    """Of the messages that follow each other in an operation."""
    return members - 1 if operation.lower() in PERSONAL else math.ceil(math.log2(max(2.0, members)))


SEEN = pl.len().over("instance")
"""Members of the operation, in a frame that has all of them."""


def one_round(length: pl.Expr, seen: pl.Expr = SEEN) -> pl.Expr:
    """Of an operation of this length, in the `collectives` table; `seen`: its members there."""
    members = pl.when(pl.col("instance") >= 0).then(seen).otherwise(2).clip(lower_bound=2)
    personal = pl.col("operation").cast(pl.String).str.to_lowercase().is_in(PERSONAL)
    return length / pl.when(personal).then(members - 1).otherwise(members.log(2).ceil())


@once
def shortest_round(evidence: Evidence) -> float:
    """Time after the last member has entered, by round, in the shortest operation of the run; ps."""
    every = (
        evidence.tables["collectives"]
        .filter(pl.col("instance") >= 0, ~pl.col("operation").cast(pl.String).is_in(HANDLE_OPERATIONS))
        .group_by("instance")
        .agg(
            pl.col("operation").first().cast(pl.String),
            members=pl.len(),
            took=pl.col("leave_ps").max() - pl.col("enter_ps").max(),
        )
        .filter(pl.col("members") > 1)
        .group_by("operation", "members")
        .agg(pl.col("took").min())
        .collect()
    )
    return min((took / rounds(operation, members) for operation, members, took in every.iter_rows()), default=0.0)
