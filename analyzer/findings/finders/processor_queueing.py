"""Processor queueing: messages wait until the other side's processor attends to them.

The message (of a rendezvous: its request, or the receiver's clear-to-send) has got there, but only a processor inside
the communication library takes it on. Per place in the code at which ranks wait like that: whose processors they wait
for (`unattended`), and what those do meanwhile (`meanwhile`), since the cures differ:

* **computing** outside communication calls: nothing progresses until the next call;
* **handling** other messages: sends, receives and whatever else its calls are known to work on;
* **idle** inside a call, which waits itself or whose time no part of the model explains: the library was there and did
  not attend, because the processor ran something else or the library polls slowly.

The exposed time is that of the calls there, so it is time that the ranks really lost; a message that waits while its
rank computes costs nothing and is no finding. Messages that a hot receiver has no time for are that finding
(`hot_receiver`): the two are then one (`one_bug`).

An estimated machine that does not tell this queue from other transport says nothing of it.

Gain: the worst-hit rank's time at the place; attending earlier moves work only (`gain`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from logpost.analyzer.findings.evidence.meanwhile import Meanwhile, meanwhile_of
from logpost.analyzer.findings.evidence.queues_at_processors import queues_at_processors
from logpost.analyzer.findings.evidence.tables import Evidence, exposed_by
from logpost.analyzer.findings.finding import (
    HIGH,
    LOW,
    MEDIUM,
    MIN_SAMPLES,
    Finding,
    Number,
    numbers_of_doings,
    worst_hit,
)
from logpost.analyzer.findings.gain import gain_by_moving
from logpost.analyzer.words.location_names import named_text
from logpost.analyzer.words.units import count_text, percent_text

Doing = Literal["computing", "handling", "idle"]
"""What a processor that is waited for does."""

MOST_RANKS = 64
"""Processors whose calls are read, per place: those that are waited for most."""
NAMED = 0.25
"""A processor is named if it is waited for at least this fraction of the time that the foremost one is."""
COVERED = 0.8
"""The waits looked at must hold most of the time before anything is sure."""
LITTLE = 0.1
"""Where the modelled parts of the messages are at most this fraction of their queueing, a machine file that is wrong by
a factor of two moves the queueing by a tenth."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per call path whose processor queueing costs the worst-hit rank at least `MIN_SHARE`."""
    queues = queues_at_processors(evidence)
    if queues is None:
        return
    exposure, costly, waits = queues.exposure, queues.places, queues.waits
    others = waits.filter(pl.col("location") != pl.col("waiter"))
    foremost = {
        int(location)
        for some in others.partition_by("place")
        for location in exposed_by(some, "location")["location"].head(MOST_RANKS)
    }
    states = meanwhile_of(evidence, others, sorted(foremost), by=("place", "location"))
    for place in costly:
        exposed = evidence.exposed_at(exposure, place)
        here = waits.filter(pl.col("place") == place)
        attention = _attention(evidence, place, here, states)
        if attention.did:
            yield _finding(evidence, place, exposed, here, attention)


@dataclass(frozen=True)
class Attention:
    """Whose processors were waited for at a place, and what they did; times in ps."""

    by_location: dict[int, float]
    """Location to the time that was waited for its processor"""
    did: dict[tuple[Doing, str], float]
    """(what, region) to the fraction of that time; adds up to 1"""
    fault: dict[tuple[int, Doing], float]
    """(location, what) to the fraction of that time"""

    def share(self, doing: Doing) -> float:
        """Fraction of one kind."""
        return sum(fraction for (what, _), fraction in self.did.items() if what == doing)

    @property
    def mostly(self) -> Doing:
        """What took the largest part."""
        kinds: tuple[Doing, ...] = ("computing", "handling", "idle")
        return max(kinds, key=self.share)

    def region(self, doing: Doing) -> str:
        """Where most of that happened; empty where nothing did."""
        places = {region: fraction for (what, region), fraction in self.did.items() if what == doing and fraction > 0}
        return max(places, key=lambda region: places[region], default="")

    @property
    def named(self) -> list[int]:
        """The locations waited for most."""
        most = max(self.by_location.values())
        return [location for location, time in self.by_location.items() if time >= NAMED * most]


def _attention(
    evidence: Evidence, place: int, waits: pl.DataFrame, states: dict[tuple[int, ...], Meanwhile]
) -> Attention:
    times: dict[tuple[Doing, str], float] = {}
    fault: dict[tuple[int, Doing], float] = {}

    def add(location: int, doing: Doing, region: str, time: float) -> None:
        times[doing, region] = times.get((doing, region), 0.0) + time
        fault[location, doing] = fault.get((location, doing), 0.0) + time

    for location, time in exposed_by(waits.filter(pl.col("location") == pl.col("waiter")), "location").iter_rows():
        # A receiver that waits for its own processor is in the call, which takes other messages first.
        add(location, "handling", evidence.region(place), time)
    for location, time in exposed_by(waits.filter(pl.col("location") != pl.col("waiter")), "location").iter_rows():
        state = states.get((place, location))
        if state is None:
            continue
        for cause, fraction in state.causes.items():
            if cause.doing == "computing":
                add(location, "computing", cause.region, fraction * time)
            elif cause.doing == "working":
                known = max(0.0, fraction - state.unexplained.get(cause.region, 0.0))
                add(location, "handling", cause.region, known * time)
        for spent in (state.waits, state.unexplained):
            for region, fraction in spent.items():
                add(location, "idle", region, fraction * time)
    total = sum(times.values())
    return Attention(
        by_location=dict(exposed_by(waits, "location").iter_rows()),
        did={key: time / total for key, time in times.items()} if total > 0 else {},
        fault={key: time / total for key, time in fault.items()} if total > 0 else {},
    )


def _finding(
    evidence: Evidence, place: int, exposed: dict[int, float], waits: pl.DataFrame, attention: Attention
) -> Finding:
    total, seen = sum(exposed.values()), float(waits["exposed_ps"].sum())
    calls = waits["call"].n_unique()
    worst = max(exposed, key=lambda location: exposed[location])
    waiters = [location for location, time in exposed.items() if time >= NAMED * exposed[worst]]
    first, last = evidence.active_windows(["processor_queueing"], waiters)
    mostly = attention.mostly
    confidence, certainty = _confidence(evidence, mostly, waits, calls, min(1.0, seen / total))
    return Finding(
        kind="processor_queueing",
        named=evidence.named(waiters),
        region=evidence.region(place),
        # Where an idle processor sits is not why: no code causes it.
        cause_region="" if mostly == "idle" else attention.region(mostly),
        evidence=(
            *evidence.exposed_numbers(exposed),
            Number("waits", calls, "count"),
            Number("mean_wait", seen / calls, "ps"),
            Number("looked_at", min(1.0, seen / total), "1"),
            *_processors(evidence, attention),
            *numbers_of_doings(attention.did.items()),
            *((Number("ranks_without_core", 1, "count"),) if evidence.oversubscribed() else ()),
        ),
        confidence=confidence,
        certainty=certainty,
        callpath=place,
        first_window=first,
        last_window=last,
        exposed_ps=round(total),
        share=worst_hit(exposed, evidence.slowest_program_ps),
        gain=gain_by_moving(evidence, exposed),
        charges={(location, place): time for location, time in exposed.items()},
        fault={
            (location, "waiting" if doing == "idle" else doing): share
            for (location, doing), share in attention.fault.items()
        },
    )


def _processors(evidence: Evidence, attention: Attention) -> tuple[Number, ...]:
    """The foremost ones, with their shares of the time."""
    every = sum(attention.by_location.values())
    foremost = sorted(attention.named, key=lambda location: -attention.by_location[location])[:3]
    shares = (
        Number(f"waited_for[{named_text(evidence.named([place]))}]", attention.by_location[place] / every, "1")
        for place in foremost
    )
    return (*evidence.rank_numbers("processor_of", attention.named), *shares)


def _confidence(
    evidence: Evidence, mostly: Doing, waits: pl.DataFrame, calls: int, covered: float
) -> tuple[float, str]:
    modelled = float(waits["modelled_ps"].sum()) / float(waits["exposed_ps"].sum())
    reason = (
        f"the arrival of a message is modelled ({evidence.manifest.machine.label}: o, L and G of these messages are "
        f"{percent_text(modelled)} of the wait)"
    )
    if mostly == "computing":
        reason = f"it is measured that these ranks were outside communication calls; {reason}"
    if mostly == "idle":
        reason += ", so a slower network would look the same"
    if calls < MIN_SAMPLES:
        reason += f"; only {count_text(calls, 'wait')}"
    sure = modelled <= LITTLE and calls >= MIN_SAMPLES and covered >= COVERED
    levels = (HIGH, MEDIUM) if mostly == "computing" else (MEDIUM, LOW)
    return evidence.confidence(levels[0] if sure else levels[1], reason)
