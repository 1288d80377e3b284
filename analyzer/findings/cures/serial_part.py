"""Serial part: the first thread computes outside of parallel regions, and the other threads of its process are idle.

Cure: the n threads of a process share that work. By Amdahl's law serial code of duration S then lasts S / n. In the
graph the code outside of parallel regions, between calls, is shorter by the user region's part of S (1 - 1/n).

The profile knows S of a region over the whole run only; of the program it is in proportion to all serial time there.
Calls that drive an accelerator (CUDA, HIP, OpenCL) are no work that threads could share. The doubt: whether the work
can be shared, which no trace shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, offered
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.thread_teams import REGIONS, CodeOfProcesses, first_threads
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number, worst_hit
from logpost.analyzer.findings.wording.facts import HEAVY
from logpost.replay.columns import Int64

KIND = "serial_part"
Floats = npt.NDArray[np.float64]
_ACCELERATOR = re.compile(r"(cuda|cu[A-Z]|hip[A-Z]|cl[A-Z]|__cuda|__hip)|.*\bWAIT FOR COMMAND QUEUE\b|BUFFER FLUSH")


@dataclass(frozen=True)
class Serial:
    """Serial time of a user region on a process; ps."""

    callpath: int
    first: int
    time: float
    threads: int
    part: float
    """of all serial time of the process"""

    @property
    def saved(self) -> float:
        """By Amdahl's law."""
        return self.time * (1.0 - 1.0 / self.threads)


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a user region, the costliest ones."""
    if evidence.tables["threads"].head(1).collect().is_empty():
        return
    by_callpath: dict[int, list[Serial]] = {}
    for one in _serial_regions(evidence):
        by_callpath.setdefault(one.callpath, []).append(one)
    costly = {path: some for path, some in by_callpath.items() if max(one.saved for one in some) >= evidence.least_ps}
    order = sorted(costly, key=lambda path: (-max(one.saved for one in costly[path]), path))[:REGIONS]
    for found in offered(evidence, partial(propose, evidence, [costly[path] for path in order]), of_messages=False):
        saved = {one.first: one.saved for one in costly[found.callpath]}
        yield replace(
            found,
            cause_region=found.region,
            exposed_ps=round(sum(saved.values())),
            share=min(1.0, worst_hit(saved, evidence.slowest_program_ps)),
        )


def propose(evidence: Evidence, regions: list[list[Serial]], program: Program) -> Iterator[Proposal]:
    """Each region shared among threads."""
    code = CodeOfProcesses(program)
    serial = _serial(evidence, code)
    for each in regions:
        worst = max(each, key=lambda one: (one.saved, -one.first))
        less = np.zeros(program.location_count)
        for one in each:
            less[one.first] = one.part * (1.0 - 1.0 / one.threads)
        yield Proposal(
            kind=KIND,
            callpath=worst.callpath,
            at_fault=frozenset(one.first for one in each if one.saved >= HEAVY * worst.saved),
            change=code.shorter(_rounded(serial[0] * less[program.location]), _rounded(serial[1] * less)),
            numbers=(
                Number("threads", worst.threads, "count"),
                Number("serial", worst.time, "ps"),
                *evidence.rank_numbers("worst_rank", [worst.first]),
                Number("serial_share", worst.time / evidence.slowest_program_ps, "1"),
                Number("threads_idle", sum(one.time * (one.threads - 1) for one in each), "ps"),
                Number("saved_if_shared", worst.saved, "ps"),
            ),
            confidence=MEDIUM,
            certainty="serial time is measured; whether its work can be shared is not known",
        )


def _rounded(times: Floats) -> Int64:
    return np.rint(times).astype(np.int64)


def _serial_regions(evidence: Evidence) -> Iterable[Serial]:
    teams = first_threads(evidence)
    threads = dict(teams.group_by("first").agg(pl.len()).iter_rows())
    category = pl.col("category").cast(pl.String)
    serial = dict(
        evidence.tables["threads"]
        .filter(category == "serial", pl.col("phase").cast(pl.String) == "program")
        .group_by("location")
        .agg(pl.col("spent_ps").sum())
        .sort("location")
        .collect()
        .iter_rows()
    )
    own = _outside_of_parallel_regions(evidence).filter(pl.col("location").is_in(list(threads)))
    for location, whole in serial.items():
        here = own.filter(pl.col("location") == location)
        total = float(here["exclusive_ps"].sum())
        if total <= 0:
            yield Serial(-1, location, float(whole), threads[location], 1.0)
            continue
        for callpath, time in here.select("callpath", "exclusive_ps").iter_rows():
            if not _ACCELERATOR.match(evidence.region(callpath)):
                yield Serial(callpath, location, whole * time / total, threads[location], time / total)


def _outside_of_parallel_regions(evidence: Evidence) -> pl.DataFrame:
    """(callpath, location, exclusive_ps) of user regions that are used in the program, on first threads."""
    used = (
        evidence.tables["region_spans"]
        .join(evidence.tables["locations"].select("location", "begin_ps", "end_ps"), on="location")
        .filter(pl.col("last_leave_ps") > pl.col("begin_ps"), pl.col("first_enter_ps") < pl.col("end_ps"))
        .select("region", "location")
    )
    regions = evidence.callpaths.lazy().select("callpath", "region")
    return (
        evidence.user_profile.lazy()
        .filter(~pl.col("callpath").is_in(list(evidence.in_parallel_region)), pl.col("exclusive_ps") > 0)
        .join(regions, on="callpath")
        .join(used, on=["region", "location"], how="semi")
        .sort("location", "callpath")
        .collect()
    )


def _serial(evidence: Evidence, code: CodeOfProcesses) -> tuple[Int64, Int64]:
    """The code outside of parallel regions, before each call and behind the last one of each location; ps."""
    regions = (
        evidence.tables["thread_spans"]
        .join(first_threads(evidence).lazy().filter(pl.col("location") == pl.col("first")), on="location")
        .filter(pl.col("category").cast(pl.String) != "communication")
        .select("first", "end_ps", spent_ps=pl.col("end_ps") - pl.col("begin_ps"))
        .collect()
    )
    before, behind = code.sums(regions["first"], regions["end_ps"], regions["spent_ps"])
    return np.clip(code.before_ps - before, 0, None), np.clip(code.behind_ps - behind, 0, None)
