"""Waits of one-sided communication for one other process: what had to happen before memory could be accessed.

* **Late post**: an origin waits, in MPI_Win_start or a later call of its access, until the target has posted.
* **Late complete**: a target waits in MPI_Win_wait until the last origin has entered MPI_Win_complete.
* **Late put**: a process waits for a change of its memory (shmem_wait_until) that nobody has made yet.
* **Lock contention**: an origin waits for a lock of memory that others hold.
* **Unattended target**: a transfer needs the processor of a target that is outside of calls.

Who is waited for is a fact of the table `epochs` (of a put and a lock: the last transfer before the wait's end, and the
holder who released last, docs/split.md), of an unattended target the transfer's own.

Gain: where code stands directly before a post or a completion, the same program with that code behind it, as far as it
is waited for, whole regions where these are known, replayed on its machine (`evidence.moved_code`,
`evidence.whole_regions`, `evidence.replayed`). Else
the same program if nobody waited for this (`evidence.one_sided_waits`); an access that is completed behind its
transfers still takes these, a post is no earlier than its rank has done waiting for others, and operations take what
they take with the members that then come last (`evidence.met_again`). Where most waits end at no recorded instant, and
are not replayed: the waiting of the worst-hit rank, a bound (`gain`), and the finding says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import Flags, Graph, Reason, graph_of
from logpost.analyzer.findings.evidence.met_again import met_again
from logpost.analyzer.findings.evidence.moved_code import stands_directly_before
from logpost.analyzer.findings.evidence.one_sided_followed import follows
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving, saving_if
from logpost.analyzer.findings.evidence.whole_regions import what_moving_saves
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SAMPLES, Finding, Number, worst_hit
from logpost.analyzer.findings.gain import gain_by_moving
from logpost.analyzer.findings.hypothesis import removed
from logpost.analyzer.run.wide import wide_sum
from logpost.replay._native import wait_reasons
from logpost.replay.columns import Int32, Int64

TRANSFERRING = ("send_overhead", "endpoint_contention", "latency", "serialization")
"""What a transfer takes by itself."""
CODE_BEFORE = ("late_post", "late_complete")
"""Kinds of which code before a call is the cause."""
NOBODY = -2
"""Of `Hypothesis.earlier`: a call that nobody waits for any more."""
NAMED = 0.25
"""A rank is named if it is waited for at least this fraction of what the foremost one is."""


@dataclass(frozen=True)
class Pattern:
    """A kind of wait: the epochs that tell who was waited for, the category of its time, and why that is known."""

    kind: str
    epochs: tuple[str, ...]
    category: str
    waits_for: Reason
    confidence: float
    reason: str


PATTERNS = (
    Pattern("late_post", ("access",), "late_receiver", "access", HIGH, "enter times of the posts are measured"),
    Pattern(
        "late_complete", ("exposure",), "late_sender", "exposure", HIGH, "enter times of the completions are measured"
    ),
    Pattern(
        "late_put",
        ("change",),
        "late_sender",
        "change",
        MEDIUM,
        "the last transfer before the wait's end is taken for it",
    ),
    Pattern(
        "lock_contention",
        ("lock_shared", "lock_exclusive"),
        "lock_wait",
        "lock",
        MEDIUM,
        "locks are taken to be held in the order of their releases",
    ),
)
UNATTENDED = Pattern(
    "unattended_target",
    (),
    "processor_queueing",
    "target",
    MEDIUM,
    "that the targets were outside of calls is measured; when the transfers got there is modelled",
)


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for each kind of wait that costs the worst-hit rank at least `MIN_SHARE`."""
    for pattern in PATTERNS:
        if evidence.worth_a_look([pattern.category]):
            waits = _epochs(evidence, pattern)
            yield from _findings(evidence, pattern, waits)
    if evidence.worth_a_look([UNATTENDED.category]):
        yield from _findings(evidence, UNATTENDED, _unattended(evidence))


def _epochs(evidence: Evidence, pattern: Pattern) -> pl.DataFrame:
    """Who waits (location) where (callpath), for whom (late), how long (wait_ps), a row per wait."""
    return (
        evidence.tables["epochs"]
        .filter(pl.col("kind").cast(pl.String).is_in(pattern.epochs), pl.col("wait_ps") > 0, pl.col("waits_for") >= 0)
        .select("location", "callpath", pl.col("waits_for").alias("late"), "wait_ps")
        .collect()
    )


def _unattended(evidence: Evidence) -> pl.DataFrame:
    """Likewise for transfers, as far as their origins waited for them."""
    waited = pl.col("complete_leave_ps") - pl.col("complete_enter_ps")
    return (
        evidence.tables["transfers"]
        .filter(pl.col("processor_queueing_ps") > 0, pl.col("target") >= 0)
        .select(
            "location",
            pl.col("complete_callpath").alias("callpath"),
            pl.col("target").alias("late"),
            pl.min_horizontal("processor_queueing_ps", waited).alias("wait_ps"),
        )
        .filter(pl.col("wait_ps") > 0)
        .collect()
    )


def _findings(evidence: Evidence, pattern: Pattern, waits: pl.DataFrame) -> Iterable[Finding]:
    places = _places(evidence, pattern, waits)
    exposed: dict[int, float] = {}
    for (location, _), time in places.items():
        exposed[location] = exposed.get(location, 0.0) + time
    if waits.is_empty() or not evidence.matters(exposed):
        return
    by_late = {int(late): float(time) for late, time in waits.group_by("late").agg(wide_sum("wait_ps")).iter_rows()}
    total = sum(by_late.values())
    foremost = max(by_late, key=lambda late: (by_late[late], -late))
    named = [late for late, time in by_late.items() if time >= NAMED * by_late[foremost]]
    at = max(places, key=lambda place: places[place])[1]
    waiters = [location for location, time in exposed.items() if time > 0]
    first, last = evidence.active_windows([pattern.category], waiters)
    level = pattern.confidence if waits.height >= MIN_SAMPLES else min(pattern.confidence, MEDIUM)
    saving, how = _saving(evidence, pattern, exposed)
    confidence, certainty = evidence.confidence(level, f"{pattern.reason}{how}")
    yield Finding(
        kind=pattern.kind,
        named=evidence.named([*waiters, *named]),
        region=evidence.region(at),
        cause_region=evidence.delaying_region(foremost, at),
        evidence=(
            *evidence.exposed_numbers(exposed),
            *evidence.rank_numbers("waiting_rank", waiters),
            Number("waits", waits.height, "count"),
            *evidence.rank_numbers("late_rank", named),
            Number("foremost_late_rank_share", by_late[foremost] / total, "1"),
        ),
        confidence=confidence,
        certainty=certainty,
        callpath=at,
        first_window=first,
        last_window=last,
        exposed_ps=round(sum(exposed.values())),
        share=worst_hit(exposed, evidence.slowest_program_ps),
        gain=saving.gain,
        charges=places,
        fault={(late, "computing"): time / total for late, time in by_late.items()},
        removes=removed(evidence, graph_of(evidence), saving),
        cure=saving.cure,
    )


def _saving(evidence: Evidence, pattern: Pattern, exposed: Mapping[int, float]) -> tuple[Saving, str]:
    """What a cure saves, and how that is known, where it is not replayed."""
    graph = graph_of(evidence)
    if not follows(evidence, graph, (pattern.waits_for,), sum(exposed.values())):
        bound = Saving(gain_by_moving(evidence, exposed), {})
        return bound, "; what a cure saves is a bound, the most that one rank waits"
    ended = _ending(graph, pattern.waits_for)
    if pattern.kind in CODE_BEFORE and stands_directly_before(graph, ended, _before(evidence, graph, pattern.kind)):
        late_ps = _late_ps(graph, pattern.waits_for, ended)
        return what_moving_saves(evidence, graph, ended, late_ps), graph.stated("")
    if pattern.kind == "late_post":
        cured = Hypothesis(earlier=posted_at_once(graph))
    else:
        stay = _completed_at_once(evidence, graph) if pattern.kind == "late_complete" else None
        cured = Hypothesis(dropped=(pattern.waits_for,), stay_ps=stay)
    return saving_if(graph, met_again(graph, cured)), graph.stated("")


def _ending(graph: Graph, reason: Reason) -> Int32:
    """The calls at whose begin waits for this reason end."""
    return np.unique(graph.waits["source"][graph.waits["reason"] == wait_reasons().index(reason)])


def _late_ps(graph: Graph, reason: Reason, ended: Int32) -> Int64:
    """By how much each of these is behind the first call that waits for it."""
    of_reason = graph.waits["reason"] == wait_reasons().index(reason)
    source, waiting = graph.waits["source"][of_reason], graph.waits["call"][of_reason]
    late_ps = np.zeros(len(ended), dtype=np.int64)
    np.maximum.at(late_ps, np.searchsorted(ended, source), graph.enter_ps[source] - graph.enter_ps[waiting])
    return late_ps


def _before(evidence: Evidence, graph: Graph, kind: str) -> Flags:
    """The calls behind which such a call can stand: of a post one at a place where ranks wait for others, of a
    completion one that starts a transfer."""
    if kind == "late_post":
        return np.isin(graph.callpath, np.unique(graph.callpath[graph.meets]))
    started = evidence.tables["transfers"].select(pl.col("call").unique()).collect()
    return graph.flags(started["call"])


def posted_at_once(graph: Graph) -> Int32:
    """By call, of the posts that somebody waits for: the last call before it in which its rank waited for another one.

    A post can stand before what its rank does itself: no earlier than that rank is there, and its origins still wait
    so long.
    """
    posts, waited = _ending(graph, "access"), graph.meets
    rows = np.arange(graph.count, dtype=np.int32)
    last = np.maximum.accumulate(np.where(waited, rows, -1))  # up to each call
    found = np.full(graph.count, -1, dtype=np.int32)
    before = last[posts - 1]
    there = (posts > 0) & (before >= 0)
    there[there] = graph.location[before[there]] == graph.location[posts[there]]
    found[posts] = np.where(there, before, NOBODY)
    return found


def _completed_at_once(evidence: Evidence, graph: Graph) -> Int64:
    """By call: what it takes at least where an origin completes its access behind its transfers: the origin waits for
    these itself, and the target until they and the word of it have come."""
    stay = np.zeros(graph.count, dtype=np.int64)
    of_kind = graph.waits["reason"] == wait_reasons().index("exposure")
    waiting, completing = graph.waits["call"][of_kind], graph.waits["source"][of_kind]
    word = graph.waits["arrival_ps"][of_kind] - graph.enter_ps[completing]
    took = pl.sum_horizontal(f"{part}_ps" for part in TRANSFERRING)
    done = (
        evidence.tables["transfers"]
        .filter(pl.col("target") >= 0)
        .select("complete_call", "target", "start_leave_ps", done_ps=pl.col("start_ps") + took)
        .collect()
    )
    known = done.with_columns(source=graph.rows(done["complete_call"])).filter(pl.col("source") >= 0)
    waits = pl.DataFrame({"call": waiting, "target": graph.location[waiting], "source": completing, "word": word})
    both = waits.join(known, on=["source", "target"])
    for ends, times in (("source", both["done_ps"] - both["start_leave_ps"]), ("call", both["done_ps"] + both["word"])):
        call = both[ends].to_numpy()
        np.maximum.at(stay, call, times.to_numpy() - (graph.enter_ps[call] if ends == "call" else 0))
    return stay


def _places(evidence: Evidence, pattern: Pattern, waits: pl.DataFrame) -> Mapping[tuple[int, int], float]:
    """(location, call path) to the exposed time there. Waits of two patterns may have one category; then the call that
    waits tells them apart, and an access or a lock may wait in any call."""
    one_sided = evidence.callpaths.filter(pl.col("kind") == "one_sided")["callpath"].to_list()
    rows = evidence.exposure.filter(pl.col("category") == pattern.category, pl.col("callpath").is_in(one_sided))
    if pattern.category == "late_sender":
        rows = rows.filter(pl.col("callpath").is_in(waits["callpath"].unique().to_list()))
    sums = rows.group_by("location", "callpath").agg(wide_sum("exposed_ps")).sort("location", "callpath")
    return {(int(location), int(callpath)): float(time) for location, callpath, time in sums.iter_rows() if time > 0}
