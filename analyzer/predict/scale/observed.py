"""What a run shows at its number of ranks: times by category, and how much each rank communicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.undivided import UNDIVIDED
from logpost.errors import InputError

COMPUTES = 0.01
"""Of the most computation before a call: ranks with less do none there."""


@dataclass(frozen=True)
class Spread:
    """Of a rank: the mean, and the most."""

    mean: float
    most: float


@dataclass(frozen=True)
class Site:
    """A call path of the code, over all ranks."""

    calls: float
    """the most that a rank makes"""
    gap_ps: float
    """mean computation before a call, of ranks that compute there"""
    sent: float
    """mean bytes of a message that it sends; 0: it sends none"""


@dataclass(frozen=True)
class Observed:
    """One run."""

    run: Run
    ranks: int
    times: dict[str, Spread]
    """ps of the program, by category; what some run of the comparison does not divide is together in all"""
    counts: dict[str, Spread]
    """of a rank: messages, bytes, partners, collective operations"""
    sites: dict[tuple[str, str, int], Site]
    """by path, file and line"""
    operations: dict[str, float]
    """calls of each collective operation, of a rank"""


def observed(run: Run, undivided: Sequence[str]) -> Observed:
    """What a run shows.

    Args:
        run: analyzed.
        undivided: categories that are shown as one.

    Raises:
        InputError: no rank communicates.
    """
    ranks = run.facts("locations").filter("accounted").select(pl.len()).collect().item()
    if not ranks:
        raise InputError(f"{run.path}: no rank communicates: there is nothing that grows")
    return Observed(
        run,
        ranks,
        spreads(program(run.table("accounting")), ranks, undivided),
        _counts(run, ranks),
        sites(run),
        dict(
            run.table("collectives")
            .group_by("operation")
            .agg(pl.len() / ranks)
            .collect()
            .cast({"operation": pl.String})
            .iter_rows()
        ),
    )


def spreads(accounting: pl.LazyFrame, ranks: int, undivided: Sequence[str]) -> dict[str, Spread]:
    """Mean and most of each category that has time, over so many ranks."""
    rows = (
        accounting.with_columns(pl.col("category").cast(pl.String))
        .with_columns(
            category=pl.when(pl.col("category").is_in(list(undivided))).then(pl.lit(UNDIVIDED)).otherwise("category")
        )
        .group_by("location", "category")
        .agg(pl.col("exposed_ps").sum())
        .group_by("category")
        .agg(total=pl.col("exposed_ps").cast(pl.Float64).sum(), most=pl.col("exposed_ps").max())
        .filter(pl.col("total") > 0)
        .collect()
    )
    return {category: Spread(total / ranks, float(most)) for category, total, most in rows.iter_rows()}


def _counts(run: Run, ranks: int) -> dict[str, Spread]:
    messages = run.table("messages").filter(pl.col("send_location") != pl.col("recv_location"))
    sent = messages.group_by("send_location").agg(
        messages=pl.len(), bytes=pl.col("bytes").sum(), partners=pl.col("recv_location").n_unique()
    )
    received = messages.group_by("recv_location").agg(
        messages=pl.len(), bytes=pl.col("bytes").sum(), partners=pl.col("send_location").n_unique()
    )
    members = run.table("collectives").group_by("location").agg(operations=pl.len())
    ways = (sent.collect(), received.collect())
    found = {
        name: Spread(float(ways[0][name].sum()) / ranks, max(_most(one[name]) for one in ways))
        for name in ("messages", "bytes", "partners")
    }
    operations = members.collect()["operations"]
    found["collective operations"] = Spread(float(operations.sum()) / ranks, _most(operations))
    return found


def _most(counts: pl.Series) -> float:
    return float(counts.to_numpy().max(initial=0))


def sites(run: Run) -> dict[tuple[str, str, int], Site]:
    """What each call path does, by its path, file and line; without start-up and shut-down."""
    starting = run.facts("regions").filter(pl.col("kind") == "init_finalize").select("region")
    calls = run.facts("calls").select("call", "location", "region", "callpath", "enter_ps", "leave_ps")
    sent = run.facts("messages").group_by(callpath="send_callpath").agg(sent=pl.col("bytes").mean())
    before = pl.col("leave_ps").shift(1).over("location", order_by="call")
    by_rank = calls.with_columns(gap=pl.col("enter_ps") - before.fill_null(pl.col("enter_ps")))
    # Ranks that do not compute there (all but the first of a pipeline) say nothing of its duration.
    some = pl.col("gap") > COMPUTES * pl.col("gap").max()
    rows = (
        by_rank.join(starting, on="region", how="anti")
        .group_by("callpath", "location")
        .agg(pl.len(), pl.col("gap").mean())
        .group_by("callpath")
        .agg(calls=pl.col("len").max(), gap=pl.col("gap").filter(some).mean().fill_null(0.0))
        .join(sent, on="callpath", how="left")
        .join(run.facts("callpaths").select("callpath", "path", "file", "line"), on="callpath")
        .collect()
    )
    return {
        (path, file, line): Site(calls, gap, mean or 0.0)
        for calls, gap, mean, path, file, line in rows.select(
            "calls", "gap", "sent", "path", "file", "line"
        ).iter_rows()
    }


def undivided_in(runs: Sequence[Run]) -> list[str]:
    """Categories that some run does not divide."""
    return sorted({one for run in runs for one in run.manifest.machine.undivided})
