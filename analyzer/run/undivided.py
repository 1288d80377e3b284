"""Categories whose division an estimated machine does not identify: shown as one, here and nowhere else.

The tables of a run keep every category, so that sums stay exact. What reads them for people or for scripts passes its
times through `merged`, with the list that the manifest gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import polars as pl

from logpost.analyzer.run.schema import CATEGORIES

UNDIVIDED = "transport_undivided"
"""The category that stands for all that a run does not divide."""
TITLE = "transport, not divided further"
"""Its name for people."""

SHOWN = (*CATEGORIES, UNDIVIDED)
"""Every category that a reader of a run may meet."""

N = TypeVar("N", int, float)
Rows = TypeVar("Rows", pl.DataFrame, pl.LazyFrame)


def merged(times: Mapping[str, N], undivided: Sequence[str]) -> dict[str, N]:
    """The same times with the undivided categories as one, which is where the first of them was."""
    together: dict[str, N] = {}
    for name, time in times.items():
        shown = shown_as(name, undivided)
        together[shown] = together[shown] + time if shown in together else time
    return together


def shown_as(category: str, undivided: Sequence[str]) -> str:
    """The category under which a run's time of `category` is shown."""
    return UNDIVIDED if category in undivided else category


def shown(rows: pl.LazyFrame, undivided: Sequence[str]) -> pl.LazyFrame:
    """Rows with a column `category`, relabelled; a category may then have several rows."""
    categories = pl.col("category").cast(pl.String)
    return rows.with_columns(
        pl.when(categories.is_in(list(undivided)))
        .then(pl.lit(UNDIVIDED))
        .otherwise(categories)
        .cast(pl.Enum(list(SHOWN)))
        .alias("category")
    )


def together(rows: Rows, undivided: Sequence[str], instead: int | None = 0) -> Rows:
    """Rows with a column for each category's time: one more for the undivided ones, which have `instead` themselves."""
    known = set(rows.collect_schema().names())
    parts = [f"{name}_ps" for name in undivided if f"{name}_ps" in known]
    whole = pl.sum_horizontal(parts) if parts else pl.lit(0, dtype=pl.Int64)
    return rows.with_columns(
        whole.alias(f"{UNDIVIDED}_ps"), *(pl.lit(instead, dtype=pl.Int64).alias(part) for part in parts)
    )


def categories(undivided: Sequence[str]) -> list[str]:
    """The categories under which a run's time is shown, in the schema's order."""
    return list(merged(dict.fromkeys(CATEGORIES, 0), undivided))


def title(category: str) -> str:
    """A category's name for people."""
    return TITLE if category == UNDIVIDED else category.replace("_", " ")
