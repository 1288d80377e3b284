"""Collective wait: ranks that arrive early at a collective operation wait for the last one.

Per place in the code: the exposed collective wait of the calls there, and who the others waited for. In one operation
the wait of a member ends when the last member that it needs has entered; that member is the one whose enter is that
moment.
Its waits are charged to it, and the user region in which it spends more of its own time than the others do is named as
the cause.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.evidence import Evidence
from logpost.analyzer.findings.finding import MIN_SAMPLES, MIN_SHARE, Finding, worst_hit
from logpost.analyzer.reporting.units import count_text, percent_text, time_text

MAINLY = 0.5
"""One rank is named as the cause of more than half of the wait; else the ranks take turns."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per call path whose collective operations cost the worst-hit rank at least `MIN_SHARE`."""
    if not evidence.worth_a_look(["collective_wait"], MIN_SHARE):
        return
    places = evidence.exposure.filter(pl.col("category") == "collective_wait", pl.col("exposed_ps") > 0)
    costly = (
        places.group_by("callpath")
        .agg(pl.col("exposed_ps").max())
        .filter(pl.col("exposed_ps") >= MIN_SHARE * evidence.slowest_wall_ps)
        .sort("exposed_ps", descending=True)
    )
    if costly.is_empty():
        return
    delays = _delays(evidence)
    for callpath in costly["callpath"]:
        rows = places.filter(pl.col("callpath") == callpath)
        exposed = {int(location): float(time) for location, time in rows.select("location", "exposed_ps").iter_rows()}
        blamed = delays.filter(pl.col("callpath") == callpath)
        yield _finding(evidence, int(callpath), exposed, blamed)


def _delays(evidence: Evidence) -> pl.DataFrame:
    """(callpath, late location) with the waits that its late arrival causes and in how many operations; ps."""
    members = evidence.tables["collectives"].filter(pl.col("instance") >= 0)
    ends = pl.col("enter_ps") + pl.col("wait_ps")
    operations = (
        members.group_by("instance")
        .agg(
            awaited=ends.filter(pl.col("wait_ps") > 0).max(),
            wait_ps=pl.col("wait_ps").sum(),
            location=pl.col("location"),
            enter_ps=pl.col("enter_ps"),
            callpath=pl.col("callpath").filter(pl.col("wait_ps") > 0).first(),
        )
        .filter(pl.col("wait_ps") > 0)
    )
    late = (
        operations.explode("location", "enter_ps")
        .with_columns(off=(pl.col("enter_ps") - pl.col("awaited")).abs())
        .sort("instance", "off", "location")
        .group_by("instance", maintain_order=True)
        .first()
    )
    return (
        late.group_by("callpath", "location")
        .agg(wait_ps=pl.col("wait_ps").sum(), operations=pl.len())
        .sort("wait_ps", "location", descending=[True, False])
        .collect()
    )


def _finding(evidence: Evidence, callpath: int, exposed: dict[int, float], blamed: pl.DataFrame) -> Finding:
    operation = evidence.region(callpath) or "a collective operation"
    total = sum(exposed.values())
    all_waits = int(blamed["wait_ps"].sum())
    operations = int(blamed["operations"].sum())
    cause = who = ""
    named: list[int] = []
    if all_waits > 0:
        last = int(blamed["location"][0])
        part = int(blamed["wait_ps"][0]) / all_waits
        cause = evidence.delaying_region(last, callpath)
        named = [last] if part > MAINLY else []
        where = cause or evidence.code_before(callpath)
        who = (
            f"; {evidence.ranks_noun([last])} comes last for {percent_text(part)} of the wait"
            + (f", delayed in {where}" if named and where else "")
            + ("" if named else ", so the ranks take turns in being late")
        )
    worst = max(exposed, key=lambda location: exposed[location])
    first, last_window = evidence.active_windows(["collective_wait"], exposed)
    waiting = evidence.ranks_noun(exposed)
    title = f"{waiting} wait{'s' if len(exposed) == 1 else ''} in {operation}"
    if named:
        title += f" for {evidence.ranks_noun(named)}" + (f", delayed in {cause}" if cause else "")
    else:
        title += " for whichever rank comes last"
    certain = operations >= MIN_SAMPLES and all_waits > 0
    return Finding(
        kind="collective_wait",
        title=title,
        ranks=evidence.ranks_text(exposed),
        region=operation,
        cause_region=cause if named else "",
        evidence=f"{time_text(total)} exposed in {count_text(operations, 'operation')} at "
        f"{evidence.path(callpath) or operation}, "
        f"most on {evidence.ranks_noun([worst])} with {time_text(exposed[worst])}{who}",
        advice=(
            "Balance what comes before it on the rank named."
            if named
            else "Balance the work between these operations, or look for noise: a cause that moves from rank to rank."
        )
        + " Fewer or nonblocking collectives hide what remains.",
        confidence=evidence.confidence(
            "high" if certain else "medium",
            "enter times of all members are measured"
            if certain
            else f"only {count_text(operations, 'operation')} matched",
        ),
        callpath=callpath,
        first_window=first,
        last_window=last_window,
        exposed_ps=round(total),
        share=worst_hit(exposed, evidence.slowest_wall_ps),
    )
