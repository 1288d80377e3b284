"""A filter for Score-P from the calling-context profile: functions that cost more records than they are worth.

The rule is that of scorep-score -g. A function is proposed when all of these hold:

- it and whatever it calls, on every call path, stays within the user's code (scorep-score's type USR): a function above
  MPI, OpenMP or another recorded interface places its calls, and is kept;
- its records take at least a share of the archive (1 %);
- its own time per visit, without its callees, is at most a limit (1 us), which is about what two records cost.

A visit is an Enter and a Leave. libotf2 writes each in 12 bytes where fewer than 256 regions are defined (type, length,
region, time stamp); with the real Score-P 8.4 4,000,000 visits left out saved 96,002,486 bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.wide import wide_sum
from logpost.errors import printable

RECORD_BYTES = 12
SHARE, TIME_PER_VISIT_PS = 0.01, 1_000_000
"""The limits that scorep-score -g takes: bufferpercent=1, timepervisit=1 (in us)."""

# Names by which scorep-score distinguishes recorded interfaces from user functions where the paradigm is not known.
_INTERFACES = re.compile(
    r"(MPI_|shmem_|!\$omp |omp_|pthread_|cuda?[A-Z]|cl[A-Z]|hip[A-Z]|acc_|"
    r"(THREADS|PARALLEL|TASKS|MEASUREMENT OFF|TRACE BUFFER FLUSH|USER IO)$)"
)


@dataclass(frozen=True)
class Function:
    """A function that is proposed. Times and bytes over all locations."""

    name: str
    file: str
    visits: int
    exclusive_ps: int

    @property
    def bytes(self) -> int:
        """The size of its records."""
        return 2 * RECORD_BYTES * self.visits

    @property
    def time_per_visit_ns(self) -> float:
        """Its own time in a visit, in ns."""
        return self.exclusive_ps / self.visits / 1e3


@dataclass(frozen=True)
class Proposal:
    """The functions to leave out, those that save most first, and what that saves.

    `largest_before`, `largest_after`: bytes of the process that has most, with its `locations`, by which the memory is
    chosen. The bytes of a process are the archive's, in proportion to its events.
    """

    functions: list[Function]
    bytes: int
    largest_before: int
    largest_after: int
    locations: int
    user_functions: int
    share: float
    time_per_visit_ps: int
    visits: int

    @property
    def saved(self) -> int:
        """Bytes that the archive would be smaller by."""
        return sum(function.bytes for function in self.functions)


def propose(run: Run, *, share: float = SHARE, time_per_visit_ps: int = TIME_PER_VISIT_PS, visits: int = 0) -> Proposal:
    """The functions of a run that a filter should leave out. `visits`: propose none that was visited less often."""
    regions = run.facts("regions").collect()
    callpaths = run.facts("callpaths").collect()
    kept = _kept(callpaths, regions)
    profile = (
        run.facts("profile")
        .join(run.facts("callpaths").select("callpath", "region"), on="callpath")
        .join(run.facts("locations").select("location", "process"), on="location")
        .group_by("region", "process")
        .agg(pl.col("visits").sum(), wide_sum("exclusive_ps"))
        .collect()
    )
    archive = run.manifest.source.bytes
    users = (
        profile.group_by("region")
        .agg(pl.col("visits").sum(), wide_sum("exclusive_ps"))
        .join(regions.select("region", "name", "file"), on="region")
        .filter(~pl.col("region").is_in(sorted(kept)) & (pl.col("visits") > 0))
    )
    chosen = users.filter(
        (2 * RECORD_BYTES * pl.col("visits") >= share * archive)
        & (pl.col("exclusive_ps") <= time_per_visit_ps * pl.col("visits"))
        & (pl.col("visits") >= visits)
    ).sort("visits", "name", descending=[True, False])
    before, after, locations = _largest(run, profile.filter(pl.col("region").is_in(chosen["region"].to_list())))
    return Proposal(
        [Function(*row) for row in chosen.select("name", "file", "visits", "exclusive_ps").iter_rows()],
        archive,
        before,
        after,
        locations,
        len(users),
        share,
        time_per_visit_ps,
        visits,
    )


def _kept(callpaths: pl.DataFrame, regions: pl.DataFrame) -> set[int]:
    """Regions of recorded interfaces, and those above one of them on any call path."""
    interfaces = {
        region
        for region, name, kind in regions.select("region", "name", "kind").iter_rows()
        if kind != "user" or _INTERFACES.match(name)
    }
    region, parent = callpaths["region"].to_list(), callpaths["parent"].to_list()
    above = [at in interfaces for at in region]
    for node in range(len(region) - 1, -1, -1):  # parents are before children
        if above[node] and parent[node] >= 0:
            above[parent[node]] = True
    return interfaces | {region[node] for node, it_is in enumerate(above) if it_is}


def _largest(run: Run, filtered: pl.DataFrame) -> tuple[int, int, int]:
    """Bytes of the largest process, with the filter, and its locations: (before, largest after, locations)."""
    by_process = (
        run.facts("locations").group_by("process").agg(pl.col("events").sum(), pl.len().alias("locations")).collect()
    )
    saved = filtered.group_by("process").agg((2 * RECORD_BYTES * pl.col("visits").sum()).cast(pl.Int64).alias("saved"))
    events = max(int(by_process["events"].sum()), 1)
    bytes_of = (pl.col("events") * (run.manifest.source.bytes / events)).cast(pl.Int64)
    sizes = by_process.join(saved, on="process", how="left").select(
        bytes_of.alias("before"),
        pl.max_horizontal(bytes_of - pl.col("saved").fill_null(0), 0).alias("after"),
        "locations",
    )
    if sizes.is_empty():
        return 0, 0, 0
    return int(sizes["before"].max() or 0), int(sizes["after"].max() or 0), int(sizes["locations"].max() or 0)  # type: ignore[arg-type]


def filter_text(proposal: Proposal, program: str) -> str:
    """The proposal as a filter file of Score-P. `program`: what it was made from, for the first line."""
    limits = [
        f"at least {100 * proposal.share:g} % of the archive's bytes",
        f"at most {proposal.time_per_visit_ps / 1e6:g} us per visit",
        *([f"at least {proposal.visits} visits"] if proposal.visits else []),
    ]
    lines = [
        f"# Proposed by logpost scorep filter from {printable(program)}:",
        "# user functions with no recorded interface (MPI, OpenMP ...) beneath, with",
        f"# {', '.join(limits)}.",
        "# Check them before use: SCOREP_FILTERING_FILE at run time, scorep --instrument-filter when compiling.",
        "SCOREP_REGION_NAMES_BEGIN",
    ]
    if proposal.functions:
        lines.append("  EXCLUDE")
    for function in proposal.functions:
        lines.append(
            f"    # {function.visits} visits, {function.time_per_visit_ns:.0f} ns each, {function.bytes} bytes"
            + (f", {printable(function.file)}" if function.file else "")
        )
        lines.append(f"    {escaped(function.name)}")
    return "\n".join([*lines, "SCOREP_REGION_NAMES_END", ""])


def escaped(name: str) -> str:
    """A name as a rule that matches it alone: rules are shell patterns between blanks, and # begins a comment."""
    return re.sub(r"([\\\s*?\[\]!#])", r"\\\1", name)
