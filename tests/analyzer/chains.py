"""A wave through a chain of ranks, written in code at any size: what growth must predict is known by arithmetic.

Rank 0 computes and sends to rank 1, which receives, computes and sends on. On the template machine (ranks of one node)
a message of 2,048 B is received WAY after its send began, and occupies its sender for OVERHEAD.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.analyzer.story import Story

from logpost.analyzer.pipeline.resplit import Resplit
from logpost.analyzer.pipeline.tables.analysis import aggregates
from logpost.analyzer.run.directory import Run
from logpost.machines.schema.load import template_text

BYTES = 2048
OVERHEAD = 100_000
WAY = 2 * OVERHEAD + 250_000 + (BYTES - 1) * 60
"""o_s + L + (B - 1) G + o_r"""
WORK = 5_000_000


def chain(ranks: int, path: Path, *, work: int = WORK, name: str = "main") -> Run:
    """The run on so many ranks, split again from its own calls."""
    end = ranks * (work + WAY) + work
    story = Story(ranks, end)
    story.communicator(*range(ranks))
    send, recv = story.path(name, "MPI_Send"), story.path(name, "MPI_Recv")
    for rank in range(ranks):
        got = rank * (work + WAY)
        if rank:
            story.call(rank, 0, got, recv, late_sender=got)
        sent = got + work
        if rank + 1 < ranks:
            story.call(rank, sent, sent + OVERHEAD, send, send_overhead=OVERHEAD)
            story.message(
                rank,
                rank + 1,
                BYTES,
                (sent, sent + OVERHEAD),
                (0, sent + WAY),
                (send, recv),
                late_sender=sent,
                latency=WAY,
            )
        story.shut_down(rank, sent + OVERHEAD if rank + 1 < ranks else sent)
    run = story.write(path)
    run.machine_file.write_text(template_text())
    file = run.path / "messages.parquet"
    pl.read_parquet(file).with_columns(
        send_number=pl.lit(0, dtype=pl.Int32), recv_number=pl.lit(0, dtype=pl.Int32)
    ).write_parquet(file)
    return split_again(run)


def split_again(run: Run) -> Run:
    """The run whose accounting is the split's own, of its calls and messages."""
    analysis = Resplit(run).under()
    table = aggregates(analysis, analysis.delay_costs())["accounting"]
    table.write_parquet(run.path / "accounting.parquet")
    return Run.open(run.path)


def mean_length(ranks: int, work: int = WORK) -> float:
    """Of a rank's program, by arithmetic."""
    ends = [rank * (work + WAY) + work + (OVERHEAD if rank + 1 < ranks else 0) for rank in range(ranks)]
    return sum(ends) / ranks
