"""Many small messages: time goes into the cost per message, and neighbouring messages could travel together.

Two conditions, neither of which is a message size, so that they hold on every machine:

* At a place in the code the costs that do not depend on size (send and receive overhead, middleware, latency) exceed
  the serialization, which does. Below that point (Hockney's n_1/2) packing two messages into one saves more than a
  quarter.
* Messages are **packable**: the same sender sent the same receiver another one before, which had not been received yet,
  and in between the sender received nothing that the second could depend on. Packing them would have delayed nobody.

The exposed time is that of those costs at that place, times the packable fraction: packing k messages saves (k - 1)/k.

Gain: the same program with these messages packed (`evidence.packed`): the queues of small messages behind each other
disappear with them.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from logpost.analyzer.findings.evidence.graph import graph_of
from logpost.analyzer.findings.evidence.packed import saving_if_packed
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SAMPLES, MIN_SHARE, Finding, Number, worst_hit
from logpost.analyzer.run.wide import wide_sum, wide_sum_of
from logpost.analyzer.words.units import percent_text

PER_MESSAGE = ("send_overhead", "middleware", "latency", "recv_overhead")
COSTS = (*PER_MESSAGE, "endpoint_contention")
"""What packing can save: a NIC spends its gap on each message, too."""
SAMPLE = 100_000
"""Messages looked at for packing, in whole time windows spread over the run."""
LEAST_PACKABLE = 0.5
"""Below one packable message in two, packing is not a property of the place but an accident."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding per sending call path."""
    if not evidence.worth_a_look(COSTS):
        return
    fixed = pl.sum_horizontal([pl.col(f"{part}_ps") for part in PER_MESSAGE])
    places = (
        evidence.tables["messages"]
        .filter(pl.col("send_location") != pl.col("recv_location"))
        .group_by("send_callpath")
        .agg(
            messages=pl.len(),
            bytes=pl.col("bytes").sum(),
            fixed=wide_sum_of(fixed),
            by_size=wide_sum("serialization_ps"),
        )
        .filter(pl.col("messages") >= MIN_SAMPLES, pl.col("fixed") > pl.col("by_size"))
        .sort("fixed", descending=True)
        .collect()
    )
    if places.is_empty():
        return
    every = int(evidence.pairs.select(wide_sum_of(fixed)).item())
    if not any(evidence.matters(_exposed(evidence, COSTS, cost / max(1, every))) for cost in places["fixed"]):
        return
    packable = _packable(evidence)
    for callpath, messages, size, cost, by_size in places.iter_rows():
        fraction = packable.get(callpath, 0.0)
        if fraction < LEAST_PACKABLE:
            continue
        finding = _finding(evidence, int(callpath), messages, size, (cost, by_size), fraction, cost / max(1, every))
        if finding is not None:
            yield finding


def _exposed(evidence: Evidence, categories: tuple[str, ...], part: float) -> dict[int, float]:
    """Location to this part of its time in these categories."""
    # Receive overhead and exposed latency stand at the receiver's calls, which serve messages of several places: they
    # are shared over the places in proportion to the messages' own costs.
    return {location: time * part for location, time in evidence.exposed_of(categories).items() if time}


def _packable(evidence: Evidence) -> dict[int, float]:
    """Sending call path to the fraction of its messages that could travel with the one before; from a sample."""
    total = max(1, int(evidence.pairs["messages"].sum()))
    stride = -(-total // SAMPLE)
    messages = evidence.tables["messages"].filter(pl.col("send_location") != pl.col("recv_location"))
    sample = (
        messages.filter(pl.col("window") % stride == 0)
        .select(
            "send_location",
            "recv_location",
            "comm",
            "send_callpath",
            "window",
            "send_number",
            "send_enter_ps",
            "recv_leave_ps",
        )
        .sort("send_enter_ps", "send_number", maintain_order=True)
        .collect()
    )
    channel = ["send_location", "recv_location", "comm"]
    before = sample.with_columns(
        previous_enter=pl.col("send_enter_ps").shift(1).over(channel),
        previous_leave=pl.col("recv_leave_ps").shift(1).over(channel),
        previous_window=pl.col("window").shift(1).over(channel),
    )
    received = sample.select(pl.col("recv_location").alias("send_location"), last_received="recv_leave_ps").sort(
        "last_received"
    )
    judged = before.join_asof(
        received,
        left_on="send_enter_ps",
        right_on="last_received",
        by="send_location",
        strategy="backward",
        check_sortedness=False,
    ).with_columns(
        packable=pl.col("previous_enter").is_not_null()
        & (pl.col("previous_window") == pl.col("window"))
        & (pl.col("previous_leave") > pl.col("send_enter_ps"))
        & (pl.col("last_received").is_null() | (pl.col("last_received") <= pl.col("previous_enter")))
    )
    rows = judged.group_by("send_callpath").agg(pl.col("packable").mean())
    return {int(callpath): float(fraction) for callpath, fraction in rows.iter_rows() if fraction is not None}


def _finding(
    evidence: Evidence,
    callpath: int,
    messages: int,
    size: int,
    costs: tuple[int, int],
    fraction: float,
    part_of_all: float,
) -> Finding | None:
    saving = saving_if_packed(evidence, callpath)
    exposed = _exposed(evidence, PER_MESSAGE, fraction * part_of_all)
    if saving.gain < MIN_SHARE or not exposed:
        return None
    fixed, by_size = costs
    machine = evidence.manifest.machine
    first, last = evidence.active_windows(PER_MESSAGE, exposed)
    confidence, certainty = evidence.confidence(
        MEDIUM,
        f"the cost per message is modelled ({machine.label}, {percent_text(machine.residual_share)} of message time "
        "unexplained)",
        (*PER_MESSAGE, "serialization"),
    )
    return Finding(
        kind="many_small_messages",
        named=evidence.named(exposed),
        region=evidence.region(callpath),
        cause_region=evidence.region(evidence.parent(callpath)),
        evidence=(
            Number("messages", messages, "count"),
            Number("mean_size", size / messages, "B"),
            Number("overhead_and_latency_per_message", fixed / messages, "ps"),
            Number("serialization_per_message", by_size / messages, "ps"),
            Number("follow_another_under_way", fraction, "1"),
            Number("exposed", sum(exposed.values()), "ps"),
        ),
        confidence=confidence,
        certainty=graph_of(evidence).stated(certainty),
        callpath=callpath,
        first_window=first,
        last_window=last,
        exposed_ps=round(sum(exposed.values())),
        share=worst_hit(exposed, evidence.slowest_program_ps),
        gain=saving.gain,
        removes=saving.removes,
        cure=saving.cure,
    )
