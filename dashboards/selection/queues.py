"""What messages wait in queues, by the rank that they are for."""

from __future__ import annotations

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import TRANSFER_PARTS
from logpost.analyzer.run.wide import wide_sum
from logpost.dashboards.figures.queueing import QUEUES


def queues(run: Run) -> pl.LazyFrame:
    """location, window, queued_ps: what messages for a location wait in queues, by when they were sent; wide sums."""
    messages = run.table("messages").select("window", *QUEUES, location="recv_location")
    known = [name for name in QUEUES if name.removesuffix("_ps") in TRANSFER_PARTS]
    transfers = run.table("transfers").filter(pl.col("target") >= 0).select("window", *known, location="target")
    both = pl.concat([messages, transfers], how="diagonal")
    summed = both.group_by("location", "window").agg(wide_sum(*QUEUES))
    return summed.select("location", "window", queued_ps=pl.sum_horizontal(QUEUES))
