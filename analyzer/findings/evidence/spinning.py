"""Queries for messages, and how close they must follow each other to be nothing but a wait.

A loop that asks until its message is there (Test, Iprobe) waits, whatever it does in between; one that shares its work
out between queries works. The trace shows no events in between, but two things tell them apart:

- Queries closer than a latency: nobody shares work so finely.
- Where user functions were recorded: a function whose own time lies between its queries, which follow each other within
  what a message takes, or of which the last one of a row mostly has the message. Work would stand in the functions that
  it calls, or before and behind the loop as well: it is shared out whether the message has come or not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence.machine_values import value_ps
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.run.wide import exact_sum
from logpost.replay.columns import Int64, UInt8

POLLS = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Probe", "MPI_Mprobe")
"""Beginnings of the names of queries for messages."""
BLOCKING_POLLS = ("MPI_Probe", "MPI_Mprobe")
"""Those that do not return without one."""
SPIN_PS = 10_000_000
"""Queries closer than this wait in between, where the machine's latency is not known."""
NOTHING_ELSE = 0.1
"""Part of a function's own time that may lie elsewhere than between its queries, and of its rows of queries those that
may end without the message."""
AS_LONG = 2.0
"""What lies between two queries is as long each time: where it takes so many times as long as mostly, it is another
thing, as between two rows of queries."""


def polling_places(evidence: Evidence) -> set[int]:
    """Call paths of queries for messages."""
    return {callpath for callpath in range(evidence.callpaths.height) if evidence.region(callpath).startswith(POLLS)}


def queries(evidence: Evidence) -> UInt8:
    """By call path: 1 where it asks for messages, 2 where it waits for them."""
    found = np.zeros(evidence.callpaths.height, dtype=np.uint8)
    for callpath in polling_places(evidence):
        found[callpath] = 2 if evidence.region(callpath) in BLOCKING_POLLS else 1
    return found


def spin_ps(
    evidence: Evidence, calls: pl.DataFrame, transport_ps: Int64, received: npt.NDArray[np.integer], *, whole: bool
) -> int:
    """Queries that follow each other within this time wait in between.

    Args:
        evidence: of the run.
        calls: (location, callpath, enter_ps, leave_ps) in the order of each location.
        transport_ps: what each message takes once both ends are ready.
        received: the rows of the calls that get a message.
        whole: the calls are all of the program.
    """
    locality = "other_node" if evidence.manifest.hosts.nodes > 1 else "same_node"
    known = int(value_ps(evidence.manifest.machine, locality, "L", 0) or SPIN_PS)
    places = {place for place in polling_places(evidence) if evidence.region(place) not in BLOCKING_POLLS}
    if not places or not whole or not transport_ps.size:
        return known
    functions = _by_function(evidence, calls, places, received)
    longest = int(np.median(transport_ps))
    spins = {one.most_ps for one in functions if one.does_nothing_else and (one.most_ps <= longest or one.asks_until)}
    # One bound holds for all: whoever works between queries that are as close stays a worker.
    works = min((one.least_ps for one in functions if one.most_ps not in spins), default=None)
    return max([known, *(most for most in spins if works is None or most < works)])


@dataclass(frozen=True)
class _Queries:
    """Of one function, those that follow each other in a row."""

    least_ps: int
    """between two of them, as all but the shortest"""
    most_ps: int
    """likewise, as the longest that is as long as others"""
    does_nothing_else: bool
    asks_until: bool
    """Most rows end with the message: its last query has it, or the call behind that"""


def _by_function(
    evidence: Evidence, calls: pl.DataFrame, places: set[int], received: npt.NDArray[np.integer]
) -> list[_Queries]:
    gets = np.zeros(calls.height + 1, dtype=np.bool_)
    gets[received] = True
    rows = (
        calls.select(
            "callpath",
            gap_ps=pl.col("enter_ps") - pl.col("leave_ps").shift(1).over("location"),
            again=pl.col("callpath") == pl.col("callpath").shift(1).over("location"),
            ends=pl.col("callpath") != pl.col("callpath").shift(-1).over("location"),
            gets=pl.Series(gets[:-1]) | (pl.Series(gets[1:]) & (pl.col("location") == pl.col("location").shift(-1))),
        )
        .filter(pl.col("callpath").is_in(list(places)))
        .with_columns(
            pl.col("again").fill_null(value=False),
            pl.col("ends").fill_null(value=True),
            function=pl.col("callpath").replace_strict({place: evidence.parent(place) for place in places}),
        )
    )
    found = []
    for (function,), asked in rows.partition_by("function", as_dict=True).items():
        gaps = asked.filter("again")["gap_ps"]
        gaps = gaps.filter(gaps <= AS_LONG * (gaps.quantile(0.95) or 0.0))
        if gaps.is_empty():
            continue
        own = exact_sum(evidence.user_profile.filter(pl.col("callpath") == function)["exclusive_ps"])
        last = asked.filter("ends")["gets"]
        found.append(
            _Queries(
                least_ps=int(gaps.quantile(0.05) or 0),
                most_ps=int(gaps.sort()[-1]),
                does_nothing_else=exact_sum(gaps) >= (1 - NOTHING_ELSE) * own > 0,
                asks_until=float(last.cast(pl.Float64).mean() or 0.0) >= 1 - NOTHING_ELSE,
            )
        )
    return found
