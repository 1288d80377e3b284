"""The program's share of a run's accounting: what lies between start-up and shut-down, in the region of interest."""

from __future__ import annotations

import polars as pl

PROGRAM = "program"


def program(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of `accounting` or `exposure` that belong to the program, without their phase."""
    return rows.filter(pl.col("phase") == PROGRAM).drop("phase")


def program_ps() -> pl.Expr:
    """Length of the program on a row of `locations`."""
    return pl.col("end_ps") - pl.col("begin_ps")
