"""Thread imbalance: the threads of a parallel region come to its barriers at different times, and wait.

For each parallel region and process, with the waits w_t of the n threads of each execution (`evidence.thread_teams`),

    saved = sum over executions of mean(w)

is what equal work between each two barriers saves, unless that is what noise does anyway. With work that varies by
`NOISE`, the last of n threads comes NOISE sqrt(2 ln n) of the work after the mean at most, as expected. What exceeds
that is unequal work, be it the same thread each time or another one. Less is, too, where the same threads are late each
time: if the largest sum of a thread's lags is beyond chance (`CERTAIN` standard deviations of the sum of lags as they
vary from execution to execution); then this sum is what is saved.

Gain: what the program saves with gaps between its calls that are so much shorter, at most what all processes save
together: where another one has unequal threads each time, the others wait for it in turn. Where nothing is replayed,
the largest saved of a process. Waiting of others in MPI that this removes is charged here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.replayed import saving_replayed
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.thread_teams import executions, first_threads, in_gaps
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving
from logpost.analyzer.findings.finding import HIGH, MIN_SAMPLES, MIN_SHARE, NOISE, Finding, Number, worst_hit
from logpost.analyzer.findings.hypothesis import removed

CERTAIN = 3.0
"""Standard deviations by which the latest thread must differ from the mean: less is noise that happened to add up."""
HEAVY = 0.5
"""A thread is named with the latest one if its lag is at least this part of the largest; a process, if it could save
at least this part of the largest saved."""
REGIONS = 3
"""Most regions reported."""


@dataclass(frozen=True)
class Unequal:
    """A parallel region of a process whose threads come at different times; ps."""

    first: int
    saved: float
    """what equal work saves"""
    waits: int
    """of its threads together"""
    work: float
    """mean of its threads"""
    lags: dict[int, float]
    """location of a thread to how much later than the mean it came, over all executions"""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per parallel region that could gain `MIN_SHARE`, the costliest ones."""
    if evidence.tables["threads"].head(1).collect().is_empty():
        return
    rows = executions(evidence)
    regions = []
    for (callpath,), some in rows.partition_by("callpath", as_dict=True).items():
        unequal = [one for of in some.partition_by("first") if (one := _unequal(of)) is not None]
        most = max((one.saved for one in unequal), default=0.0)
        if most >= evidence.least_ps:
            regions.append((most, int(callpath), some, unequal))
    for _, callpath, some, unequal in sorted(regions, key=lambda region: (-region[0], region[1]))[:REGIONS]:
        found = _finding(evidence, callpath, some, unequal)
        if found is not None:
            yield found


def _unequal(of: pl.DataFrame) -> Unequal | None:
    """The region on one process; None where its threads are as equal as noise lets them be."""
    mean = pl.col("wait_ps").mean().over("instance")
    rows = of.with_columns(lag=mean - pl.col("wait_ps"))
    each = rows.group_by("instance").agg(pl.col("wait_ps").mean(), pl.col("work_ps").mean(), n=pl.len())
    threads = int(each["n"].max())  # type: ignore[arg-type]
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


def _finding(evidence: Evidence, callpath: int, rows: pl.DataFrame, unequal: list[Unequal]) -> Finding | None:
    saved = {one.first: one.saved for one in unequal}
    worst = max(unequal, key=lambda one: (one.saved, -one.first))
    named = [one for one in unequal if one.saved >= HEAVY * worst.saved]
    saving = _saving(evidence, rows, saved)
    program = evidence.slowest_program_ps
    gain = worst.saved / program if saving is None else min(sum(saved.values()) / program, saving.gain)
    if gain < MIN_SHARE:
        return None
    graph = graph_of(evidence)
    thread_of = dict(first_threads(evidence).select("location", "thread").iter_rows())
    most = max(worst.lags.values())
    late = sorted(thread_of[location] for location, lag in worst.lags.items() if lag >= HEAVY * most)
    in_turn = most < HEAVY * worst.saved
    certainty = "times of threads are measured"
    confidence, certainty = evidence.confidence(HIGH, certainty)
    first, last = _windows(evidence, rows.filter(pl.col("first").is_in(list(saved))))
    return Finding(
        kind="thread_imbalance",
        named=evidence.named(one.first for one in named),
        region=_barrier(evidence, callpath, [one.first for one in named]),
        cause_region=evidence.region(callpath),
        evidence=(
            Number("threads", len(worst.lags), "count"),
            *(() if in_turn else (Number("late_thread", thread, "thread") for thread in late)),
            Number("executions", rows.filter(pl.col("first") == worst.first)["instance"].n_unique(), "count"),
            Number("threads_wait", sum(one.waits for one in unequal), "ps"),
            *evidence.rank_numbers("worst_rank", [worst.first]),
            Number("saved_if_equal", worst.saved, "ps"),
            Number("thread_balance", worst.work / (worst.work + worst.saved), "1"),
        ),
        confidence=confidence,
        certainty=graph.stated(certainty) if saving is not None else certainty,
        callpath=callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(sum(saved.values())),
        share=min(1.0, worst_hit(saved, evidence.slowest_program_ps)),
        gain=gain,
        removes={} if saving is None else removed(evidence, graph, saving),
        cure=None if saving is None else saving.cure,
    )


def _saving(evidence: Evidence, rows: pl.DataFrame, saved: dict[int, float]) -> Saving | None:
    """What the program saves; None where no call lets it be replayed."""
    graph = graph_of(evidence)
    if not graph.count:
        return None
    each = (
        rows.filter(pl.col("first").is_in(list(saved)))
        .group_by("first", "instance")
        .agg(pl.col("end_ps").max(), less=pl.col("wait_ps").mean())
        .with_columns(whole=pl.col("less").sum().over("first"))
        .sort("first", "instance")
    )
    part = each["first"].replace_strict(saved, return_dtype=pl.Float64) / each["whole"]
    less = in_gaps(graph, each["first"], each["end_ps"], each["less"] * part)
    return saving_replayed(evidence, graph, Hypothesis(gap_ps=(graph.gap_ps - less).clip(min=0)))


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
    ends = (int(waiting["begin_ps"].min()) // width, int(waiting["end_ps"].max()) // width)  # type: ignore[arg-type]
    return min(ends[0], evidence.last_window), min(ends[1], evidence.last_window)
