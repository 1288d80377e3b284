"""Load imbalance: some ranks compute longer than the others, which then wait for them.

With c_i the compute time of rank i (outside communication calls, its `compute` category), the slowest sets the pace and
each other rank has max(c) - c_i to wait somewhere. The exposed time is what they really do wait, at most that:

    exposed = sum_i min(max(c) - c_i, waiting_i)

waiting_i being rank i's exposed late sender, late receiver, queueing, contention and collective wait (ps). The region
is the user region in which the slowest rank's own time exceeds the mean most.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.evidence import WAITING, Evidence
from logpost.analyzer.findings.finding import Finding, worst_hit
from logpost.analyzer.reporting.units import percent_text, time_text

HEAVY = 0.5
"""A rank is named with the slowest if its compute time lies in the upper half of the way from the mean to the
maximum."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """At most one finding: the whole run's imbalance."""
    compute = evidence.exposed_of(["compute"])
    if len(compute) < 2:
        return
    slowest = max(compute, key=lambda location: (compute[location], -location))
    most, mean = compute[slowest], sum(compute.values()) / len(compute)
    waiting = evidence.exposed_of(WAITING)
    charged = {location: float(min(most - time, waiting[location])) for location, time in compute.items()}
    share = worst_hit(charged, evidence.slowest_wall_ps)
    if not evidence.matters(charged) or most - mean < evidence.least_ps:
        return
    heavy = [location for location, time in compute.items() if time >= mean + HEAVY * (most - mean)]
    callpath, region, text = _region(evidence, slowest, len(compute))
    least = min(compute, key=lambda location: (compute[location], location))
    first, last = evidence.active_windows(WAITING, charged)
    waits_in = evidence.where(WAITING, [loc for loc in charged if charged[loc] > 0])[1]
    yield Finding(
        kind="load_imbalance",
        title=f"{evidence.ranks_noun(heavy)} compute{'s' if len(heavy) == 1 else ''} longer than the others"
        + (f" in {region}" if region else "")
        + f": {time_text(most)} at most, {time_text(mean)} on average",
        ranks=evidence.ranks_text(heavy),
        region=waits_in,
        cause_region=region,
        evidence=f"compute time {time_text(most)} on {evidence.ranks_noun([slowest])}, {time_text(mean)} on average, "
        f"{time_text(compute[least])} on {evidence.ranks_noun([least])}; load balance "
        f"{percent_text(mean / most)}{text}; "
        f"the others wait {time_text(sum(charged.values()))} of the difference",
        advice="Give the ranks named less work (weighted or finer partition, work stealing), or see what is "
        "slower there: "
        "another node, binding, input.",
        confidence=evidence.confidence(
            "high" if region else "medium",
            "compute time is measured" + ("" if region else ", but no user region was recorded to say where"),
        ),
        callpath=callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(sum(charged.values())),
        share=share,
    )


def _region(evidence: Evidence, slowest: int, ranks: int) -> tuple[int, str, str]:
    rows = (
        evidence.user_profile.group_by("callpath")
        .agg(
            own=pl.col("exclusive_ps").filter(pl.col("location") == slowest).sum(),
            mean=pl.col("exclusive_ps").sum() / ranks,
        )
        .with_columns(excess=pl.col("own") - pl.col("mean"))
        .filter(pl.col("excess") > 0)
        .sort("excess", "callpath", descending=[True, False])
    )
    if rows.is_empty():
        return -1, "", ""
    callpath, own, mean, _ = rows.row(0)
    region = evidence.region(callpath)
    return callpath, region, f"; in {region} itself {time_text(own)} there, {time_text(mean)} on average"
