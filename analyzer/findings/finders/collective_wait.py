"""Collective wait: ranks that arrive early at a collective operation wait for the last one.

Per place in the code: the exposed collective wait of the calls there, and who the others waited for. In one operation
the wait of a member ends when the last member that it needs has entered; that member is the one whose enter is that
moment.
Its waits are charged to it, and what it does while the others wait (`meanwhile`) is named as the cause: computing in a
region, working in a call, or waiting itself, in which case the collective only passes on what happened before it.

A rank may also have lost its time long before the others arrive, and then merely work off what everybody has to do. So
the time since the operation before is compared too (`lateness`, Scalasca's delay): where the last rank spends more
than the first one mainly by waiting, the collective passes that waiting on.

Waiting in operations that directly follow another one (`evidence.successive`) is the cost of calling them in a row:
that is `collective_cost`.

A barrier whose last rank is another one each time only adds up the longest steps: that is `needless_barrier`, where
the waiting in it costs more than `NOISE`; a barrier that merely takes long says nothing of its need. Where its ranks
would wait as long in what follows, an operation of the same members, say, it orders nothing that this does not order:
it is the same where it saves more than `NOISE` by what it takes, and the wait would have to be told otherwise, as work
that is unequal in turn, which no fixed partition cures. Other operations
need their data; there, ranks that are last in turn are a finding beyond `NOISE` only. So are ranks that all come last
by the same code, which those who wait never run: to even that out takes another division of the work, not a fairer one.
And so is who comes last to a few operations only: once may be chance.

Waiting at the fences of a window is `wait_at_fence`: the transfers between them need their targets only, so other
synchronization can do. Where the last rank is another one each time, that saves no more than if each waited for those
only that it exchanges transfers with (`evidence.neighbours`).

Gain: over the operations, the mean wait of the members, but what is passed on: were all to enter at the mean of their
enters, the last one would come so much earlier (`gain`). At most what the program saves with the work between two
operations shared evenly (`evidence.even_work`, `evidence.met_again`), where that is replayed: who is late by messages,
or in a call that takes others as long, stays late. Where one rank comes last, by exception (`evidence.slow_ranks`), it
may as well become as fast as the others: the mean wait of the others, likewise. The larger gain is stated, and the
advice names its cure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import polars as pl

from logpost.analyzer.findings.evidence.even_work import even_work
from logpost.analyzer.findings.evidence.graph import graph_is_whole, graph_of
from logpost.analyzer.findings.evidence.lateness import Lateness, ends_of, lateness_of
from logpost.analyzer.findings.evidence.meanwhile import Cause, Meanwhile, calls_near, meanwhile_of
from logpost.analyzer.findings.evidence.met_again import met_again
from logpost.analyzer.findings.evidence.neighbours import saved_by_neighbours
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.rounds import rounds, shortest_round
from logpost.analyzer.findings.evidence.slow_ranks import by_exception, either
from logpost.analyzer.findings.evidence.successive import successive, with_follows
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if
from logpost.analyzer.findings.evidence.without_calls import saving_without
from logpost.analyzer.findings.finding import (
    HIGH,
    MEDIUM,
    MIN_SAMPLES,
    MIN_SHARE,
    NOISE,
    OF_CAUSE,
    Doing,
    Finding,
    Number,
    worst_hit,
)
from logpost.analyzer.findings.gain import gain_by_changing, gain_by_sharing
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.units import count_text

MAINLY = 0.5
"""One rank, or one cause, is named for more than half of the wait; else the ranks take turns."""
NAMED = 0.25
"""A rank is counted if it waits at least this fraction of what the foremost one does."""
LEAST_WAITERS = 0.25
"""Where fewer members wait, as the root of a reduction alone, the others lose nothing and share little more."""
LONGEST = 4096
"""Operations in which the last rank is looked at: those waited for longest."""
MOST_LATE = 64
"""Late ranks whose calls are read."""
BARRIER, FENCE = "barrier", "fence"
"""Operations, in lower case."""


@dataclass(frozen=True)
class Place:
    """A call path whose collective operations are waited for."""

    callpath: int
    exposed: dict[int, float]
    """location to what it waits there, but directly behind another operation; ps"""
    operation: str
    delays: pl.DataFrame
    """of `_delays`"""

    def may_gain(self, evidence: Evidence) -> bool:
        """Whether it is worth to be looked at what its last ranks do: not where no answer makes it a finding."""
        if self.operation == BARRIER or _foremost(self.delays)[1] > MAINLY:
            return True  # by what it takes, or as fast as the others
        most = gain_by_sharing(evidence, sum(self.exposed.values()) / _members(evidence, self.callpath))
        return most > NOISE or most * (1 - MAINLY) >= MIN_SHARE  # most of it may be passed on


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per call path whose collective operations cost the worst-hit rank at least `MIN_SHARE`."""
    if not evidence.worth_a_look(["collective_wait"]):
        return
    places, costly = evidence.costly_places("collective_wait")
    if not costly:
        return
    in_a_row = successive(evidence)
    every = _delays(evidence)
    looked_at = []
    for callpath in costly:
        exposed = {
            location: max(0.0, time - in_a_row.waited(location, callpath))
            for location, time in evidence.exposed_at(places, callpath).items()
        }
        most = max(exposed.values())
        waits = sum(1 for time in exposed.values() if time >= NAMED * most)
        if not evidence.matters(exposed) or waits < LEAST_WAITERS * in_a_row.members.get(callpath, 1):
            continue
        operation = in_a_row.operations.get(callpath, "").lower()
        if operation != FENCE:
            continue
        place = Place(callpath, exposed, operation, every.filter(pl.col("callpath") == callpath))
        if place.may_gain(evidence):
            looked_at.append(place)
    if looked_at:
        yield from _looked_at(evidence, looked_at)


def _looked_at(evidence: Evidence, places: list[Place]) -> Iterable[Finding]:
    delays = pl.concat(place.delays for place in places)
    longest = delays.sort(pl.col("end_ps") - pl.col("begin_ps"), descending=True).head(LONGEST)
    late = (
        longest.group_by("location")
        .agg(pl.len())
        .sort("len", "location", descending=[True, False])["location"]
        .head(MOST_LATE)
        .to_list()
    )
    ends = ends_of(evidence, longest)
    near = calls_near(evidence, (longest, late), *ends.wanted)
    meanwhile = meanwhile_of(evidence, longest, late, by=("callpath", "location"), near=near)
    lateness = lateness_of(evidence, ends, near)
    for place in places:
        states = [state for key, state in meanwhile.items() if key[0] == place.callpath]
        found = _finding(evidence, place, states, lateness.get(place.callpath))
        if place.operation == FENCE:
            found = replace(found, kind="wait_at_fence")
            if not any(number.name == "last_rank" for number in found.evidence):
                found = replace(found, gain=min(found.gain, saved_by_neighbours(evidence, _rounds_less(evidence))))
        elif graph_is_whole(evidence):
            found = _at_most_by_sharing(evidence, found)
            found = _as_fast_as_the_others(evidence, found, place.delays)
        named = any(number.name == "last_rank" for number in found.evidence)
        passed_on = any(number.name == "passed_on_waiting" for number in found.evidence)
        often = place.delays.height >= MIN_SAMPLES
        if passed_on or (found.gain > NOISE and named):
            yield found
        elif named:
            if often and not _has_another_part(evidence, found, place.delays):
                yield found
        elif found.gain > NOISE:
            yield found


def _members(evidence: Evidence, callpath: int) -> int:
    return max(1, evidence.exposure.filter(pl.col("callpath") == callpath)["location"].n_unique())


def _at_most_by_sharing(evidence: Evidence, found: Finding) -> Finding:
    """The same with the gain of a replay, where that is less; with its cure in any case."""
    graph = graph_of(evidence)
    even = met_again(graph, even_work(graph, found.callpath))
    saving = saving_if(graph, even)
    gain = saving.gain
    if evidence.undivided:
        # What an estimated machine does not divide may be a latency or nothing: a message that was received long after
        # it was sent need not have taken that long. At most is the larger of both.
        without = saving_if(graph, replace(even, less_ps=graph.messages.undivided_ps)).gain
        gain = max(gain, without - _saved_by_no_transport(evidence))
    return replace(found, gain=min(found.gain, gain), cure=saving.cure)


def _as_fast_as_the_others(evidence: Evidence, found: Finding, delays: pl.DataFrame) -> Finding:
    """The same with the middle of both cures' gains, where one rank comes last by exception, and the other cure gains
    more."""
    graph = graph_of(evidence)
    slow, share = _foremost(delays)
    members = evidence.exposure.filter(pl.col("callpath") == found.callpath)["location"].unique().to_list()
    passed_on = any(number.name == "passed_on_waiting" for number in found.evidence)
    if share <= MAINLY or passed_on or not by_exception([slow], members):
        return found
    saving = saving_if(graph, met_again(graph, even_work(graph, found.callpath, slow)))
    mean = found.exposed_ps / (len(members) - 1)
    gain = min(saving.gain, gain_by_changing(evidence, mean, {slow: -mean}))
    if gain <= found.gain:
        return found
    numbers = (*found.evidence, *either(gain, found.gain))
    return replace(found, gain=(gain + found.gain) / 2, cure=saving.cure, evidence=numbers)


@once
def _saved_by_no_transport(evidence: Evidence) -> float:
    """What the program saves were nothing of its messages' undivided time there."""
    graph = graph_of(evidence)
    return saving_if(graph, Hypothesis(less_ps=graph.messages.undivided_ps)).gain


def _rounds_less(evidence: Evidence) -> float:
    """What a fence takes beyond one round of messages, which neighbours need; ps."""
    members = evidence.tables["collectives"].filter(pl.col("operation").cast(pl.String) == "Fence")
    most = members.group_by("instance").agg(pl.len()).select(pl.col("len").max()).collect().item() or 2
    return (rounds("Fence", most) - 1) * shortest_round(evidence)


def _without_barrier(evidence: Evidence, found: Finding) -> Finding | None:
    """The same as a barrier that could be left out: no data goes through it, and its last rank is another one each
    time. None where neither its waits nor it saves more than noise costs."""
    graph = graph_of(evidence)
    here = graph.callpath == found.callpath
    of_waits = saving_if(graph, Hypothesis(freed=here)).gain
    saving = saving_without(evidence, graph, found.callpath)
    moves_on = of_waits <= NOISE
    one_sided = not evidence.tables["transfers"].head(1).collect().is_empty()  # which a barrier may order
    if moves_on and (one_sided or min(found.gain, saving.gain) <= NOISE):
        return None
    return replace(
        found,
        kind="needless_barrier",
        gain=saving.gain,
        certainty=graph.stated(found.certainty),
        cure=saving.cure,
        evidence=(*found.evidence, *((Number("saved_by_its_waits", of_waits, "1"),) if moves_on else ())),
    )


def _has_another_part(evidence: Evidence, found: Finding, delays: pl.DataFrame) -> bool:
    """Whether the last ranks, several, compute in a user region that no rank runs which loses much by waiting.

    One rank that does something alone is serial work, which can be shared.
    """
    region = evidence.user_profile.filter(
        pl.col("callpath").is_in(evidence.callpaths_of(found.cause_region)), pl.col("exclusive_ps") > 0
    )
    run_it = set(region["location"].to_list())
    waited = {location: time for (location, _), time in found.charges.items()}
    most = max(waited.values(), default=0.0)
    others = {location for location, time in waited.items() if time >= NAMED * most}
    last = set(delays["location"].to_list())
    return len(run_it) > 1 and last <= run_it and not others & run_it


def _delays(evidence: Evidence) -> pl.DataFrame:
    """An operation each: the location that came last, the one that came first, how long the latter waited for it
    (interval), and all waits; ps."""
    ends = pl.col("enter_ps") + pl.col("wait_ps")
    waited = pl.col("wait_ps") > 0
    after = pl.col("enter_ps") >= ends.filter(waited).max()  # later, where a clock lets a member leave too early
    return (
        with_follows(evidence.tables["collectives"], "instance", "wait_ps", "callpath")
        .filter(pl.col("instance") >= 0)
        .select("instance", "location", "call", "enter_ps", "wait_ps", "callpath", "follows")
        .group_by("instance", maintain_order=True)
        .agg(
            callpath=pl.col("callpath").filter(waited).first(),
            # Members stand in the order of their locations: of several that came last it is the first.
            **{
                of: pl.col(of).filter(after).get(pl.col("enter_ps").filter(after).arg_min(), null_on_oob=True)
                for of in ("location", "call")
            },
            **{
                to: pl.col(of).filter(waited).get(pl.col("enter_ps").filter(waited).arg_min(), null_on_oob=True)
                for to, of in (("first", "location"), ("first_call", "call"))
            },
            begin_ps=pl.col("enter_ps").filter(waited).min(),
            end_ps=ends.filter(waited).max(),
            wait_ps=wide_sum("wait_ps"),
            in_a_row=pl.col("follows").mean(),
        )
        .filter(pl.col("wait_ps") > 0, pl.col("in_a_row") <= MAINLY)
        .drop("instance")
    )


def _waits_by_last(delays: pl.DataFrame) -> dict[int, int]:
    """Location to what the others waited for it when it came last; ps."""
    return dict(delays.group_by("location").agg(wide_sum("wait_ps")).sort("location").iter_rows())


def _foremost(delays: pl.DataFrame) -> tuple[int, float]:
    """The location that is waited for most, and its part of that; -1: none."""
    by_last = _waits_by_last(delays)
    every = sum(by_last.values())
    last = max(by_last, key=lambda location: by_last[location], default=-1)
    return last, by_last[last] / every if every > 0 else 0.0


@dataclass(frozen=True)
class Delay:
    """What the late ranks of one place do while the others wait, over all of them; fractions of that time."""

    cause: Cause | None
    cause_share: float
    waiting: float
    waits_in: str

    @property
    def passed_on(self) -> bool:
        """Waiting of its own is what delays them."""
        return self.waiting > max(MAINLY, self.cause_share)

    @property
    def region(self) -> str:
        """Where they are delayed; empty where nothing is known."""
        if self.passed_on:
            return self.waits_in
        return self.cause.region if self.cause is not None and self.cause_share > 0 else ""


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


def _finding(evidence: Evidence, place: Place, states: list[Meanwhile], lateness: Lateness | None) -> Finding:
    callpath, exposed = place.callpath, place.exposed
    total, operations = sum(exposed.values()), place.delays.height
    delay = _delay(states, lateness)
    by_last = _waits_by_last(place.delays)
    every = sum(by_last.values())
    last, of_last = _foremost(place.delays)
    named = of_last > MAINLY and last != max(exposed, key=lambda location: exposed[location])  # it waits longest itself
    waiters = [location for location, time in exposed.items() if time > 0]
    first, last_window = evidence.active_windows(["collective_wait"], waiters)
    certain = operations >= MIN_SAMPLES
    confidence, certainty = evidence.confidence(
        HIGH if certain else MEDIUM,
        "enter times of all members are measured" if certain else f"only {count_text(operations, 'operation')} matched",
    )
    does = OF_CAUSE[delay.cause.doing] if delay.cause is not None else "computing"
    works = does == "handling"
    kinds: dict[Doing, float] = {"waiting": delay.waiting, does: 1 - delay.waiting}
    if does == "inside" and not delay.passed_on:
        certainty += "; what the last rank's call does is not divided"
    return Finding(
        kind="collective_wait",
        named=evidence.named(waiters),
        region=evidence.region(callpath),
        cause_region=delay.region,
        evidence=(
            *evidence.exposed_numbers(exposed),
            Number("operations", operations, "count"),
            *(evidence.rank_numbers("last_rank", [last]) if named else ()),
            *((Number("foremost_last_rank_share", of_last, "1"),) if every > 0 else ()),
            *_meanwhile(states, delay),
            *(lateness.numbers if lateness else ()),
            *((Number("passed_on_waiting", delay.waiting, "1"),) if delay.passed_on else ()),
            *((Number("cause_works", delay.cause_share, "1"),) if works and not delay.passed_on else ()),
        ),
        confidence=confidence,
        certainty=certainty,
        callpath=callpath,
        first_window=first,
        last_window=last_window,
        exposed_ps=round(total),
        share=worst_hit(exposed, evidence.slowest_program_ps),
        gain=gain_by_sharing(evidence, total / _members(evidence, callpath) * (1 - delay.waiting)),
        charges={(location, callpath): time for location, time in exposed.items()},
        fault={
            (location, kind): fraction * time / every
            for location, time in by_last.items()
            for kind, fraction in kinds.items()
        }
        if every > 0
        else {},
        waits_in=delay.waits_in if delay.passed_on else "",
    )


def _meanwhile(states: list[Meanwhile], delay: Delay) -> tuple[Number, ...]:
    """What the last ranks do while the others wait; nothing where nothing is known."""
    if not states:
        return ()
    total = sum(state.total_ps for state in states)
    waits: dict[str, float] = {}
    for state in states:
        for region, fraction in state.waits.items():
            waits[region] = waits.get(region, 0.0) + fraction * state.total_ps / total
    found = [
        Number(f"last_rank_waits_itself[{region}]", fraction, "1") for region, fraction in waits.items() if fraction > 0
    ]
    if delay.cause is not None:
        found.append(Number(f"last_rank_is_in[{delay.cause.region}]", delay.cause_share, "1"))
    return tuple(found)
