"""OpenMP's threads and accelerators' streams over a run: no part of the ranks' accounts.

The time of a process's threads is divided in the table `threads` (`thread_times`, docs/threads.md): n T for n threads
whose first one takes T. Of a stream kernels, copies and idle add up to the length of the trace.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.schema import THREAD_CATEGORIES
from logpost.analyzer.run.wide import exact_sum, wide_sum


@dataclass(frozen=True)
class Threads:
    """The processes with several threads; times of the program over all of their threads."""

    processes: int
    threads: int
    parallel_ps: int
    imbalance_ps: int
    synchronization_ps: int
    management_ps: int
    communication_ps: int
    serial_ps: int
    idle_serial_ps: int
    idle_communication_ps: int
    not_in_team_ps: int

    @property
    def total_ps(self) -> int:
        """n T, over the processes."""
        return sum(self.spent_ps.values())

    @property
    def spent_ps(self) -> dict[str, int]:
        """Category to its time, in the schema's order."""
        return {category: getattr(self, f"{category}_ps") for category in THREAD_CATEGORIES}


@dataclass(frozen=True)
class Accelerators:
    """The streams of accelerators on which something ran; times over all of them."""

    streams: int
    kernels: int
    copies: int
    bytes_to_device: int
    bytes_to_host: int
    kernel_ps: int
    copy_ps: int
    idle_ps: int

    @property
    def total_ps(self) -> int:
        """The length of the trace, of each."""
        return self.kernel_ps + self.copy_ps + self.idle_ps


def threads(run: Run) -> Threads | None:
    """None where no process has several threads in parallel regions of OpenMP."""
    rows = program(run.table("threads")).group_by("location", "category").agg(wide_sum("spent_ps")).collect()
    if rows.is_empty():
        return None
    category = pl.col("category").cast(pl.String)
    sums = {name: exact_sum(rows.filter(category == name)["spent_ps"]) for name in THREAD_CATEGORIES}
    of = run.table("locations").select("location", "process").join(rows.lazy(), on="location", how="semi").collect()
    return Threads(of["process"].n_unique(), of.height, **{f"{name}_ps": time for name, time in sums.items()})


def accelerators(run: Run) -> Accelerators | None:
    """None where nothing ran on any."""
    rows = run.table("streams").filter(pl.col("kernels") + pl.col("copies") > 0).collect()
    if rows.is_empty():
        return None
    return Accelerators(
        rows.height, **{one.name: exact_sum(rows[one.name]) for one in fields(Accelerators) if one.name != "streams"}
    )
