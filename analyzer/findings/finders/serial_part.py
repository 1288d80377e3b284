"""Serial part: the first thread computes outside of parallel regions, and the other threads of its process are idle.

With S the time of a process in a user region outside of parallel regions, in the program and outside of communication
calls, Amdahl's law says what n threads save that share it:

    saved = S (1 - 1/n)

The profile knows S of a region over the whole run only; of the program it is in proportion to all serial time there.
Calls that drive an accelerator (CUDA, HIP, OpenCL) are no work that threads could share.

Gain: what the program saves with gaps between its calls that are so much shorter, at most the largest saved of a
process. Waiting of others in MPI that this removes is charged here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.replayed import saving_replayed
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.thread_teams import first_threads, in_gaps
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving
from logpost.analyzer.findings.finding import MEDIUM, MIN_SHARE, Finding, Number, worst_hit
from logpost.analyzer.findings.hypothesis import removed

HEAVY = 0.5
"""A process is named if it could save at least this part of the largest saved."""
REGIONS = 3
"""Most regions reported."""
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
    """One finding per user region that could gain `MIN_SHARE`, the costliest ones."""
    if evidence.tables["threads"].head(1).collect().is_empty():
        return
    by_callpath: dict[int, list[Serial]] = {}
    for one in _serial_regions(evidence):
        by_callpath.setdefault(one.callpath, []).append(one)
    costly = {
        callpath: found
        for callpath, found in by_callpath.items()
        if max(one.saved for one in found) >= evidence.least_ps
    }
    order = sorted(costly, key=lambda callpath: (-max(one.saved for one in costly[callpath]), callpath))
    for callpath in order[:REGIONS]:
        found = _finding(evidence, callpath, costly[callpath])
        if found is not None:
            yield found


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


def _finding(evidence: Evidence, callpath: int, found: list[Serial]) -> Finding | None:
    saved = {one.first: one.saved for one in found}
    worst = max(found, key=lambda one: (one.saved, -one.first))
    named = [one.first for one in found if one.saved >= HEAVY * worst.saved]
    saving = _saving(evidence, found)
    bound = worst.saved / evidence.slowest_program_ps
    gain = bound if saving is None else min(bound, saving.gain)
    if gain < MIN_SHARE:
        return None
    graph = graph_of(evidence)
    reason = "serial time is measured; whether its work can be shared is not known"
    confidence, certainty = evidence.confidence(MEDIUM, graph.stated(reason) if saving is not None else reason)
    idle = sum(one.time * (one.threads - 1) for one in found)
    return Finding(
        kind="serial_part",
        named=evidence.named(named),
        region=evidence.region(callpath),
        cause_region=evidence.region(callpath),
        evidence=(
            Number("threads", worst.threads, "count"),
            Number("serial", worst.time, "ps"),
            *evidence.rank_numbers("worst_rank", [worst.first]),
            Number("serial_share", worst.time / evidence.slowest_program_ps, "1"),
            Number("threads_idle", idle, "ps"),
            Number("saved_if_shared", worst.saved, "ps"),
        ),
        confidence=confidence,
        certainty=certainty,
        callpath=callpath,
        first_window=0,
        last_window=evidence.last_window,
        exposed_ps=round(sum(saved.values())),
        share=min(1.0, worst_hit(saved, evidence.slowest_program_ps)),
        gain=gain,
        removes={} if saving is None else removed(evidence, graph, saving),
        cure=None if saving is None else saving.cure,
    )


def _saving(evidence: Evidence, found: list[Serial]) -> Saving | None:
    """What the program saves; None where no call lets it be replayed."""
    graph = graph_of(evidence)
    if not graph.count:
        return None
    teams = first_threads(evidence)
    regions = (
        evidence.tables["thread_spans"]
        .join(teams.lazy().filter(pl.col("location") == pl.col("first")), on="location")
        .filter(pl.col("category").cast(pl.String) != "communication")
        .select("first", "end_ps", spent_ps=pl.col("end_ps") - pl.col("begin_ps"))
        .collect()
    )
    parallel = in_gaps(graph, regions["first"], regions["end_ps"], regions["spent_ps"])
    serial = (graph.gap_ps - parallel).clip(min=0)
    part = np.zeros(int(max(graph.location.max(initial=0), max(one.first for one in found))) + 1)
    for one in found:
        part[one.first] = one.part * (1.0 - 1.0 / one.threads)
    gaps = np.asarray(np.rint(graph.gap_ps - serial * part[graph.location]), dtype=np.int64)
    return saving_replayed(evidence, graph, Hypothesis(gap_ps=gaps))
