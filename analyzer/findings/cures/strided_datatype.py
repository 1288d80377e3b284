"""Strided datatypes: the middleware packs and unpacks data that is not contiguous.

Cure: contiguous data. It applies to messages with a strided layout. In the graph their senders and their receivers
handle them sooner, by the middleware latency that the machine's table (log3P) has for the layout.

Where no table has it (an estimated machine), calls that start a strided message are compared with those that start a
contiguous one of about the same size: what they last beyond the median of these is packing, where their lower quartile
is above the upper one of these. Unpacking lasts as long at one end of the gain, and nothing at the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, offered
from logpost.analyzer.findings.cures.program import Flags, Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number, Sum
from logpost.analyzer.words.units import percent_text
from logpost.replay.columns import Int64

KIND = "strided_datatype"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding for the run, at the place that sends most of it."""
    return offered(evidence, lambda program: propose(program, evidence), of_messages=False)


def propose(program: Program, evidence: Evidence) -> Iterator[Proposal]:
    """Contiguous data in all strided messages."""
    messages = program.messages
    table = _layouts(program)
    if table.is_empty():
        return
    here = pl.DataFrame(
        {"send_call": messages.send_call, "recv_post_call": messages.post_call, "bytes": messages.bytes}
    ).join(table, on=("send_call", "recv_post_call", "bytes"), how="left", maintain_order="left")
    strided = here["middleware_ps"].is_not_null().to_numpy() & program.inside[messages.send_call]
    modelled = here["middleware_ps"].fill_null(0).to_numpy()
    packs, unpacks = modelled // 2, modelled - modelled // 2
    divided = bool(modelled.any())
    if not divided:
        packs = unpacks = _measured(program, strided)
    both = np.where(strided, packs + unpacks, 0)
    if not both.any():
        return
    of_place = np.bincount(program.callpath[messages.send_call], weights=both)
    place = int(np.argmax(of_place))
    sent = strided & (program.callpath[messages.send_call] == place)
    machine = evidence.manifest.machine
    reason = f"the middleware latency is modelled ({machine.label}, "
    reason += f"{percent_text(machine.residual_share)} of message time unexplained)"
    sends = Transformation(shorter_send_ps=np.where(strided, packs, 0))
    yield Proposal(
        kind=KIND,
        callpath=place,
        at_fault=frozenset(program.sender[sent].tolist()),
        change=Transformation(
            shorter_send_ps=np.where(strided, packs, 0), shorter_receive_ps=np.where(strided, unpacks, 0)
        ),
        other_ends=() if divided else (sends,),
        numbers=(
            Sum("messages", int(sent.sum()), "count"),
            Number("mean_size", float(messages.bytes[sent].mean()), "B"),
            Number("middleware_per_message", float(both[sent].mean()), "ps"),
        ),
        confidence=MEDIUM,
        certainty=reason if divided else "packing is measured, unpacking is taken for as long",
    )


def _layouts(program: Program) -> pl.DataFrame:
    """(send_call, recv_post_call, bytes, middleware_ps) of strided messages."""
    return (
        program.facts("messages")
        .filter(pl.col("layout") >= 0)
        .group_by("send_call", "recv_post_call", "bytes")
        .agg(pl.col("middleware_ps").mean().cast(pl.Int64))
        .collect()
    )


def _measured(program: Program, strided: Flags) -> Int64:
    """By message: what starting it lasts beyond starting a contiguous one of about its size; 0 of others."""
    messages = program.messages
    send = messages.send_call
    alone = np.bincount(send, minlength=program.count)[send] == 1
    alone &= (messages.handshake == 0) | (messages.sent_call != send)
    sends = pl.DataFrame(
        {
            "message": np.arange(messages.count),
            "size": np.floor(np.log2(np.maximum(1, messages.bytes))),
            "strided": strided,
            "lasts": program.leave_ps[send] - program.enter_ps[send],
        }
    ).filter(pl.Series(alone))
    contiguous = pl.col("lasts").filter(~pl.col("strided"))
    packed = (
        sends.with_columns(
            usual=contiguous.median().over("size"),
            upper=contiguous.quantile(0.75).over("size"),
            lower=pl.col("lasts").filter("strided").quantile(0.25).over("size"),
        )
        .filter("strided", pl.col("usual").is_not_null(), pl.col("lower") > pl.col("upper"))
        .with_columns(beyond=(pl.col("lasts") - pl.col("usual")).clip(lower_bound=0).cast(pl.Int64))
    )
    found = np.zeros(messages.count, dtype=np.int64)
    found[packed["message"].to_numpy()] = packed["beyond"].to_numpy()
    return found
