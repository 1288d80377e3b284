"""Collective wait: ranks that arrive early at a collective operation wait for the last one.

Per place in the code: the exposed collective wait of the calls there, and who the others waited for. In one operation
the wait of a member ends when the last member that it needs has entered; that member is the one whose enter is that
moment.
Its waits are charged to it, and what it does while the others wait (`meanwhile`) is named as the cause: computing in a
region, working in a call, or waiting itself, in which case the collective only passes on what happened before it.

A rank may also have lost its time long before the others arrive, and then merely work off what everybody has to do. So
the time since the operation before is compared too (`lateness`, Scalasca's delay): where the last rank spends more
than the first one mainly by waiting, the collective passes that waiting on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from logpost.analyzer.findings.evidence import Evidence
from logpost.analyzer.findings.finding import MIN_SAMPLES, Finding, worst_hit
from logpost.analyzer.findings.lateness import Lateness, lateness_of
from logpost.analyzer.findings.meanwhile import Cause, Meanwhile, meanwhile_of
from logpost.analyzer.reporting.units import count_text, percent_text, time_text

MAINLY = 0.5
"""One rank, or one cause, is named for more than half of the wait; else the ranks take turns."""
LONGEST = 4096
"""Operations in which the last rank is looked at: those waited for longest."""
MOST_LATE = 64
"""Late ranks whose calls are read."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per call path whose collective operations cost the worst-hit rank at least `MIN_SHARE`."""
    if not evidence.worth_a_look(["collective_wait"]):
        return
    places, costly = evidence.costly_places("collective_wait")
    if not costly:
        return
    delays = _delays(evidence).filter(pl.col("callpath").is_in(costly))
    longest = delays.sort(pl.col("end_ps") - pl.col("begin_ps"), descending=True).head(LONGEST)
    late = longest.group_by("location").agg(pl.len()).sort("len", descending=True)["location"].head(MOST_LATE).to_list()
    meanwhile = meanwhile_of(evidence, longest, late, by=("callpath", "location"))
    lateness = lateness_of(evidence, longest)
    for callpath in costly:
        rows = places.filter(pl.col("callpath") == callpath)
        exposed = {int(location): float(time) for location, time in rows.select("location", "exposed_ps").iter_rows()}
        states = [state for key, state in meanwhile.items() if key[0] == callpath]
        here = delays.filter(pl.col("callpath") == callpath)
        yield _finding(evidence, callpath, exposed, here, states, lateness.get(callpath))


def _delays(evidence: Evidence) -> pl.DataFrame:
    """An operation each: the location that came last, the one that came first, how long the latter waited for it
    (interval), and all waits; ps."""
    ends = pl.col("enter_ps") + pl.col("wait_ps")
    waited = pl.col("wait_ps") > 0
    off = (pl.col("enter_ps") - ends.filter(waited).max()).abs()
    return (
        evidence.tables["collectives"]
        .filter(pl.col("instance") >= 0)
        .select("instance", "location", "enter_ps", "wait_ps", "callpath")
        .group_by("instance", maintain_order=True)
        .agg(
            callpath=pl.col("callpath").filter(waited).first(),
            # Members stand in the order of their locations: of several that came last it is the first.
            location=pl.col("location").get(off.arg_min(), null_on_oob=True),
            first=pl.col("location").filter(waited).get(pl.col("enter_ps").filter(waited).arg_min(), null_on_oob=True),
            begin_ps=pl.col("enter_ps").filter(waited).min(),
            end_ps=ends.filter(waited).max(),
            wait_ps=pl.col("wait_ps").sum(),
        )
        .filter(pl.col("wait_ps") > 0)
        .drop("instance")
        .collect()
    )


@dataclass(frozen=True)
class Delay:
    """What the late ranks of one place do while the others wait, over all of them; fractions of that time."""

    cause: Cause | None
    cause_share: float
    waiting: float
    waits_in: str

    @property
    def text(self) -> str:
        """To stand after `delayed`; empty where nothing is known."""
        if self.waiting > max(MAINLY, self.cause_share):
            return f"by waiting itself in {self.waits_in}"
        if self.cause is None or self.cause_share <= 0:
            return ""
        return f"in {self.cause.text}" if self.cause.doing == "computing" else f"by {self.cause.text}"


def _delay(states: list[Meanwhile], lateness: Lateness | None) -> Delay:
    total = sum(state.total_ps for state in states)
    waiting, waits_in = (lateness.waiting, lateness.waits_in) if lateness else (0.0, "")
    if total == 0:
        return Delay(None, 0.0, waiting, waits_in)
    causes: dict[Cause, float] = {}
    waits: dict[str, float] = {}
    for state in states:
        weight = state.total_ps / total
        for cause, fraction in state.causes.items():
            if cause.doing != "waiting":
                causes[cause] = causes.get(cause, 0.0) + fraction * weight
        for region, fraction in state.waits.items():
            waits[region] = waits.get(region, 0.0) + fraction * weight
    cause = max(causes, key=lambda one: causes[one])
    if sum(waits.values()) >= waiting:
        waiting, waits_in = sum(waits.values()), max(waits, key=lambda one: waits[one])
    return Delay(cause, causes[cause], waiting, waits_in)


def _finding(
    evidence: Evidence,
    callpath: int,
    exposed: dict[int, float],
    delays: pl.DataFrame,
    states: list[Meanwhile],
    lateness: Lateness | None,
) -> Finding:
    operation = evidence.region(callpath) or "a collective operation"
    total, operations = sum(exposed.values()), delays.height
    delay = _delay(states, lateness)
    named, who = _last(evidence, delays)
    worst = max(exposed, key=lambda location: exposed[location])
    first, last_window = evidence.active_windows(["collective_wait"], exposed)
    title = f"{evidence.ranks_noun(exposed)} wait{'s' if len(exposed) == 1 else ''} in {operation} for "
    title += evidence.ranks_noun(named) if named else "whichever rank comes last"
    title += f", delayed {delay.text}" if delay.text else ""
    what = _meanwhile_text(states, delay) + (lateness.text if lateness else "")
    certain = operations >= MIN_SAMPLES
    return Finding(
        kind="collective_wait",
        title=title,
        ranks=evidence.ranks_text(exposed),
        region=operation,
        cause_region=_cause_region(delay),
        evidence=f"{time_text(total)} exposed in {count_text(operations, 'operation')} at "
        f"{evidence.path(callpath) or operation}, most on {evidence.ranks_noun([worst])} with "
        f"{time_text(exposed[worst])}{who}{what}",
        advice=_advice(delay, operation, bool(named)) + " Fewer or nonblocking collectives hide what remains.",
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
        indirect=delay.waiting,
    )


def _meanwhile_text(states: list[Meanwhile], delay: Delay) -> str:
    """A piece of evidence about what the last rank does while the others wait; empty where nothing is known."""
    if not states:
        return ""
    total = sum(state.total_ps for state in states)
    waits: dict[str, float] = {}
    for state in states:
        for region, fraction in state.waits.items():
            waits[region] = waits.get(region, 0.0) + fraction * state.total_ps / total
    waiting = sum(waits.values())
    return (
        f"; while the others wait, the last rank waits itself for {percent_text(waiting)} of the time"
        + (f" (in {max(waits, key=lambda one: waits[one])})" if waiting > 0 else "")
        + (f" and spends {percent_text(delay.cause_share)} in {delay.cause.text}" if delay.cause else "")
    )


def _last(evidence: Evidence, delays: pl.DataFrame) -> tuple[list[int], str]:
    """The rank that is mainly waited for, if any, and a piece of evidence about who comes last."""
    by_location = (
        delays.group_by("location").agg(pl.col("wait_ps").sum()).sort("wait_ps", "location", descending=[True, False])
    )
    every = int(by_location["wait_ps"].sum())
    if every == 0:
        return [], ""
    last, part = int(by_location["location"][0]), int(by_location["wait_ps"][0]) / every
    text = f"; {evidence.ranks_noun([last])} comes last for {percent_text(part)} of the wait"
    return ([last], text) if part > MAINLY else ([], text + ", so the ranks take turns in being late")


def _cause_region(delay: Delay) -> str:
    if delay.waiting > max(MAINLY, delay.cause_share):
        return delay.waits_in
    return delay.cause.region if delay.cause is not None and delay.cause_share > 0 else ""


def _advice(delay: Delay, operation: str, named: bool) -> str:
    if delay.waiting > max(MAINLY, delay.cause_share) and delay.waits_in != operation:
        return (
            f"Cure the waiting in {delay.waits_in} before it first (see the other findings): this one follows from it."
        )
    if named:
        return "Balance what comes before it on the rank named."
    return "Balance the work between these operations, or look for noise: a cause that moves from rank to rank."
