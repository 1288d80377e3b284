"""Thread imbalance: the threads of a parallel region arrive at its barriers at different times, and wait.

Cure: equal work of the threads between each two barriers. With the waits w_t of the n threads of each execution
(`evidence.thread_teams`) it ends mean(w) earlier, and in the graph the code that it is in is shorter by that.

It applies unless that is what noise does anyway. With work that varies by `NOISE`, the last of n threads arrives NOISE
sqrt(2 ln n) of the work after the mean at most, as expected. What exceeds that is unequal work, of the same thread each
time or of another one. Less is, too, where the same thread arrives last each time: if the largest sum of a thread's
lags is beyond chance (`CERTAIN` standard deviations of the sum of lags as they vary from execution to execution); then
this sum is what is saved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, offered
from logpost.analyzer.findings.cures.program import Program
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.thread_teams import REGIONS, CodeOfProcesses, executions, first_threads
from logpost.analyzer.findings.finding import CERTAIN, HIGH, MIN_SAMPLES, NOISE, Finding, Number, worst_hit
from logpost.analyzer.findings.wording.facts import HEAVY

KIND = "thread_imbalance"


@dataclass(frozen=True)
class Unequal:
    """A parallel region of a process whose threads arrive at different times; ps."""

    first: int
    saved: float
    """what equal work saves"""
    waits: int
    """of its threads together"""
    work: float
    """mean of its threads"""
    lags: dict[int, float]
    """location of a thread to how much later than the mean it arrives, over all executions"""


@dataclass(frozen=True)
class Region:
    """A parallel region with the processes on which it is unequal."""

    callpath: int
    rows: pl.DataFrame
    """its executions, of these processes"""
    unequal: list[Unequal]

    @property
    def worst(self) -> Unequal:
        """The process that could save most."""
        return max(self.unequal, key=lambda one: (one.saved, -one.first))

    @property
    def saved(self) -> dict[int, float]:
        """By first thread; ps."""
        return {one.first: one.saved for one in self.unequal}

    @property
    def named(self) -> list[int]:
        """First threads of the processes that could save nearly as much as the worst one."""
        return [one.first for one in self.unequal if one.saved >= HEAVY * self.worst.saved]


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a parallel region, the costliest ones."""
    if evidence.tables["threads"].head(1).collect().is_empty():
        return
    regions = {one.callpath: one for one in _regions(evidence)}
    for found in offered(evidence, partial(propose, evidence, list(regions.values())), of_messages=False):
        region = regions[found.callpath]
        first, last = _windows(evidence, region.rows)
        yield replace(
            found,
            region=_barrier(evidence, region.callpath, region.named),
            cause_region=found.region,
            first_window=first,
            last_window=last,
            exposed_ps=round(sum(region.saved.values())),
            share=min(1.0, worst_hit(region.saved, evidence.slowest_program_ps)),
        )


def propose(evidence: Evidence, regions: list[Region], program: Program) -> Iterator[Proposal]:
    """Each region with equal threads."""
    code = CodeOfProcesses(program)
    thread_of = dict(first_threads(evidence).select("location", "thread").iter_rows())
    for region in regions:
        worst = region.worst
        most = max(worst.lags.values())
        executed = region.rows.filter(pl.col("first") == worst.first)["instance"].n_unique()
        late = sorted(thread_of[location] for location, lag in worst.lags.items() if lag >= HEAVY * most)
        by_turns = most < HEAVY * worst.saved
        yield Proposal(
            kind=KIND,
            callpath=region.callpath,
            at_fault=frozenset(region.named),
            change=code.shorter(*code.sums(*_saved(region))),
            numbers=(
                Number("threads", len(worst.lags), "count"),
                *(() if by_turns else (Number("late_thread", thread, "thread") for thread in late)),
                Number("executions", executed, "count"),
                Number("threads_wait", sum(one.waits for one in region.unequal), "ps"),
                *evidence.rank_numbers("worst_rank", [worst.first]),
                Number("saved_if_equal", worst.saved, "ps"),
                Number("thread_balance", worst.work / (worst.work + worst.saved), "1"),
            ),
            confidence=HIGH,
            certainty="times of threads are measured",
        )


def _regions(evidence: Evidence) -> list[Region]:
    """The costliest ones."""
    found = []
    for (callpath,), rows in executions(evidence).partition_by("callpath", as_dict=True).items():
        unequal = [one for of in rows.partition_by("first") if (one := _unequal(of)) is not None]
        if max((one.saved for one in unequal), default=0.0) >= evidence.least_ps:
            firsts = [one.first for one in unequal]
            found.append(Region(int(callpath), rows.filter(pl.col("first").is_in(firsts)), unequal))
    return sorted(found, key=lambda one: (-one.worst.saved, one.callpath))[:REGIONS]


def _saved(region: Region) -> tuple[pl.Series, pl.Series, pl.Series]:
    """(first thread, end, time) of what each execution is shorter by; ps."""
    each = (
        region.rows.group_by("first", "instance")
        .agg(pl.col("end_ps").max(), less=pl.col("wait_ps").mean())
        .with_columns(whole=pl.col("less").sum().over("first"))
        .sort("first", "instance")
    )
    part = each["first"].replace_strict(region.saved, return_dtype=pl.Float64) / each["whole"]
    return each["first"], each["end_ps"], each["less"] * part


def _unequal(of: pl.DataFrame) -> Unequal | None:
    """The region on one process; None where its threads are as equal as noise lets them be."""
    mean = pl.col("wait_ps").mean().over("instance")
    rows = of.with_columns(lag=mean - pl.col("wait_ps"))
    each = rows.group_by("instance").agg(pl.col("wait_ps").mean(), pl.col("work_ps").mean(), n=pl.len())
    threads = each.select(pl.col("n").max()).item()
    if threads < 2:
        return None
    saved, work = float(each["wait_ps"].sum()), float(each["work_ps"].sum())
    by_thread = rows.group_by("location").agg(
        lag=pl.col("lag").sum(), chance=pl.col("lag").std() * pl.len().sqrt(), n=pl.len()
    )
    latest = by_thread.sort("lag", "location", descending=[True, False]).row(0, named=True)
    if saved <= NOISE * math.sqrt(2.0 * math.log(threads)) * work:
        if latest["n"] < MIN_SAMPLES or latest["lag"] <= CERTAIN * latest["chance"]:
            return None
        saved = latest["lag"]
    lags = {int(location): float(lag) for location, lag in by_thread.select("location", "lag").iter_rows()}
    return Unequal(int(of["first"][0]), saved, int(of["wait_ps"].sum()), work, lags)


def _barrier(evidence: Evidence, callpath: int, firsts: list[int]) -> str:
    """The barrier of the region at which threads wait most."""
    threads = first_threads(evidence).filter(pl.col("first").is_in(firsts))["location"]
    waits = (
        evidence.tables["threads"]
        .filter(pl.col("callpath") == callpath, pl.col("category").cast(pl.String) == "imbalance")
        .filter(pl.col("location").is_in(threads.implode()))
        .group_by("place")
        .agg(pl.col("spent_ps").sum())
        .sort("spent_ps", "place", descending=[True, False])
        .collect()
    )
    return evidence.region(int(waits["place"][0])) if waits.height else ""


def _windows(evidence: Evidence, rows: pl.DataFrame) -> tuple[int, int]:
    """First and last window in which threads wait there."""
    width = max(1, evidence.manifest.windows.width_ps)
    waiting = rows.filter(pl.col("wait_ps") > 0)
    first, last = waiting.select(pl.col("begin_ps").min(), pl.col("end_ps").max()).row(0)
    return min(first // width, evidence.last_window), min(last // width, evidence.last_window)
