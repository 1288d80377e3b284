"""Select the rows of a run's large tables that are in its region of interest."""

from __future__ import annotations

import polars as pl

ENTERED = {"messages": ("recv_location", "recv_enter_ps"), "calls": ("location", "enter_ps")} | {
    "collectives": ("location", "enter_ps")
}
"""Location and time that decide whether a row is in the region of interest; of a message: the call that received
it."""


def within(table: pl.LazyFrame, name: str, locations: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of a table of calls, messages or collectives that are in the region of interest; others as they are."""
    if name not in ENTERED:
        return table
    location, entered = ENTERED[name]
    bounds = locations.select(pl.col("location").alias(location), __begin="begin_ps", __end="end_ps")
    return (
        table.join(bounds, on=location, how="left", maintain_order="left")
        .filter(pl.col(entered) >= pl.col("__begin"), pl.col(entered) < pl.col("__end"))
        .drop("__begin", "__end")
    )
