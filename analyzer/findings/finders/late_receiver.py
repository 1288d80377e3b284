"""Late receivers: senders wait in a rendezvous or a synchronous send because the receive is posted late.

Per place in the code at which senders wait like that: whose receives they wait for, in which call these are posted
(`late_posts`), and what the receivers do in exactly that time: taking other messages first, and from the last of these
on computing, working in other calls, or waiting themselves (`meanwhile`). The receiver is to blame, not the sender: it
is the one who could post earlier.

Gain: where the receivers compute meanwhile, and that code stands directly before the posts, the same program with that
code behind them, whole regions where these are known, replayed on its machine (`evidence.moved_code`,
`evidence.whole_regions`, `evidence.replayed`). Else the time of the worst-hit
sender: posting earlier moves work only; where the receivers compute, their work may be given to other ranks instead
(`gain`). Where a replay holds these waits, no more than it saves without them: whoever is not held there may wait as
long elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from logpost.analyzer.findings.evidence.graph import Graph, graph_of
from logpost.analyzer.findings.evidence.late_posts import late_posts
from logpost.analyzer.findings.evidence.meanwhile import Meanwhile, meanwhile_of
from logpost.analyzer.findings.evidence.moved_code import stands_directly_before
from logpost.analyzer.findings.evidence.tables import Evidence, exposed_by
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving, saving_if
from logpost.analyzer.findings.evidence.whole_regions import what_moving_saves
from logpost.analyzer.findings.finding import (
    HIGH,
    MEDIUM,
    MIN_SAMPLES,
    MIN_SHARE,
    OF_CAUSE,
    Doing,
    Finding,
    Number,
    numbers_of_doings,
    worst_hit,
)
from logpost.analyzer.findings.gain import gain_by_moving, gain_by_sharing
from logpost.analyzer.findings.wording.messages import OTHERS
from logpost.replay.columns import Int32, Int64

PLACES = 8
"""Most places reported; the costliest ones. More of one kind would only draw attention from them."""
MOST_RANKS = 64
"""Receivers whose calls are read: those that are waited for most."""
NAMED = 0.25
"""A rank is named if its time is at least this fraction of the foremost one's."""
HELD = 0.5
"""A replay that takes away less than this part of the time does not hold these waits."""
COVERED = 0.8
"""The waits looked at must hold most of the time before anything is sure."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per call path whose waiting for receives costs the worst-hit rank at least `MIN_SHARE`."""
    if not evidence.worth_a_look(["late_receiver"]):
        return
    exposure, every = evidence.costly_places("late_receiver")
    costly = every[:PLACES]
    if not costly:
        return
    waits = late_posts(evidence, costly)
    foremost = exposed_by(waits, "location")["location"].head(MOST_RANKS).to_list()
    own = waits.with_columns(begin_ps="free_ps").filter(pl.col("end_ps") > pl.col("begin_ps"))
    states = meanwhile_of(evidence, own, foremost, by=("place", "location"))
    for place in costly:
        exposed = evidence.exposed_at(exposure, place)
        here = waits.filter(pl.col("place") == place)
        if here.height:
            yield _finding(evidence, place, exposed, here, states)


def _did(
    place: int, waits: pl.DataFrame, states: dict[tuple[int, ...], Meanwhile]
) -> dict[tuple[int, Doing, str], float]:
    """(receiver, what, region) to the time in which it did that while it was waited for; ps."""
    length = (pl.col("end_ps") - pl.col("begin_ps")).cast(pl.Float64)
    others = pl.col("exposed_ps") * (pl.col("free_ps") - pl.col("begin_ps")) / length
    by_receiver = (
        waits.group_by("location", maintain_order=True)
        .agg(pl.col("exposed_ps").sum(), others=others.sum())
        .sort("location")
    )
    did: dict[tuple[int, Doing, str], float] = {}

    def add(location: int, doing: Doing, region: str, time: float) -> None:
        if time > 0:
            did[location, doing, region] = did.get((location, doing, region), 0.0) + time

    for location, time, taking in by_receiver.iter_rows():
        add(location, "handling", OTHERS, taking)
        state = states.get((place, location))
        if state is None:
            continue
        for cause, fraction in state.causes.items():
            add(location, OF_CAUSE[cause.doing], cause.region, fraction * (time - taking))
        add(location, "waiting", state.late_sender_in, state.late_sender * (time - taking))
    return did


def _finding(
    evidence: Evidence,
    place: int,
    exposed: dict[int, float],
    waits: pl.DataFrame,
    states: dict[tuple[int, ...], Meanwhile],
) -> Finding:
    total, seen = sum(exposed.values()), float(waits["exposed_ps"].sum())
    by_receiver = dict(exposed_by(waits, "location").iter_rows())
    most = max(by_receiver.values())
    late = [location for location, time in by_receiver.items() if time >= NAMED * most]
    worst = max(exposed, key=lambda location: exposed[location])
    waiters = [location for location, time in exposed.items() if time >= NAMED * exposed[worst]]
    did = _did(place, waits, states)
    known = sum(did.values())
    shares: dict[tuple[Doing, str], float] = {}
    fault: dict[tuple[int, Doing], float] = {}
    for (location, doing, region), time in did.items():
        shares[doing, region] = shares.get((doing, region), 0.0) + time / known
        fault[location, doing] = fault.get((location, doing), 0.0) + time / known
    of_doing = {doing: sum(part for (one, _), part in shares.items() if one == doing) for doing in OF_CAUSE.values()}
    mostly = max(of_doing, key=lambda doing: of_doing[doing])
    causes = {region: part for (doing, region), part in shares.items() if doing == mostly}
    cause = max(causes, key=lambda region: causes[region], default="")
    posted = exposed_by(waits, "callpath")
    first, last = evidence.active_windows(["late_receiver"], waiters)
    certain = waits.height >= MIN_SAMPLES and seen >= COVERED * total
    confidence, certainty = evidence.confidence(
        HIGH if certain else MEDIUM,
        "the time of the receive and the receiver's activity until then are measured",
        ["late_receiver"],
    )
    gain, saving = _gain(evidence, place, exposed, waits, computing=mostly == "computing")
    return Finding(
        kind="late_receiver",
        named=evidence.named([*waiters, *late]),
        region=evidence.region(place),
        cause_region=cause,
        evidence=(
            *evidence.rank_numbers("waiting_rank", waiters),
            *evidence.exposed_numbers(exposed),
            Number("waits", waits.height, "count"),
            Number("mean_wait", seen / waits.height, "ps"),
            *evidence.rank_numbers("late_rank", late),
            *(
                Number(f"posted[{_site(evidence, callpath)}]", time / seen, "1")
                for callpath, time in posted.head(3).iter_rows()
            ),
            *numbers_of_doings(shares.items()),
        ),
        confidence=confidence,
        certainty=certainty,
        callpath=place,
        first_window=first,
        last_window=last,
        exposed_ps=round(total),
        share=worst_hit(exposed, evidence.slowest_program_ps),
        gain=gain,
        charges={(location, place): time for location, time in exposed.items()},
        fault=fault,
        waits_in=cause if mostly == "waiting" else "",
        cure=saving.cure,
    )


def _gain(
    evidence: Evidence, place: int, exposed: Mapping[int, float], waits: pl.DataFrame, *, computing: bool
) -> tuple[float, Saving]:
    """What a cure saves, and how it is replayed. `computing`: that is what the receivers mostly do meanwhile."""
    graph = graph_of(evidence)
    if computing:
        moved = _moved(evidence, graph, *_posts(evidence, graph, waits))
        if moved.gain >= MIN_SHARE:
            return moved.gain, moved
    saving = saving_if(graph, Hypothesis(dropped=("post",)))
    if computing:
        return min(gain_by_sharing(evidence, max(exposed.values())), saving.gain or 1.0), saving
    removed = sum(time for (_, callpath), time in saving.removes.items() if callpath == place)
    held = removed >= HELD * sum(exposed.values()) * graph.length_ps / max(1, evidence.slowest_program_ps)
    return min(gain_by_moving(evidence, exposed), saving.gain if held else saving.gain or 1.0), saving


def _posts(evidence: Evidence, graph: Graph, waits: pl.DataFrame) -> tuple[Int32, Int64]:
    """The calls that post the receives waited for, and how late each of them is.

    Where nothing tells when a request is there, a receive is late from when its send began, at most.
    """
    since = pl.col("begin_ps" if _divided(evidence) else "send_enter_ps")
    late = waits.group_by("recv_post_call").agg(late_ps=(pl.col("end_ps") - since).max())
    rows = late.with_columns(row=graph.rows(late["recv_post_call"])).filter(pl.col("row") >= 0).sort("row")
    posts, late_ps = rows["row"].to_numpy(), rows["late_ps"].to_numpy()
    return posts, late_ps


def _moved(evidence: Evidence, graph: Graph, posts: Int32, late_ps: Int64) -> Saving:
    """The same program with the code behind the posts, as far as it stands directly before them and is waited for."""
    if not len(posts) or not stands_directly_before(graph, posts, graph.meets):
        return Saving(0.0, {})
    return what_moving_saves(evidence, graph, posts, late_ps, bounds=not _divided(evidence))


def _divided(evidence: Evidence) -> bool:
    """Whether the machine tells when a request is there."""
    return evidence.divides("latency", "late_receiver")


def _site(evidence: Evidence, callpath: int) -> str:
    place = evidence.places.get(callpath)
    return place.named if place is not None else evidence.region(callpath)
