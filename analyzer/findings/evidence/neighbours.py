"""What a program saves if ranks waited at the fences of a window for those only that they exchange transfers with.

A replay of the fences alone: each rank takes from the end of one to the begin of the next what it took,
and each fence what it took after the last member had come, less the rounds of messages that neighbours do not need.
With N(i) the ranks that i puts to or gets from, or that do so with i, rank i leaves a fence once i and N(i) have come.
"""

from __future__ import annotations

import polars as pl

from logpost.analyzer.findings.evidence.tables import Evidence

MOST_CALLS = 100_000
"""Calls of fences replayed: the first ones. A program repeats itself before that."""


def saved_by_neighbours(evidence: Evidence, rounds_ps: float) -> float:
    """The fraction of the replayed time that is saved; 0 where nothing waits at fences.

    Arguments:
        evidence: of the run.
        rounds_ps: what the rounds beyond the first take in each fence.
    """
    calls = (
        evidence.tables["collectives"]
        .filter(pl.col("operation").cast(pl.String) == "Fence", pl.col("instance") >= 0)
        .select("instance", "location", "enter_ps", "leave_ps")
        .sort("enter_ps", "instance")
        .head(MOST_CALLS)
        .collect()
    )
    if calls.is_empty():
        return 0.0
    pairs = evidence.tables["transfers"].filter(pl.col("target") >= 0).select("location", "target").unique().collect()
    near: dict[int, set[int]] = {}
    for origin, target in pairs.iter_rows():
        near.setdefault(origin, set()).add(target)
        near.setdefault(target, set()).add(origin)
    left: dict[int, int] = {}
    now: dict[int, int] = {}
    for fence in calls.partition_by("instance", maintain_order=True):
        enters = dict(fence.select("location", "enter_ps").iter_rows())
        latest = max(enters.values())
        comes = {location: now.get(location, 0) + enter - left.get(location, 0) for location, enter in enters.items()}
        for location, leave in fence.select("location", "leave_ps").iter_rows():
            waits_for = (near.get(location, set()) | {location}) & comes.keys()
            took = max(0, leave - max(latest, enters[location]) - round(rounds_ps))
            now[location] = max(comes[one] for one in waits_for) + took
            left[location] = leave
    begin = int(calls["enter_ps"].to_numpy()[0])
    length, shorter = max(left.values()) - begin, max(now.values()) - begin
    return max(0.0, 1.0 - shorter / length) if length > 0 else 0.0
