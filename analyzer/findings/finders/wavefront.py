"""Wavefront: ranks work one after the other, each on what the one before it has passed on; the rest waits meanwhile.

While a rank waits for a message, its sender computes, having waited itself for its own sender, which computed before
that, and so on: the *depth* of a wait is the number of ranks that compute one after the other during it. A late rank
gives depth 1, and whatever propagates through ranks that all compute at the same time as well. A pipeline filled
once per sweep gives as many as there are ranks in front.

Work that takes longer on one rank than on the others makes ranks wait behind each other as well, from step to step. So
it is no wavefront where the program saves as much with work that is even: with no gap between two calls that is longer
than the median of its place, over the ranks that come there as often.

Gain: the same program in k blocks, for the k that saves most. A rank passes on w, what it did since it got its own
message, or since it passed on the message before, and the next rank waits no longer for all of it, but from when w
began for

    w / k + c + S / k

with S what the message's bytes take and c the rest. k - 1 more messages cost each rank what a processor spends on their
receives and sends: the last one does not send, and gets its blocks no faster than the others pass them on. It is so at
all places of the chained waits, whether a rank waited there or a pipeline was filled by then. The program is as long as
its longest path, a sum of such times, and so convex in k: the first k that saves less than the one before ends it.
Where the machine does not divide what a message takes, all of it may be the processors': then least is saved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import Flags, Graph, graph_of, sums_by
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving, saving_if
from logpost.analyzer.findings.finding import HIGH, MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of
from logpost.analyzer.run.wide import exact_sum
from logpost.replay.columns import Int32, Int64

LEAST_DEPTH = 2
"""Ranks that compute one after the other while the last one waits: from two on it is a chain, not a late rank."""
BLOCKS = tuple(2**i for i in range(1, 11))
"""Numbers of blocks that are tried."""
MAINLY = 0.5
"""More than half of the waiting for senders at a place."""
SEVERAL = 3
"""Ranks whose median is what is usual."""
SOME = 0.5
"""Part of the mean stretch of code before such a message that is a stretch of its own."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run, of the places where most waiting for senders is for a chain of ranks."""
    if not evidence.worth_a_look(["late_sender"]):
        return
    graph = graph_of(evidence)
    waits = _waits(graph)
    depths = graph.native.depths(waits)
    waits, depths = _where_most_are_chained(graph, waits, depths)
    total = exact_sum(graph.length[waits])
    chained, depths = waits[depths >= LEAST_DEPTH], depths[depths >= LEAST_DEPTH]
    times = graph.length[chained]
    time = exact_sum(times)
    if not len(chained):
        return
    saving = _if_in_blocks(graph, chained)
    if saving.gain < MIN_SHARE or saving_if(graph, _even(graph)).gain > MAINLY * saving.gain:
        return
    by_place = sums_by(graph.callpath[chained], times)
    place = max(by_place, key=lambda callpath: by_place[callpath])
    worst = int(graph.location[chained[depths.argmax()]])
    yield finding_of(
        evidence,
        graph,
        "wavefront",
        saving,
        at_fault={*graph.location[waits].tolist(), worst},
        callpath=place,
        cause_region=evidence.delaying_region(worst, place) or "",
        numbers=(
            Number("depth", int(depths.max()) + 1, "count"),
            Number("chained_waits", len(chained), "count"),
            Number("share_of_waiting_for_senders", time / total, "1"),
            Number("mean_wait", time / len(chained), "ps"),
        ),
        confidence=evidence.confidence(
            HIGH if len(chained) >= MIN_SAMPLES else MEDIUM,
            "who computes while others wait is measured",
            ["late_sender"],
        ),
    )


def _where_most_are_chained(graph: Graph, waits: Int32, depths: Int32) -> tuple[Int32, Int32]:
    """The waits of such places, and their depths."""
    times, places = graph.length[waits].astype(np.float64), graph.callpath[waits]
    every = np.bincount(places, weights=times)
    chained = np.bincount(places, weights=np.where(depths >= LEAST_DEPTH, times, 0.0), minlength=len(every))
    here = (chained > MAINLY * every)[places]
    return waits[here], depths[here]


def _if_in_blocks(graph: Graph, chained: Int32) -> Saving:
    """The same program with what is passed on at the places of these waits cut into the number of blocks that saves
    most."""
    messages, parts = graph.messages, graph.messages.parts
    sent_at = graph.callpath[graph.last_source(chained)]
    of = np.isin(graph.callpath[messages.recv_call], np.unique(graph.callpath[chained]))
    of &= np.isin(graph.callpath[messages.send_call], np.unique(sent_at))
    begins = _begins(graph, of)[messages.send_call]
    own = np.cumsum(graph.gap_ps + graph.work_ps)
    send = messages.send_call
    waited = graph.enter_ps[send] - graph.enter_ps[messages.recv_call]
    # Where nothing is before it in the program, the receiver's wait is what is known of the work.
    since = np.where(begins >= 0, 2 * begins + 1, 2 * messages.recv_call)
    of &= (begins >= 0) | (waited > 0)
    done = np.where(of, np.where(begins >= 0, own[send] - graph.work_ps[send] - own[begins], waited), 0)
    # Behind an operation in which all met, it did other work until its receiver asked.
    asked = graph.enter_ps[messages.recv_call] - graph.leave_ps[begins]
    ahead = np.where((begins >= 0) & graph.is_member[begins], np.clip(asked, 0, done), 0)
    bytes_ps = parts["serialization"]
    heads = of & ~np.isin(begins, messages.recv_call[of])
    # Behind the receive, before what the rank does with it.
    behind = np.where(graph.following >= 0, graph.following, np.arange(graph.count))[messages.recv_call]

    def best(sends: Int64, receives: Int64) -> Saving:
        """With the number of blocks that saves most, where each message takes so much of its two processors."""
        handled = np.bincount(behind, weights=np.where(of, sends + receives, 0), minlength=graph.count)
        handled += np.bincount(send, weights=np.where(heads, sends, 0), minlength=graph.count)
        found = Saving(0.0, {})
        for blocks in BLOCKS:
            in_blocks = Hypothesis(
                gap_ps=graph.gap_ps + np.rint((blocks - 1) * handled).astype(np.int64),
                instead=np.where(of, since, -1).astype(np.int32),
                lag_ps=ahead + (done - ahead + bytes_ps) // blocks + messages.transport - bytes_ps,
            )
            one = saving_if(graph, in_blocks)
            if one.gain < found.gain:
                break
            found = one
        return found

    sends, receives, unknown = parts["send_overhead"], parts["recv_overhead"], messages.undivided_ps
    saving = best(sends, receives)
    if saving.cure is None or not unknown[of].any():
        return saving
    # All of it may be the sender's or the receiver's: in a row of ranks, each of them does both.
    least = best(sends, receives + unknown).cure
    return replace(saving, cure=replace(saving.cure, at_least=least.hypothesis if least is not None else Hypothesis()))


def _even(graph: Graph) -> Hypothesis:
    """The same program with gaps between the same two calls, for the same time on each rank, that are no longer than
    the median of the ranks."""
    rows = pl.DataFrame(
        {
            "location": graph.location,
            "before": graph.callpath_before,
            "callpath": graph.callpath,
            "gap": graph.gap_ps,
        }
    ).with_columns(time=pl.int_range(pl.len()).over("location", "before", "callpath"))
    of = ("before", "callpath", "time")
    median = pl.when(pl.len().over(of) >= SEVERAL).then(pl.col("gap").median().over(of)).otherwise(pl.col("gap"))
    even = rows.select(pl.min_horizontal("gap", median.cast(pl.Int64)))
    return Hypothesis(gap_ps=even["gap"].to_numpy())


def _begins(graph: Graph, of: Flags) -> Int32:
    """By call: the call behind which its rank began with what it passes on next: the last one that got or passed on
    such a message, or in which all met; -1: none."""
    messages = graph.messages
    passes = np.zeros(graph.count, dtype=np.bool_)
    passes[messages.send_call[of]] = True
    # Several messages of one stretch of work are passed on one after the other.
    stretches = graph.gap_ps[passes & graph.follows]
    long = graph.gap_ps >= SOME * float(stretches.mean() if len(stretches) else 0.0)
    ends = graph.is_member.copy()
    ends[messages.recv_call[of]] = True
    ends[:-1] |= passes[:-1] & long[1:]
    rows = np.arange(graph.count)
    last = np.where(ends, rows, -1)
    before = np.concatenate([[-1], np.maximum.accumulate(last)[:-1]]) if graph.count else last
    first = np.maximum.accumulate(np.where(graph.follows, 0, rows))
    return np.where(before >= first, before, -1).astype(np.int32)


def _waits(graph: Graph) -> Int32:
    """The calls that wait for a sender which comes after them."""
    calls = graph.waiting_for("send")
    return calls[graph.enter_ps[graph.last_source(calls)] > graph.enter_ps[calls]]
