"""What makes a rank late at an operation: its time since the previous operation, compared with the first rank's.

    excess(a) = max(0, sum over operations of [T_last(a) - T_first(a)])     a: computing, working in calls, waiting,
                                                                               in calls that are not divided
    waiting   = excess(waiting) / sum over a of excess(a)

T_r(a) is what rank r spends on a from its leaving the operation before until it enters this one. Both do the work that
everybody has; what the last one has beyond that is what made it late. This is the delay of Böhme, Geimer, Wolf & Arnold
(Identifying the root causes of wait states, ICPP 2010) in its simplest form, the two ends of each operation only.

Where the operation before did not synchronize (a broadcast, say), what happened ahead of it is not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.meanwhile import Meanwhile, Near, meanwhile_of
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import Number

OPERATIONS = 256
"""Per place, those waited for longest: shares do not get more certain by more of them."""
MOST_RANKS = 16
"""Of either kind whose calls are read."""


@dataclass(frozen=True)
class Lateness:
    """What the last rank spends beyond the first one, since the operation before, over the operations of one place."""

    waiting: float
    """fraction of it that is waiting itself"""
    waits_in: str
    """the call in which the last ranks wait most"""
    total_ps: float

    @property
    def numbers(self) -> tuple[Number, ...]:
        """As evidence."""
        waits = f"of_it_waiting_itself[{self.waits_in}]" if self.waiting > 0 else "of_it_waiting_itself"
        return Number("more_than_first_rank_since_last_operation", self.total_ps, "ps"), Number(
            waits, self.waiting, "1"
        )


@dataclass(frozen=True)
class Ends:
    """The ranks that came last and first to the operations compared, and since when they were on their way."""

    late: pl.DataFrame
    """`callpath`, `location`, `begin_ps` and `end_ps` of the last ones"""
    early: pl.DataFrame
    """likewise of the first ones"""
    late_ranks: list[int]
    early_ranks: list[int]

    @property
    def wanted(self) -> tuple[tuple[pl.DataFrame, list[int]], ...]:
        """As `calls_near` takes them."""
        return (self.late, self.late_ranks), (self.early, self.early_ranks)


def ends_of(evidence: Evidence, operations: pl.DataFrame) -> Ends:
    """Who is compared.

    Arguments:
        operations: `callpath`, `location` that entered last, its `call` and `end_ps` when it entered, `first` location,
            its `first_call` and `begin_ps` when that entered; those that cost most first.
    """
    some = operations.group_by("callpath", maintain_order=True).head(OPERATIONS).drop_nulls(["first", "location"])
    some = some.filter(pl.col("first") != pl.col("location"))
    members = {
        role: some.group_by(role).agg(pl.len()).sort("len", role, descending=[True, False])[role].head(MOST_RANKS)
        for role in ("location", "first")
    }
    some = some.filter(*(pl.col(role).is_in(ranks.implode()) for role, ranks in members.items()))
    late = _since_before(evidence, some.select("callpath", "location", "call", "end_ps"))
    early = _since_before(evidence, some.select("callpath", location="first", call="first_call", end_ps="begin_ps"))
    both = late["begin_ps"].is_not_null() & early["begin_ps"].is_not_null()
    return Ends(late.filter(both), early.filter(both), members["location"].to_list(), members["first"].to_list())


def lateness_of(evidence: Evidence, ends: Ends, near: Near) -> dict[int, Lateness]:
    """Call path of a collective operation to the lateness of those that come last there."""
    spent = [
        _by_callpath(meanwhile_of(evidence, rows, ranks, by=("callpath", "location"), near=near))
        for rows, ranks in ends.wanted
    ]
    found = {}
    for callpath, last in spent[0].items():
        if callpath in spent[1]:
            found[callpath] = _lateness(last, spent[1][callpath])
    return {callpath: lateness for callpath, lateness in found.items() if lateness.total_ps > 0}


def _since_before(evidence: Evidence, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with `begin_ps`: when the location left the collective operation before that of `call`; null for the
    first."""
    before = (
        evidence.tables["collectives"]
        .filter(pl.col("location").is_in(rows["location"].unique().implode()))
        .select("location", "call", "leave_ps")
        .sort("call")
        .select("call", begin_ps=pl.col("leave_ps").shift(1).over("location"))
        .unique("call", keep="first", maintain_order=True)  # of several operations of one call, the first
        .collect()
    )
    return rows.join(before, on="call", how="left", maintain_order="left").drop("call")


def _by_callpath(states: dict[tuple[int, ...], Meanwhile]) -> dict[int, list[Meanwhile]]:
    found: dict[int, list[Meanwhile]] = {}
    for (callpath, _), state in states.items():
        found.setdefault(callpath, []).append(state)
    return found


def _lateness(last: list[Meanwhile], first: list[Meanwhile]) -> Lateness:
    def spent(states: list[Meanwhile]) -> np.ndarray:
        shares = [
            (state.share("computing"), state.share("working"), state.waiting, state.share("inside")) for state in states
        ]
        totals = np.array([state.total_ps for state in states], dtype=np.float64)
        return np.asarray(totals @ np.array(shares))

    excess = np.maximum(spent(last) - spent(first), 0.0)
    waits: dict[str, float] = {}
    for state in last:
        for region, fraction in state.waits.items():
            waits[region] = waits.get(region, 0.0) + fraction * state.total_ps
    total = float(excess.sum())
    return Lateness(
        waiting=float(excess[2]) / total if total > 0 else 0.0,
        waits_in=max(waits, key=lambda region: waits[region], default=""),
        total_ps=total,
    )
