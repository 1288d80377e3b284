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
(`hot_receiver`): this one is then left out, see `stated_better`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from logpost.analyzer.findings.evidence import Evidence
from logpost.analyzer.findings.finding import MIN_SAMPLES, Finding, worst_hit
from logpost.analyzer.findings.meanwhile import Meanwhile, meanwhile_of
from logpost.analyzer.findings.unattended import unattended
from logpost.analyzer.reporting.units import count_text, percent_text, time_text

Doing = Literal["computing", "handling", "idle"]

PLACES = 8
"""Most places reported; the costliest ones. More of one kind would only draw attention from them."""
MOST_RANKS = 64
"""Processors whose calls are read, per place: those that are waited for most."""
NAMED = 0.25
"""A processor is named if it is waited for at least this fraction of the time that the foremost one is."""
MAINLY = 0.5
"""More than half of the time: one cause, or what another finding explains."""
COVERED = 0.8
"""The waits looked at must hold most of the time before anything is sure."""
ALL = 0.999
"""From here on it need not be said how much of the time was looked at."""
LITTLE = 0.1
"""Where the modelled parts of the messages are at most this fraction of their queueing, a machine file that is wrong by
a factor of two moves the queueing by a tenth."""
WORTH_A_PLACE = 0.05
"""Below a twentieth of the time, where it was spent does not matter."""

ADVICE: dict[Doing, str] = {
    "computing": "Let the processors named see to their messages while they compute: smaller blocks of work with "
    "MPI_Test in between, completing what is open before the long work, or asynchronous progress (a progress thread, "
    "a network that matches by itself).",
    "handling": "Change the order: let the ranks named take first what others wait for, spread these messages over "
    "more ranks or more time, or let the waiting ranks compute meanwhile (nonblocking calls completed later).",
    "idle": "Check what keeps these processors from it: the binding (a core for each rank), other load on their "
    "nodes, more ranks than cores, and how the library makes progress (polls that yield or sleep, a transport with "
    "acknowledgements such as TCP).",
}


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per call path whose processor queueing costs the worst-hit rank at least `MIN_SHARE`."""
    if not evidence.worth_a_look(["processor_queueing"]):
        return
    exposure, every = evidence.costly_places("processor_queueing")
    costly = every[:PLACES]
    if not costly:
        return
    waits = unattended(evidence, costly)
    others = waits.filter(pl.col("location") != pl.col("waiter"))
    foremost = {
        int(location)
        for some in others.partition_by("place")
        for location in _sums(some, "location")["location"].head(MOST_RANKS)
    }
    states = meanwhile_of(evidence, others, sorted(foremost), by=("place", "location"))
    for place in costly:
        rows = exposure.filter(pl.col("callpath") == place)
        exposed = {int(location): float(time) for location, time in rows.select("location", "exposed_ps").iter_rows()}
        here = waits.filter(pl.col("place") == place)
        attention = _attention(evidence, place, here, states)
        if attention.did:
            yield _finding(evidence, place, exposed, here, attention)


def stated_better(finding: Finding, others: Iterable[Finding]) -> bool:
    """Whether hot receivers or senders among the findings explain most of this one: they handle other messages."""
    if finding.kind != "processor_queueing":
        return False
    hot = {place for other in others if other.kind in ("hot_receiver", "hot_sender") for place in other.endpoints}
    at_hot = sum(time for location, time in finding.endpoints.items() if location in hot)
    return at_hot > MAINLY * finding.exposed_ps


@dataclass(frozen=True)
class Attention:
    """Whose processors were waited for at a place, and what they did; times in ps."""

    by_location: dict[int, float]
    """Location to the time that was waited for its processor"""
    did: dict[tuple[Doing, str], float]
    """(what, region) to the fraction of that time; adds up to 1"""
    handling: dict[int, float]
    """Location to the part of its time in which it handled other messages"""

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
    handling: dict[int, float] = {}

    def add(location: int, doing: Doing, region: str, time: float) -> None:
        times[doing, region] = times.get((doing, region), 0.0) + time
        if doing == "handling":
            handling[location] = handling.get(location, 0.0) + time

    for location, time in _sums(waits.filter(pl.col("location") == pl.col("waiter")), "location").iter_rows():
        # A receiver that waits for its own processor is in the call, which takes other messages first.
        add(location, "handling", evidence.region(place), time)
    for location, time in _sums(waits.filter(pl.col("location") != pl.col("waiter")), "location").iter_rows():
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
        by_location=dict(_sums(waits, "location").iter_rows()),
        did={key: time / total for key, time in times.items()} if total > 0 else {},
        handling=handling,
    )


def _sums(waits: pl.DataFrame, by: str) -> pl.DataFrame:
    """(by, exposed_ps), the largest first."""
    return waits.group_by(by).agg(pl.col("exposed_ps").sum()).sort("exposed_ps", by, descending=[True, False])


def _finding(
    evidence: Evidence, place: int, exposed: dict[int, float], waits: pl.DataFrame, attention: Attention
) -> Finding:
    total, seen = sum(exposed.values()), float(waits["exposed_ps"].sum())
    calls = waits["call"].n_unique()
    operation = evidence.region(place) or "a communication call"
    worst = max(exposed, key=lambda location: exposed[location])
    waiters = [location for location, time in exposed.items() if time >= NAMED * exposed[worst]]
    first, last = evidence.active_windows(["processor_queueing"], waiters)
    mostly = attention.mostly
    at = attention.region(mostly)
    covered = min(1.0, seen / total)
    return Finding(
        kind="processor_queueing",
        title=f"{evidence.ranks_noun(waiters)} wait{'s' if len(waiters) == 1 else ''} in {operation} for the "
        f"processor{'s' if len(attention.named) > 1 else ''} of {evidence.ranks_noun(attention.named)}, "
        + _title(mostly, at, len(attention.named) > 1),
        ranks=evidence.ranks_text(waiters),
        region=operation,
        # Where an idle processor sits is not why: no code causes it.
        cause_region="" if mostly == "idle" else at,
        evidence=f"{time_text(total)} exposed, most on "
        f"{evidence.ranks_noun([worst])} ({time_text(exposed[worst])}), in {count_text(calls, 'wait')} of "
        f"{time_text(seen / calls)} on average"
        + (f" that hold {percent_text(covered)} of it" if covered < ALL else "")
        + f"; for the processor of {_processors(evidence, attention)}; {_meanwhile_text(attention)}",
        advice=_advice(evidence, mostly),
        confidence=_confidence(evidence, mostly, waits, calls, covered),
        callpath=place,
        first_window=first,
        last_window=last,
        exposed_ps=round(total),
        share=worst_hit(exposed, evidence.slowest_wall_ps),
        endpoints={location: time * total / seen for location, time in attention.handling.items()},
    )


def _title(mostly: Doing, region: str, several: bool) -> str:
    """What the processors do, to stand after them."""
    where = f", in {region}" if region else ""
    if mostly == "computing":
        return ("which compute" if several else "which computes") + " meanwhile" + where
    if mostly == "handling":
        return ("which handle" if several else "which handles") + " other messages" + where
    return ("which are" if several else "which is") + f" inside {region or 'a call'} without attending to the messages"


def _processors(evidence: Evidence, attention: Attention) -> str:
    """The foremost ones with their shares: `rank 0 55.4 %, rank 1 44.6 %`."""
    every = sum(attention.by_location.values())
    first = sorted(attention.named, key=lambda location: -attention.by_location[location])[:3]
    shares = ((evidence.ranks_noun([place]), percent_text(attention.by_location[place] / every)) for place in first)
    text = ", ".join(f"{rank} {share}" for rank, share in shares)
    rest = len(attention.by_location) - len(first)
    return text + (f" and {rest} more" if rest > 0 else "")


def _meanwhile_text(attention: Attention) -> str:
    """Fractions of the time, with the place of each that matters."""

    def text(doing: Doing) -> str:
        share, region = attention.share(doing), attention.region(doing)
        return percent_text(share) + (f" ({region})" if region and share >= WORTH_A_PLACE else "")

    return (
        f"meanwhile outside communication calls {text('computing')}, handling other messages {text('handling')}, "
        f"waiting themselves in calls or unexplained there {text('idle')}"
    )


def _advice(evidence: Evidence, mostly: Doing) -> str:
    if mostly == "handling" or not evidence.oversubscribed():
        return ADVICE[mostly]
    first = "Give each rank a core of its own first: ranks outnumber cores, and one without a core attends to nothing. "
    return first + ADVICE[mostly]


def _confidence(evidence: Evidence, mostly: Doing, waits: pl.DataFrame, calls: int, covered: float) -> str:
    modelled = float(waits["modelled_ps"].sum()) / float(waits["exposed_ps"].sum())
    reason = (
        f"when a message got there is modelled ({evidence.manifest.machine.label}: o, L and G of these messages are "
        f"{percent_text(modelled)} of the wait)"
    )
    if mostly == "computing":
        reason = f"that the ranks named were outside communication calls is measured; {reason}"
    if mostly == "idle":
        reason += ", so a network slower than that would look the same"
    if calls < MIN_SAMPLES:
        reason += f"; only {count_text(calls, 'wait')}"
    sure = modelled <= LITTLE and calls >= MIN_SAMPLES and covered >= COVERED
    levels = ("high", "medium") if mostly == "computing" else ("medium", "low")
    return evidence.confidence(levels[0] if sure else levels[1], reason)
