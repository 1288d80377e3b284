"""Start-up skew: some ranks leave start-up later than others, which wait for them in the program.

A rank that is still in MPI_Init (or shmem_init) sends nothing and enters no collective operation. Whoever needs it
before waits, and that waiting is no fault of the program: it comes from the launch. It is a fact of the calls: for a
receive the time from its enter until its sender's start-up ends, for a collective operation the time until that of the
member that enters last. Times of several messages that overlap count once.

Gain: the program's time if all ranks left start-up together, at the end of the last one's: no rank's program is longer
than what is left of it. The run as a whole does not end earlier unless start-up itself becomes shorter.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import HIGH, MIN_SHARE, Finding, Number, worst_hit
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.location_names import owners

NAMED = 0.25
"""A rank is named if it is waited for at least this fraction of the time that the foremost one is."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run, where the worst-hit rank waits `MIN_SHARE` for ranks in start-up."""
    starts = _starts(evidence)
    ends: list[int] = starts["until_ps"].to_list()
    if evidence.manifest.region_of_interest is not None or len(set(ends)) < 2:
        return  # a region of interest begins later than the program
    first, last = min(ends), max(ends)
    waits = _waits(evidence, starts.lazy(), last)
    lost = dict(waits.group_by("location").agg(wide_sum("time")).sort("location").iter_rows())
    if not evidence.matters(lost):
        return
    gain = _gain(evidence, lost)
    if gain < MIN_SHARE:
        return
    by_late = dict(waits.group_by("late").agg(wide_sum("time")).sort("late").iter_rows())
    foremost = [process for process, time in by_late.items() if time >= NAMED * max(by_late.values())]
    late = starts.filter(pl.col("late").is_in(foremost))["location"].to_list()
    most = max(lost.values())
    places = waits.group_by("callpath").agg(wide_sum("time")).sort("time", "callpath", descending=[True, False])
    place = int(places["callpath"][0])
    windows = evidence.active_windows(evidence.maybe(["late_sender", "collective_wait"]), lost)
    confidence, certainty = evidence.confidence(HIGH, "the end of each rank's start-up and the calls are measured")
    charges = waits.group_by("location", "callpath").agg(wide_sum("time")).sort("location", "callpath")
    yield Finding(
        kind="start_up_skew",
        named=evidence.named([*lost, *late]),
        region=evidence.region(place),
        cause_region=_start_up(evidence),
        evidence=(
            Number("start_up_ends_apart", last - first, "ps"),
            *evidence.rank_numbers("late_rank", late),
            *evidence.rank_numbers("waiting_rank", [one for one, time in lost.items() if time >= NAMED * most]),
            *evidence.exposed_numbers({location: float(time) for location, time in lost.items()}),
        ),
        confidence=confidence,
        certainty=certainty,
        callpath=place,
        first_window=windows[0],
        last_window=windows[1],
        exposed_ps=sum(lost.values()),
        share=worst_hit(lost, evidence.slowest_program_ps),
        gain=gain,
        removes={(location, callpath): float(time) for location, callpath, time in charges.iter_rows()},
    )


def _starts(evidence: Evidence) -> pl.DataFrame:
    """(location, begin_ps, late, until_ps): when the program of a location begins, the location that is its rank, and
    when that leaves start-up. Threads leave it with their process; one without a rank is its own."""
    rows = evidence.locations.with_columns(owner=owners(evidence.locations))
    ranks = rows.filter(pl.col("rank") >= 0).unique("owner", keep="first", maintain_order=True)
    of_rank = ranks.select("owner", late="location", until_ps="begin_ps")
    return rows.join(of_rank, on="owner", how="left", maintain_order="left").select(
        "location",
        "begin_ps",
        late=pl.coalesce("late", "location"),
        until_ps=pl.coalesce("until_ps", "begin_ps"),
    )


def _waits(evidence: Evidence, starts: pl.LazyFrame, last: int) -> pl.DataFrame:
    """(location, callpath, late, time): what a location waits at a place for a rank that is in start-up; ps.

    Of intervals that overlap on a location, the one that begins first, and what the others have beyond it.
    """
    received = (
        evidence.tables["messages"]
        .filter(pl.col("recv_enter_ps") < last)
        .select(
            location="recv_location",
            callpath="recv_callpath",
            needed="send_location",
            begin="recv_enter_ps",
            end="recv_leave_ps",
        )
    )
    # A member waits until another one enters: the last one, the root, or the last of the lower ranks.
    members = evidence.tables["collectives"].filter(pl.col("instance") >= 0)
    entered = members.select("instance", needed="location", end="enter_ps").unique(("instance", "end"), keep="first")
    met = (
        members.filter(pl.col("enter_ps") < last, pl.col("wait_ps") > 0)
        .select("instance", "location", "callpath", begin="enter_ps", end=pl.col("enter_ps") + pl.col("wait_ps"))
        .join(entered, on=("instance", "end"))
        .select("location", "callpath", "needed", "begin", "end")
    )
    rows = (
        pl.concat([received, met])
        .join(starts.select("location", "begin_ps", own="late"), on="location")  # start-up may itself be an operation
        .join(starts.select("late", "until_ps", needed="location"), on="needed")
        .filter(pl.col("late") != pl.col("own"))
        .with_columns(begin=pl.max_horizontal("begin", "begin_ps"), end=pl.min_horizontal("end", "until_ps"))
        .filter(pl.col("end") > pl.col("begin"))
        .sort("location", "begin", "end", "late", descending=[False, False, True, False])
        .with_columns(before=pl.col("end").cum_max().shift(1).over("location"))
        .with_columns(time=pl.col("end") - pl.max_horizontal("begin", "before"))
        .filter(pl.col("time") > 0)
        .select("location", "callpath", "late", "time")
    )
    return rows.collect()


def _gain(evidence: Evidence, lost: dict[int, int]) -> float:
    left = max((time - lost.get(location, 0) for location, time in evidence.program_ps.items()), default=0)
    return max(0.0, 1.0 - left / evidence.slowest_program_ps)


def _start_up(evidence: Evidence) -> str:
    """The region in which ranks start up; empty where none was recorded."""
    names = evidence.callpaths.filter(pl.col("kind") == "init_finalize")["name"].to_list()
    return next((name for name in names if "init" in name.lower()), "")
