"""Late-sender chains: who is waited for, what it does meanwhile, and where the chain of waiting begins.

A late-sender wait of receiver r for sender s is the interval from r's entering the receive to s's entering the send.
What s does in exactly that interval is known: it is outside communication (it computes), inside a communication call
that works (it is still busy with another message), or inside a call in which it waits itself: then the wait is
*indirect*, and its cause lies further up. This is the essence of Scalasca's delay analysis, measured at the moment of
waiting.

With f_s(c) the fraction of the intervals in which others wait for s that s spends in cause c (a region in which it
computes, a call in which it works or waits for something else), f_s(indirect) the fraction in which it waits for a late
sender itself, and T(s, q) the share of q in s's own late-sender waits, waiting W is passed up the chain until nothing
is left:

    W_0(s) = exposed late-sender wait of all receivers for s
    caused(s, c) += W_k(s) f_s(c)
    W_{k+1}(q) = sum_s W_k(s) f_s(indirect) T(s, q)

Late-sender parts of messages that overlap in one Waitall count once on the receiver: each is scaled by the receiver's
exposed late-sender time over the sum of its messages' parts. All in picoseconds. The intervals are those of the
`LARGEST` longest waits; how much of the whole they cover is said in the evidence.

Receivers that ask for their message with Probe, or with Test or Iprobe in a loop, wait as well (`polled`). Where ranks
cause no more waiting than they suffer, or than their code varies by chance, they are late in turn, as noise makes
them: a finding only beyond `NOISE`.

Gain: the time traced to the cause on the worst-hit receiver, where what is late can be done later (`gain`). Work before
the send may instead be shared by those who are late and those who wait, which saves their mean wait, and the ways of
the messages that then come before they are asked for (`ways_of_late`); the larger one is stated, of shared work no more
than its replay saves (`late_work`). Where the delay costs lie in calls, computing at the moment of waiting is not what
made the sender late (`delayed_by`), and no more is gained than if nobody waited for a sender. Delay costs know no waits
of receivers that poll: they are not asked where these are most of the waiting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence.chance import chance_of
from logpost.analyzer.findings.evidence.delayed_by import computed_share
from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.late_work import shared_by_groups
from logpost.analyzer.findings.evidence.meanwhile import Cause, Meanwhile, meanwhile_of
from logpost.analyzer.findings.evidence.own_time import took_longer
from logpost.analyzer.findings.evidence.polled import polled_place, polled_waits
from logpost.analyzer.findings.evidence.slow_ranks import by_exception
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.ways_of_late import ways_of_late
from logpost.analyzer.findings.evidence.what_if import Cure, Hypothesis, saving_if
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SHARE, NOISE, OF_CAUSE, Finding, Number, worst_hit
from logpost.analyzer.findings.gain import gain_by_moving, gain_by_sharing
from logpost.analyzer.run.wide import exact_sum

LARGEST = 8192
"""Waits that are followed to their cause; the longest ones, which hold most of the time."""
MOST_SENDERS = 64
"""Late senders whose calls are read: those that cause the most waiting."""
STEPS = 64
"""Longest chain; waiting that is still indirect beyond it is cyclic."""
REPORTED = 3
"""Most causes reported."""
LEAST_OF_FIRST = 1 / 3
"""A further cause must hold this much of the first one's waiting; a smaller one would only draw attention from it."""

BY_COMPUTING = 0.5
"""Part of what delays the waits that computation must be, before work is what can be given away."""
MOSTLY_POLLED = 0.5
"""Part of the waiting that is by polling, before delay costs say nothing about the whole."""
PERSISTENT = 0.5
"""Part of the waiting that ranks cause beyond what they suffer themselves, before they are late rather than unlucky."""

CERTAIN = 3.0
"""Standard deviations by which a rank must be late beyond chance: less is noise that happened to add up."""
CERTAIN_COVER, CERTAIN_PART = 0.8, 0.5
"""Share of the time in the waits followed, and of it traced to one cause, before that is sure."""

Sums = npt.NDArray[np.float64]


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per causing region, of those that cost the worst-hit rank at least `MIN_SHARE`."""
    polled = polled_waits(evidence)
    if polled.is_empty() and not evidence.worth_a_look(["late_sender"]):
        return
    waits = _with_polled(_waits(evidence), polled)
    if waits.is_empty():
        return
    largest = _largest(evidence.tables["messages"])
    if polled.height:
        intervals = polled.select("location", "callpath", "begin_ps", "end_ps").cast(largest.schema)
        largest = pl.concat([largest, intervals])
    senders = (
        waits.group_by("sender", maintain_order=True)
        .agg(pl.col("wait").sum())
        .sort("wait", "sender", descending=[True, False])["sender"]
        .head(MOST_SENDERS)
    )
    meanwhile = {key[0]: state for key, state in meanwhile_of(evidence, largest, senders.to_list()).items()}
    every = exact_sum(evidence.pairs["late_sender_ps"]) + exact_sum(polled["end_ps"] - polled["begin_ps"])
    covered = exact_sum(largest["end_ps"] - largest["begin_ps"]) / max(1, every)
    yield from _findings(evidence, waits, meanwhile, largest, min(1.0, covered))


def _with_polled(waits: pl.DataFrame, polled: pl.DataFrame) -> pl.DataFrame:
    """The waits with those of receivers that ask for their message again and again until it has come."""
    asked = polled.group_by("receiver", pl.col("location").alias("sender")).agg(
        wait=(pl.col("end_ps") - pl.col("begin_ps")).cast(pl.Float64).sum()
    )
    every = pl.concat([waits, asked.select(waits.columns).cast(waits.schema)])
    return (
        every.group_by("receiver", "sender", maintain_order=True).agg(pl.col("wait").sum()).sort("receiver", "sender")
    )


def _largest(messages: pl.LazyFrame) -> pl.DataFrame:
    """The `LARGEST` longest waits. Two passes over one column each cost less than a sort of 10^7 rows."""
    parts = messages.select("late_sender_ps").collect()["late_sender_ps"].to_numpy()
    least = 1 if len(parts) <= LARGEST else max(1, int(np.partition(parts, -LARGEST)[-LARGEST]))
    return (
        messages.filter(pl.col("late_sender_ps") >= least, pl.col("send_location") != pl.col("recv_location"))
        .select(
            location="send_location",
            callpath="send_callpath",
            begin_ps=pl.col("send_enter_ps") - pl.col("late_sender_ps"),
            end_ps="send_enter_ps",
        )
        .collect()
        .head(2 * LARGEST)
    )


def _waits(evidence: Evidence) -> pl.DataFrame:
    """(receiver, sender, wait): exposed late-sender time, shared over senders as the messages' parts are; ps."""
    exposed = evidence.exposed_of(["late_sender"])
    times = pl.DataFrame(
        {"receiver": list(exposed), "exposed": [float(time) for time in exposed.values()]},
        schema={"receiver": pl.Int32, "exposed": pl.Float64},
    )
    return (
        evidence.pairs.filter(pl.col("late_sender_ps") > 0)
        .select(
            receiver=pl.col("recv_location"),
            sender=pl.col("send_location"),
            part=pl.col("late_sender_ps").cast(pl.Float64),
        )
        .join(times, on="receiver")
        .select("receiver", "sender", wait=pl.col("part") / pl.col("part").sum().over("receiver") * pl.col("exposed"))
        .filter(pl.col("wait") > 0)
        .sort("receiver", "sender")
    )


def _findings(
    evidence: Evidence, waits: pl.DataFrame, meanwhile: dict[int, Meanwhile], largest: pl.DataFrame, covered: float
) -> Iterable[Finding]:
    index = {location: i for i, location in enumerate(sorted(set(waits["sender"]) | set(waits["receiver"])))}
    locations = list(index)
    size = len(locations)
    # Row: the worst-hit receivers one by one, then all others together; column: for whom the waiting stands at the
    # moment.
    order = (
        waits.group_by("receiver", maintain_order=True)
        .agg(pl.col("wait").sum())
        .sort("wait", "receiver", descending=[True, False])["receiver"]
        .to_list()
    )
    row = {receiver: min(i, MOST_SENDERS) for i, receiver in enumerate(order)}
    standing = np.zeros((min(len(order), MOST_SENDERS + 1), size))
    upstream: dict[int, list[tuple[int, float]]] = {}
    for receiver, sender, wait in waits.iter_rows():
        standing[row[receiver], index[sender]] += wait
        upstream.setdefault(index[receiver], []).append((index[sender], wait))
    indirect = np.array([meanwhile[loc].late_sender if loc in meanwhile else 0.0 for loc in locations])
    total = float(standing.sum())
    visited = np.zeros_like(standing)
    for _ in range(STEPS):
        visited += standing
        passing = standing * indirect
        if passing.sum() < 1e-6 * total:
            break
        standing = np.zeros_like(standing)
        for at in np.flatnonzero(passing.sum(axis=0)):
            above = upstream.get(int(at), [])
            every = sum(wait for _, wait in above)
            for sender_index, wait in above:
                standing[:, sender_index] += passing[:, at] * (wait / every)

    caused: dict[Cause, dict[int, Sums]] = {}
    for location, state in meanwhile.items():
        for cause, fraction in state.causes.items():
            caused.setdefault(cause, {})[location] = visited[:, index[location]] * fraction
    sums = {cause: sum(float(column.sum()) for column in columns.values()) for cause, columns in caused.items()}
    for cause in sorted(sums, key=lambda cause: -sums[cause])[:REPORTED]:
        weights = {location: float(column.sum()) for location, column in caused[cause].items() if column.sum() > 0}
        if not weights:
            continue
        by_receiver = np.sum(list(caused[cause].values()), axis=0)
        single = {order[i]: float(by_receiver[i]) for i in range(min(len(order), MOST_SENDERS))}
        if not evidence.matters(single) or sums[cause] < LEAST_OF_FIRST * max(sums.values()):
            continue
        moving, sharing = _gain(evidence, cause, weights, single, waits)
        if max(moving, sharing) < MIN_SHARE:
            continue
        chain = _chain(max(single, key=lambda r: single[r]), waits, meanwhile)
        traced = Traced(cause, weights, single, float(by_receiver.sum()), total, chain, largest.height, covered)
        gain, cure = _cured(evidence, traced, waits, moving, sharing)
        if gain < MIN_SHARE:
            continue
        yield replace(_finding(evidence, traced, meanwhile), gain=gain, cure=cure)


def _gain(
    evidence: Evidence,
    cause: Cause,
    by_sender: Mapping[int, float],
    by_receiver: Mapping[int, float],
    waits: pl.DataFrame,
) -> tuple[float, float]:
    """What is saved at most where what is late is done later, and where work is shared, 0 where it cannot be; both are
    0 where everybody is late in turn, and by no more than noise makes them."""
    graph = graph_of(evidence)
    moved = saving_if(graph, Hypothesis(dropped=("send",))).gain
    polled = polled_waits(evidence)
    asked = exact_sum(polled["end_ps"] - polled["begin_ps"])
    if cause.doing == "computing" and asked <= MOSTLY_POLLED * float(waits["wait"].sum()):
        places = {callpath for _, callpath in evidence.charges(by_receiver, ["late_sender"])}
        computed = computed_share(evidence, places, by_sender)
        if computed is not None and computed < BY_COMPUTING:
            gain = min(gain_by_moving(evidence, by_receiver), moved)
            return (gain if gain > NOISE and evidence.divides("late_sender") else 0.0), 0.0
    gain, shared = gain_by_moving(evidence, by_receiver), 0.0
    if cause.doing == "computing":
        shared = gain_by_sharing(evidence, saved_by_sharing(by_sender, by_receiver))
    suffered = dict(waits.group_by("receiver", maintain_order=True).agg(pl.col("wait").sum()).iter_rows())
    net = sum(max(0.0, time - suffered.get(sender, 0.0)) for sender, time in by_sender.items())
    persistent = net > PERSISTENT * sum(by_sender.values()) and took_longer(graph) > PERSISTENT
    if persistent and (cause.doing != "computing" or _beyond_chance(evidence, by_sender, suffered, waits)):
        return gain, shared
    gain = min(max(gain, shared), moved)
    return (gain if gain > NOISE else 0.0), 0.0


def _beyond_chance(
    evidence: Evidence, by_sender: Mapping[int, float], suffered: Mapping[int, float], waits: pl.DataFrame
) -> bool:
    """Whether some rank lets each of those who wait for it wait longer, beyond what it waits itself, than its code
    varies by chance."""
    receivers = dict(waits.group_by("sender").agg(pl.col("receiver").n_unique()).iter_rows())
    most = max((time - suffered.get(one, 0.0)) / receivers.get(one, 1) for one, time in by_sender.items())
    return bool(most >= CERTAIN * chance_of(evidence, by_sender))


def _cured(
    evidence: Evidence, traced: Traced, waits: pl.DataFrame, moving: float, sharing: float
) -> tuple[float, Cure]:
    """The better cure, and what it saves. Shared work saves what its replay does: not all who wait can share with all
    who are late, and whose message comes while they work do not wait for its way either."""
    ways = ways_of_late(graph_of(evidence)) if sharing > 0 and graph_of(evidence).whole else {}
    hidden = float(sum(ways.get(receiver, 0) for receiver in traced.by_receiver))
    saved = saved_by_sharing(traced.by_sender, traced.by_receiver)
    most = gain_by_sharing(evidence, saved + hidden / len(traced.everybody), hidden)
    if sharing > 0 and max(sharing, most) > moving:
        cure = _cure(evidence, traced, waits, shared=True)
        replayed = cure.hypothesis.gap_ps is not None and cure.graph.whole
        gain = min(most, cure.gain()) if replayed else sharing
        if max(sharing, gain) > moving:
            return gain, cure
    return moving, _cure(evidence, traced, waits, shared=False)


def _cure(evidence: Evidence, traced: Traced, waits: pl.DataFrame, *, shared: bool) -> Cure:
    graph = graph_of(evidence)
    late = _late_ranks(traced.by_sender)
    if not shared or by_exception(late, traced.everybody):
        return Cure(graph, Hypothesis(dropped=("send",), of=np.isin(graph.messages.sender, late)))
    pairs = waits.filter(pl.col("sender").is_in(late), pl.col("receiver").is_in(list(traced.by_receiver)))
    return shared_by_groups(evidence, graph, pairs.select("receiver", "sender").iter_rows())


def _late_ranks(by_sender: Mapping[int, float]) -> list[int]:
    """Those who are waited for at least a quarter as long as the foremost one."""
    heaviest = max(by_sender.values())
    return [location for location, weight in by_sender.items() if weight >= 0.25 * heaviest]


def saved_by_sharing(by_sender: Mapping[int, float], by_receiver: Mapping[int, float]) -> float:
    """What those who wait and those who are late save if these do as much less as those more: the mean wait of all of
    them. A few who are late by exception may as well become as fast as the others, who then wait for nobody; ps."""
    everybody = by_sender.keys() | by_receiver.keys()
    if by_exception(_late_ranks(by_sender), everybody):
        return max(by_receiver.values())
    return sum(by_receiver.values()) / len(everybody)


@dataclass(frozen=True)
class Traced:
    """A cause with the waiting that was traced to it; times in ps."""

    cause: Cause
    by_sender: dict[int, float]
    by_receiver: dict[int, float]
    exposed: float
    all_late_sender: float
    chain: list[int]
    intervals: int
    covered: float

    @property
    def everybody(self) -> set[int]:
        """Who is late, and who waits."""
        return {*self.by_sender, *self.by_receiver}


def _inside(state: Meanwhile) -> tuple[Number, ...]:
    """Where the machine does not tell work in calls from waiting."""
    share = state.share("inside")
    return (Number("it_works_or_waits_in_calls_meanwhile", share, "1"),) if share > 0 else ()


def _chain(receiver: int, waits: pl.DataFrame, meanwhile: dict[int, Meanwhile]) -> list[int]:
    """From a waiting rank along the largest waits to the rank that computes, without visiting a rank twice."""
    chain = [receiver]
    while True:
        above = waits.filter(pl.col("receiver") == chain[-1], ~pl.col("sender").is_in(chain)).sort(
            "wait", descending=True
        )
        if above.is_empty():
            return chain
        chain.append(int(above["sender"][0]))
        state = meanwhile.get(chain[-1])
        if state is None or state.late_sender <= 0.5:
            return chain


def _finding(evidence: Evidence, traced: Traced, meanwhile: dict[int, Meanwhile]) -> Finding:
    late = _late_ranks(traced.by_sender)
    first_late = max(traced.by_sender, key=lambda location: traced.by_sender[location])
    state = meanwhile[first_late]
    most_hit = max(traced.by_receiver.values())
    waiters = [location for location, time in traced.by_receiver.items() if time >= 0.25 * most_hit]
    callpath, region = evidence.where(["late_sender"], waiters)
    if callpath < 0:
        callpath = polled_place(evidence, waiters)
        region = evidence.region(callpath)
    first, last = evidence.active_windows(["late_sender"], waiters)
    ratio = traced.exposed / traced.all_late_sender if traced.all_late_sender > 0 else 0.0
    inside = traced.cause.doing == "inside"
    certain = traced.covered >= CERTAIN_COVER and ratio >= CERTAIN_PART
    confidence, certainty = evidence.confidence(
        HIGH if certain else MEDIUM,
        f"the intervals are measured; the cause is known from {traced.cause.known_from}"
        + (", and not whether that works or waits" if inside else ""),
        ["late_sender"],
    )
    return Finding(
        kind="late_sender_chain",
        named=evidence.named([*waiters, *late]),
        region=region,
        cause_region=traced.cause.region,
        evidence=(
            Number("late_sender_time", traced.all_late_sender, "ps"),
            Number(f"traced_to_{traced.cause.doing}", traced.exposed, "ps"),
            Number("share_traced", ratio, "1"),
            *evidence.rank_numbers("waiting_rank", waiters),
            *evidence.rank_numbers("late_rank", late),
            *evidence.rank_numbers("foremost_late_rank", [first_late]),
            Number("it_computes_meanwhile", state.share("computing"), "1"),
            Number("it_works_in_calls_meanwhile", state.share("working"), "1"),
            Number("it_waits_meanwhile", state.waiting, "1"),
            *_inside(state),
            *(Number.of("waiting_for", *evidence.named([one]), in_order=True) for one in traced.chain),
            Number("longest_waits_followed", traced.intervals, "count"),
            Number("their_share_of_the_time", traced.covered, "1"),
        ),
        confidence=confidence,
        certainty=certainty,
        callpath=callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(traced.exposed),
        share=worst_hit(traced.by_receiver, evidence.slowest_program_ps),
        gain=0.0,
        charges=evidence.charges(traced.by_receiver, ["late_sender"]),
        fault={
            (location, OF_CAUSE[traced.cause.doing]): weight / sum(traced.by_sender.values())
            for location, weight in traced.by_sender.items()
        },
        waits_in=traced.cause.region if traced.cause.doing == "waiting" else "",
    )
