"""OpenMP's threads and accelerators' streams, from the profile: no part of the ranks' accounts.

The accounts divide the time of ranks, and of threads that communicate. What the others did is known by region only. For
a process of n threads whose first one takes T from its first to its last event,

    n T = parallel + imbalance + serial + idle

parallel   of all threads, inside of parallel regions but not at a barrier
imbalance  of all threads, at OpenMP's barriers: those that come early wait for the last one
serial     of the first threads, outside of parallel regions
idle       of the others, outside of any region: nothing was given to them

A stream of an accelerator is busy while anything runs on it. Regions of OpenMP are told by how instrumentation names
them: `!$omp parallel`, `!$omp implicit barrier`.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from logpost.analyzer.run import Run
from logpost.analyzer.wide import exact_sum, wide_sum, wide_sum_of

OPENMP = "!$omp"


@dataclass(frozen=True)
class Threads:
    """The processes with several threads; times over all of their threads."""

    processes: int
    threads: int
    parallel_ps: int
    imbalance_ps: int
    serial_ps: int
    idle_ps: int

    @property
    def total_ps(self) -> int:
        """n T, over the processes."""
        return self.parallel_ps + self.imbalance_ps + self.serial_ps + self.idle_ps


@dataclass(frozen=True)
class Accelerators:
    """The streams of accelerators on which something ran."""

    streams: int
    busy_ps: int
    """over all of them"""
    length_ps: int
    """of the run"""


def threads(run: Run) -> Threads | None:
    """None where no process has several threads in OpenMP."""
    times = _times(run)
    several = times.filter(pl.len().over("process") > 1)
    if several.is_empty() or not exact_sum(several["parallel"]):
        return None
    first = pl.col("location") == pl.col("location").first().over("process")
    whole = pl.col("wall_ps").first().over("process")
    inside = pl.when(first).then(pl.col("parallel")).otherwise(pl.col("inside")).clip(upper_bound=whole)
    waits = pl.min_horizontal("barrier", inside)
    sums = several.select(
        parallel=wide_sum_of(inside - waits),
        imbalance=wide_sum_of(waits),
        serial=wide_sum_of((whole - inside).filter(first)),
        idle=wide_sum_of((whole - inside).filter(~first)),
    ).row(0)
    return Threads(several["process"].n_unique(), several.height, *(int(time) for time in sums))


def accelerators(run: Run) -> Accelerators | None:
    """None where nothing ran on any."""
    streams = run.table("locations").filter(pl.col("kind") == "gpu").select("location")
    busy = (
        run.table("profile")
        .join(streams, on="location", how="semi")
        .group_by("location")
        .agg(wide_sum("exclusive_ps"))
        .filter(pl.col("exclusive_ps") > 0)
        .collect()
    )
    if busy.is_empty():
        return None
    return Accelerators(busy.height, exact_sum(busy["exclusive_ps"]), run.manifest.clock.length_ps)


def _times(run: Run) -> pl.DataFrame:
    """By thread of a processor, a process's first one first: its time in any region, in parallel regions (not counted
    twice where they are nested), and at barriers."""
    names = run.table("regions").select("region", "name")
    paths = run.table("callpaths").select("callpath", "parent", "region").join(names, on="region").sort("callpath")
    parallel: set[int] = set()
    outermost: list[int] = []
    barriers: list[int] = []
    for callpath, parent, name in paths.select("callpath", "parent", "name").collect().iter_rows():
        if parent in parallel:
            parallel.add(callpath)
        elif name.startswith(f"{OPENMP} parallel"):
            parallel.add(callpath)
            outermost.append(callpath)
        if name.startswith(OPENMP) and "barrier" in name:
            barriers.append(callpath)
    spent = (
        run.table("profile")
        .group_by("location")
        .agg(
            inside=wide_sum("exclusive_ps"),
            parallel=pl.col("inclusive_ps").filter(pl.col("callpath").is_in(outermost)).sum(),
            barrier=pl.col("exclusive_ps").filter(pl.col("callpath").is_in(barriers)).sum(),
        )
    )
    return (
        run.table("locations")
        .filter(pl.col("kind") == "cpu", pl.col("process") >= 0)
        .select("location", "process", "wall_ps", "rank")
        .join(spent, on="location", how="left")
        .with_columns(pl.col("inside", "parallel", "barrier").fill_null(0))
        .sort("process", pl.col("rank") < 0, "location")
        .collect()
    )
