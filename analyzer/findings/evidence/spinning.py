"""Queries for messages, and how close they must follow each other to be nothing but a wait.

A loop that asks until its message is there (Test, Iprobe) waits, whatever it does in between; one that shares its work
out between queries works. The trace shows no events in between, but two things tell them apart:

- Queries closer than a latency: nobody shares work so finely.
- Where user functions were recorded: a function whose own time lies between its queries, which follow each other within
  what a message takes. Work would stand in the functions that it calls, or before and behind the loop as well.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.machine_values import value_ps
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.wide import exact_sum
from logpost.replay.columns import Int64, UInt8

POLLS = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Probe", "MPI_Mprobe")
"""Beginnings of the names of queries for messages."""
BLOCKING_POLLS = ("MPI_Probe", "MPI_Mprobe")
"""Those that do not return without one."""
SPIN_PS = 10_000_000
"""Queries closer than this wait in between, where the machine's latency is not known."""
NOTHING_ELSE = 0.1
"""Part of a function's own time that may lie elsewhere than between its queries."""


def polling_places(evidence: Evidence) -> set[int]:
    """Call paths of queries for messages."""
    return {callpath for callpath in range(evidence.callpaths.height) if evidence.region(callpath).startswith(POLLS)}


def queries(evidence: Evidence) -> UInt8:
    """By call path: 1 where it asks for messages, 2 where it waits for them."""
    found = np.zeros(evidence.callpaths.height, dtype=np.uint8)
    for callpath in polling_places(evidence):
        found[callpath] = 2 if evidence.region(callpath) in BLOCKING_POLLS else 1
    return found


def spin_ps(evidence: Evidence, calls: pl.DataFrame, transport_ps: Int64, *, whole: bool) -> int:
    """Queries that follow each other within this time wait in between.

    Args:
        evidence: of the run.
        calls: (location, callpath, enter_ps, leave_ps) in the order of each location.
        transport_ps: what each message takes once both ends are ready.
        whole: the calls are all of the program.
    """
    locality = "other_node" if evidence.manifest.hosts.nodes > 1 else "same_node"
    known = int(value_ps(evidence.manifest.machine, locality, "L", 0) or SPIN_PS)
    places = {place for place in polling_places(evidence) if evidence.region(place) not in BLOCKING_POLLS}
    if not places or not whole or not transport_ps.size:
        return known
    gaps = (
        calls.select(
            "callpath",
            gap_ps=pl.col("enter_ps") - pl.col("leave_ps").shift(1).over("location"),
            again=pl.col("callpath") == pl.col("callpath").shift(1).over("location"),
        )
        .filter("again", pl.col("callpath").is_in(list(places)))
        .with_columns(function=pl.col("callpath").replace_strict({place: evidence.parent(place) for place in places}))
    )
    longest = int(np.median(transport_ps))
    for (function,), rows in gaps.partition_by("function", as_dict=True).items():
        own = exact_sum(evidence.user_profile.filter(pl.col("callpath") == function)["exclusive_ps"])
        between = exact_sum(rows["gap_ps"])
        most = int(rows["gap_ps"].quantile(0.95) or 0)
        if known < most <= longest and between >= (1 - NOTHING_ELSE) * own > 0:
            known = most
    return known
