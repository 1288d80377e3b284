"""Collective cost: the time inside collective operations that is not waiting for the last rank, or the root.

Per call site, beside what the machine's values say that an operation of p members and B bytes takes at least, by the
number of its rounds and by its bytes (Hockney's line; Thakur, Rabenseifner & Gropp, 2005):

    latency     ceil(log2 p) (o_s + L + o_r)       p - 1 rounds where each member has data for each other one
    bandwidth   B G                      B of one part, or of one for each other member (`part_bytes.least_moved`)

Where the machine is estimated and its L only bounded, a round takes what it takes in the shortest operation of the run;
what a fence takes is then not told from the transfers that it completes, and is compared with the shortest fence that
completes some, or none, as it does.

Where the replay divides the operations (table `collective_parts`), it says what share of the cost is rounds (latency
and overheads: fewer operations save it) and what is bytes (serialization: fusing saves none of it), and the larger of
these two tells what to try; else the larger of the minima does.

Operations that directly follow another one of their kind (`successive`) could be one with all values in one buffer.
What a rank waits in those is no work that came late: it is part of this cost, and `collective_wait` does not claim it.
The time after the last member has come is no waiting for it, however uneven the members were: that is
`collective_wait`.

Where nothing is known of messages, no minimum is: the whole cost is then what is said, beyond `NOISE` only. So is that
of operations which take no longer than their rounds and their bytes together: only less data would save it.

Gain: on the worst-hit rank, the operations that follow another one where these are most, waiting included, bytes not;
else the cost beyond the latency that every algorithm pays: less data, or another algorithm, saves no more. At most what
the program saves without those operations, or with none that takes longer, where that is replayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.machine_values import measures, most_ps, value_ps
from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.part_bytes import least_moved
from logpost.analyzer.findings.evidence.rounds import rounds, shortest_round
from logpost.analyzer.findings.evidence.successive import IN_A_ROW, Successive, successive, with_follows
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, Saving, saving_if
from logpost.analyzer.findings.finding import HIGH, LOW, MEDIUM, MIN_SAMPLES, NOISE, Finding, Number, worst_hit
from logpost.analyzer.run.before_last import FROM_ROOT, TO_ROOT, before_last
from logpost.analyzer.run.phases import program
from logpost.analyzer.run.schema import HANDLE_OPERATIONS
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.units import count_text

PLACES = 8
"""Most places reported; the costliest ones."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per call path whose collective operations cost the worst-hit rank at least `MIN_SHARE`."""
    if not evidence.worth_a_look(["collective", "collective_wait"]):
        return
    calls = successive(evidence)
    spent = evidence.exposure.filter(pl.col("category") == "collective", pl.col("exposed_ps") > 0)
    early = before_last(*(evidence.tables[name] for name in ("collectives", "communicators", "locations"))).collect()
    spent = spent.join(early, on=("location", "callpath"), how="left", maintain_order="left").with_columns(
        (pl.col("exposed_ps") - pl.col("before_last_ps").fill_null(0)).clip(lower_bound=0)
    )
    found = []
    for callpath in sorted(calls.members):
        if calls.operations[callpath] in HANDLE_OPERATIONS:
            continue
        rows = spent.filter(pl.col("callpath") == callpath).select("location", "exposed_ps")
        cost = dict.fromkeys(calls.at(callpath), 0.0) | dict(rows.iter_rows())
        if sum(cost.values()) < sum(place.calls for place in calls.at(callpath).values()):
            continue  # below a picosecond each: all of it is waiting
        if calls.operations[callpath] == "Fence" and not evidence.divides("latency", "serialization"):
            saved = {
                location: min(cost[location], _fences(evidence).get((location, callpath), 0.0)) for location in cost
            }
        else:
            saved = _saved(evidence, calls, callpath, cost)
        if not evidence.matters(saved):
            continue
        finding = _finding(evidence, callpath, cost, saved, calls)
        # It may be as short as it can with this data: less data is worth a word where it is worth a lot.
        if calls.share(callpath) > IN_A_ROW or _takes_longer(evidence, calls, callpath, cost) or finding.gain > NOISE:
            found.append(finding)
    yield from sorted(found, key=lambda finding: -finding.gain)[:PLACES]


ROUNDS = ("send_overhead", "latency", "recv_overhead")
"""Parts of an operation that each message pays, whatever its size."""
BYTES = ("serialization",)
ROOTED = {"wait_for_root": FROM_ROOT, "root_waits_for": TO_ROOT}
"""Operations in which members wait for the root alone, and the root alone waits for members."""
BARRIER = "barrier"
"""The operation that moves no data."""


@dataclass(frozen=True)
class Estimate:
    """What an operation takes at least on this machine; ps."""

    latency: float
    bandwidth: float
    bandwidth_at_most: float | None
    """where the machine only bounds what a byte takes; None: it does not even do that"""


def _estimate(evidence: Evidence, operation: str, members: float, size: float) -> Estimate | None:
    """None where the machine says nothing of its messages, and no barrier tells what a round takes."""
    locality = "other_node" if evidence.manifest.hosts.nodes > 1 else "same_node"
    letters = [value_ps(evidence.manifest.machine, locality, letter, size) for letter in ("L", "o_s", "o_r", "G")]
    estimated = evidence.manifest.machine.origin == "estimated"
    if all(letter is None for letter in letters):
        if operation.lower() == BARRIER or not _barriers(evidence):
            return None
        return Estimate(rounds(operation, members) * shortest_round(evidence), 0.0, 0.0 if size == 0 else None)
    latency, o_s, o_r, gap = (letter or 0.0 for letter in letters)
    known = measures(evidence.manifest.machine, locality, "L")
    one = o_s + latency + o_r if known or not estimated else shortest_round(evidence)
    most = most_ps(evidence.manifest.machine, locality, "G", size)
    moved = least_moved(operation, members, size)
    return Estimate(rounds(operation, members) * one, moved * gap, None if most is None else moved * most)


@dataclass(frozen=True)
class Divided:
    """What the replay says of the cost at a place; shares of it."""

    rounds: float
    bytes: float


def _divided(evidence: Evidence, callpath: int) -> Divided | None:
    """None where the replay, or the machine, does not divide the operations."""
    if not evidence.divides(*ROUNDS, *BYTES):
        return None
    rows = program(evidence.tables["collective_parts"]).filter(pl.col("callpath") == callpath)
    sums = rows.group_by(pl.col("part").cast(pl.String)).agg(wide_sum("exposed_ps")).collect()
    parts = dict(sums.iter_rows())
    whole = sum(parts.values())
    if whole == 0 or parts.get("not_divided", 0) == whole:
        return None
    return Divided(*(sum(parts.get(part, 0) for part in kind) / whole for kind in (ROUNDS, BYTES)))


@once
def _barriers(evidence: Evidence) -> bool:
    """Whether the run has any."""
    operations = (
        evidence.tables["collectives"].filter(pl.col("instance") >= 0).select(pl.col("operation").cast(pl.String))
    )
    return bool((operations.collect()["operation"].str.to_lowercase() == BARRIER).any())


@once
def _fences(evidence: Evidence) -> dict[tuple[int, int], float]:
    """(location, call path) to what its fences take beyond the shortest one of their kind; ps."""
    ends = evidence.tables["transfers"].select(call="complete_call").unique().with_columns(ends=pl.lit(value=True))
    took = pl.col("leave_ps") - pl.col("enter_ps") - pl.col("wait_ps")
    own = (
        evidence.tables["collectives"]
        .filter(pl.col("operation").cast(pl.String) == "Fence", pl.col("instance") >= 0)
        .select("instance", "location", "callpath", "call", took=took)
        .join(ends, on="call", how="left")
        .with_columns(ends=pl.col("ends").any(ignore_nulls=True).over("instance"))
    )
    shortest = (
        own.group_by("instance", "ends").agg(pl.col("took").max()).group_by("ends").agg(least=pl.col("took").min())
    )
    rows = (
        own.join(shortest, on="ends")
        .group_by("location", "callpath")
        .agg((pl.col("took") - pl.col("least")).clip(lower_bound=0).sum())
        .collect()
    )
    return {(location, callpath): float(time) for location, callpath, time in rows.iter_rows()}


def _saved(evidence: Evidence, calls: Successive, callpath: int, cost: Mapping[int, float]) -> dict[int, float]:
    """Location to what a cure saves it at most: calls that follow another one, else what no latency explains; ps."""
    here = calls.at(callpath)
    if calls.share(callpath) > IN_A_ROW:
        divided = _divided(evidence, callpath)
        kept = divided.bytes if divided is not None else 0.0
        return {location: place.following_ps - kept * place.following_ps for location, place in here.items()}
    estimate = _estimate_at(evidence, calls, callpath)
    least = estimate.latency if estimate is not None else 0.0
    return {location: max(0.0, cost[location] - place.calls * least) for location, place in here.items()}


def _takes_longer(evidence: Evidence, calls: Successive, callpath: int, cost: Mapping[int, float]) -> bool:
    """Whether an operation takes longer than all rounds and all bytes that it needs; no where nothing is known."""
    estimate = _estimate_at(evidence, calls, callpath)
    count = sum(place.calls for place in calls.at(callpath).values())
    return estimate is not None and sum(cost.values()) > count * (estimate.latency + estimate.bandwidth)


def _estimate_at(evidence: Evidence, calls: Successive, callpath: int) -> Estimate | None:
    here = calls.at(callpath).values()
    size = sum(place.bytes for place in here) / max(1, sum(place.calls for place in here))
    return _estimate(evidence, calls.operations[callpath], calls.members[callpath], size)


def _replayed(evidence: Evidence, calls: Successive, callpath: int) -> Saving | None:
    """What the cure saves; None where the graph holds a part of the program, or transfers end in the operations."""
    graph = graph_of(evidence)
    if not graph.whole or calls.operations[callpath] == "Fence":
        return None
    here = graph.is_member & (graph.callpath == callpath)
    if calls.share(callpath) > IN_A_ROW:
        follows = here & graph.flags(_following(evidence))
        divided = _divided(evidence, callpath)
        kept = np.rint(graph.length * (divided.bytes if divided is not None else 0.0)).astype(np.int64)
        return saving_if(graph, Hypothesis(work_ps=np.where(follows, kept, graph.work_ps), freed=follows))
    estimate = _estimate_at(evidence, calls, callpath)
    least = round(estimate.latency) if estimate is not None else 0
    shorter = np.where(here, np.minimum(graph.work_ps, least), graph.work_ps)
    return saving_if(graph, Hypothesis(work_ps=shorter, member_ps=np.where(here, least, np.iinfo(np.int64).max)))


@once
def _following(evidence: Evidence) -> pl.Series:
    """The calls that directly follow another one of their kind."""
    rows = with_follows(evidence.tables["collectives"], "call")
    return rows.filter(pl.col("follows"))["call"]


def _estimates(estimate: Estimate | None, each: float) -> Iterable[Number]:
    """What the machine says, and how many times that an operation takes. A bound beyond what it took says nothing."""
    if estimate is None:
        return
    yield Number("latency_estimate", estimate.latency, "ps")
    most = estimate.bandwidth_at_most
    known = most == estimate.bandwidth
    if most is not None and (known or most < each):
        yield Number("bandwidth_estimate" if known else "bandwidth_estimate_at_most", most, "ps")
        if (least := max(estimate.latency, most)) > 0:
            yield Number("cost_over_estimate", each / least, "x")


def _finding(
    evidence: Evidence, callpath: int, cost: Mapping[int, float], saved: Mapping[int, float], calls: Successive
) -> Finding:
    here = calls.at(callpath)
    count = sum(place.calls for place in here.values())
    members = calls.members[callpath]
    total, size = sum(cost.values()), sum(place.bytes for place in here.values()) / max(1, count)
    each, in_a_row = total / max(1, count), calls.share(callpath)
    estimate, divided = _estimate_at(evidence, calls, callpath), _divided(evidence, callpath)
    fused = in_a_row > IN_A_ROW
    worst = max(saved, key=lambda location: saved[location])
    first, last = evidence.active_windows(["collective"], cost)
    operations = round(count / max(1.0, members))
    level = LOW if operations < MIN_SAMPLES else HIGH if fused else MEDIUM
    reason = "the time after the last member has entered is measured"
    if operations < MIN_SAMPLES:
        reason += f", in only {count_text(operations, 'operation')}"
    if estimate is not None:
        reason += f"; the minimum time of an operation is modelled ({evidence.manifest.machine.label})"
    confidence, certainty = evidence.confidence(level, reason)
    share = worst_hit(saved, evidence.slowest_program_ps)
    saving = _replayed(evidence, calls, callpath)
    return Finding(
        kind="collective_cost",
        named=evidence.named(cost),
        region=evidence.region(callpath),
        cause_region=evidence.region(evidence.parent(callpath)),
        evidence=(
            Number("cost", total, "ps"),
            Number("operations", operations, "count"),
            Number("window_members" if calls.operations[callpath] == "Fence" else "members", members, "count"),
            *(
                Number(name, members - 1, "count")
                for name, those in ROOTED.items()
                if calls.operations[callpath] in those
            ),
            Number("mean_part", size, "B"),
            Number("mean_cost", each, "ps"),
            *_estimates(estimate, each),
            *(
                (Number("share_of_rounds", divided.rounds, "1"), Number("share_of_bytes", divided.bytes, "1"))
                if divided is not None
                else ()
            ),
            Number("back_to_back", in_a_row, "1"),
            Number("waiting_in_those", sum(calls.waited(location, callpath) for location in here), "ps"),
            *evidence.rank_numbers("worst_rank", [worst]),
            Number("on_worst_rank", saved[worst], "ps"),
        ),
        confidence=confidence,
        certainty=certainty,
        callpath=callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(sum(saved.values())) if fused else round(total),
        share=share,
        gain=min(1.0, share, saving.gain if saving is not None else 1.0),
        cure=saving.cure if saving is not None else None,
        lasts={(location, callpath): time for location, time in cost.items()},
    )
