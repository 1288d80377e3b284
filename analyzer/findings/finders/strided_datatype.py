"""Strided datatypes: packing and unpacking in the middleware costs time that contiguous data does not.

The machine's table of middleware latency (log3P) says what a layout costs; the calls say how much of it ranks really
lost. Per sending place with a strided layout.

Where no table says it (an estimated machine), the calls that start such messages are compared with those that start
contiguous ones of about the same size, of which none waits: what they take beyond the median of these is packing. As
much is taken for the other end.

Gain: the same program with no middleware latency for these messages: data that lies contiguously from the start, or a
copy that costs little beside it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from logpost.analyzer.findings.evidence.graph import Flags, Graph, graph_of, sums_by
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.evidence.what_if import Hypothesis, saving_if
from logpost.analyzer.findings.finding import MEDIUM, MIN_SHARE, Finding, Number
from logpost.analyzer.findings.hypothesis import finding_of
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.units import percent_text
from logpost.replay.columns import Int64

TWICE = 2.0
"""Starts of strided messages must take so many times as long as those of contiguous ones, to be told from noise."""


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run, at the place that sends most of it."""
    modelled = evidence.worth_a_look(["middleware"])
    if not modelled and evidence.divides("middleware"):
        return
    graph = graph_of(evidence)
    rows = evidence.tables["messages"].filter(pl.col("layout") >= 0)
    packing, lost = graph.middleware_ps, graph.messages.parts["middleware"]
    if not modelled:
        strided = rows.select("send_call", "send_callpath", "bytes", "send_location").collect()
        packing = _measured(graph, graph.flags(strided["send_call"]))
        # A call ends when all that it receives is unpacked, one after the other.
        sent, received = packing[graph.messages.send_call], graph.messages.recv_call
        unpacking = np.bincount(received, weights=sent, minlength=graph.count).astype(np.int64)
        lost = sent + np.minimum(unpacking, graph.length)[received]
        here = graph.rows(strided["send_call"])
        both_ends = 2 * np.where(here >= 0, packing[here], 0)
        rows = strided.with_columns(pl.Series("middleware_ps", both_ends, dtype=pl.Int64)).lazy()
    places = (
        rows.filter(pl.col("middleware_ps") > 0)
        .group_by("send_callpath")
        .agg(pl.len(), pl.col("bytes").sum(), wide_sum("middleware_ps"), senders=pl.col("send_location").unique())
        .sort("middleware_ps", descending=True)
        .collect()
    )
    if places.is_empty():
        return
    # Time that no machine divides is no work of a call: those that start a message wait for nobody.
    work = graph.work_ps if modelled else np.where(packing > 0, graph.length, graph.work_ps)
    without = np.maximum(0, work - packing)
    saving = saving_if(graph, Hypothesis(work_ps=without, freed=None if modelled else packing > 0, less_ps=lost))
    if saving.gain < MIN_SHARE:
        return
    place, count, size, cost, senders = places.row(0)
    machine = evidence.manifest.machine
    reason = f"the middleware latency is modelled ({machine.label}, "
    reason += f"{percent_text(machine.residual_share)} of message time unexplained)"
    if not modelled:
        reason = "packing is measured, unpacking is taken for as long"
    yield finding_of(
        evidence,
        graph,
        "strided_datatype",
        saving,
        at_fault=senders,
        callpath=int(place),
        cause_region=evidence.region(evidence.parent(int(place))),
        numbers=(
            Number("messages", count, "count"),
            Number("mean_size", size / count, "B"),
            Number("middleware_per_message", cost / count, "ps"),
        ),
        confidence=evidence.confidence(MEDIUM, reason),
        spent=sums_by(graph.location, packing),
    )


def _measured(graph: Graph, strided: Flags) -> Int64:
    """By call: what starting a strided message takes beyond starting a contiguous one of about its size; 0 of others.

    Arguments:
        graph: of the program.
        strided: by call: it sends a strided message.
    """
    messages = graph.messages
    send = messages.send_call
    starts = np.bincount(send, minlength=graph.count) == 1
    alone = starts[send] & (~messages.rendezvous | (messages.complete_call != send))
    sends = pl.DataFrame(
        {
            "call": send,
            "size": np.floor(np.log2(np.maximum(1, messages.bytes))),
            "strided": strided[send],
            "took": graph.length[send],
        }
    ).filter(pl.Series(alone))
    usual = pl.col("took").filter(~pl.col("strided")).median()
    packed = (
        sends.with_columns(usual=usual.over("size"))
        .filter("strided", pl.col("usual").is_not_null())
        .with_columns(median=pl.col("took").median().over("size"))
        .filter(pl.col("median") > TWICE * pl.col("usual"))
        .with_columns(beyond=(pl.col("took") - pl.col("usual")).clip(lower_bound=0).cast(pl.Int64))
    )
    found = np.zeros(graph.count, dtype=np.int64)
    found[packed["call"].to_numpy()] = packed["beyond"].to_numpy()
    return found
