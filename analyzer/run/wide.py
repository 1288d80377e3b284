"""Sums of times over locations and messages, exact at any size.

A time in int64 picoseconds holds 2562 hours of one location. 10,000 ranks spend them in 15 minutes together, and polars
and numpy wrap silently: every sum that may pass from one location to others uses this file. Identities
(parts, categories) are checked on its integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:  # a report of a run needs neither
    import numpy as np
    import numpy.typing as npt

WIDE = pl.Int128()
"""What a sum of int64 over many rows needs; Arrow and Parquet hold it as decimal128(38, 0)."""


def wide_sum(*names: str) -> pl.Expr:
    """The sum of int64 columns as an aggregation, 128 bits wide."""
    return wide_sum_of(pl.col(*names))


def wide_sum_of(times: pl.Expr) -> pl.Expr:
    """The same of an expression."""
    return times.cast(WIDE).sum()


def exact_sum(times: pl.Series | npt.NDArray[np.int64]) -> int:
    """The sum of int64 times as a Python integer."""
    return int(pl.Series(times).cast(WIDE).sum())


def wide_series(halves: npt.NDArray[np.uint64]) -> pl.Series:
    """A native column of sums, of which each value is its lower and its upper 64 bits."""
    lower, upper = pl.Series(halves[::2]), pl.Series(halves[1::2].view("int64"))
    whole: pl.Series = upper.cast(WIDE) * pl.Series([1 << 64], dtype=WIDE) + lower.cast(WIDE)
    return whole


def stored(table: pl.DataFrame) -> pl.DataFrame:
    """The table as Parquet readers of any origin know it: sums as decimals without places."""
    wide = [name for name, dtype in table.schema.items() if dtype == WIDE]
    return table.with_columns(pl.col(wide).cast(pl.Decimal(38, 0))) if wide else table
