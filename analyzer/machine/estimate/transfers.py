"""Estimate a machine from one-sided transfers where a trace has no messages, as far as they identify it.

A put whose origin makes sure at once that it is complete at its target (flush, unlock, quiet), and a get that is waited
for at once, go to the target and back (docs/split.md, section 13):

    put   W(B) = o_s + 2 L + (B - 1) G            get   W(B) = o_s + 2 L + (B - 1) G + o_r

with W from the enter of the call that starts the transfer to the leave of the call that completes it. Only transfers
count that are the only one of the call that completes them, which is directly behind the one that starts them and is no
collective operation. Any other traffic made them longer; of each size the shorter ones count (`lines.point`). o_s is
the duration of starting calls. Transfers of one size do not distinguish L from G, nor gets alone L from o_r: these are
bounds then. A target's processor must not be needed, as transfers that were over before it was back prove; otherwise
nothing is estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from logpost.analyzer.machine.estimate import Estimate
from logpost.analyzer.machine.estimate.interval import Interval, bounded, measured
from logpost.analyzer.machine.estimate.lines import Lines, groups, lines, point
from logpost.analyzer.machine.estimate.locality import ENDS, ClassEstimate
from logpost.machines import LOCALITIES
from logpost.replay._native import Analysis, Program, transfer_kinds
from logpost.replay.cost.parameters import native_parameters

UNSERVED = "transfers identify no machine: targets' processors may serve them"
ROWS = 1 << 16
MOST = 1 << 20
"""Transfers that are read: more add no information."""
SOON = 0.1
"""Of W: what may lie between the starting and the completing call."""
LEAST = 5
"""Transfers of a kind and class that a parameter rests on."""


def of_transfers(trace: str, program: Program, nothing: Estimate, *, asynchronous: bool, tick_ps: float) -> Estimate:
    """The classes that a program's transfers identify; without one, `nothing` with the reason.

    Args:
        trace: name for the machine.
        program: without messages.
        nothing: the estimate from its messages.
        asynchronous: targets serve transfers without their processors, as stated.
        tick_ps: the clock's step.
    """
    analysis = Analysis(program, native_parameters(nothing.parameters(), asynchronous_progress=asynchronous), 1)
    if not (asynchronous or analysis.asynchronous_transfers):
        return Estimate(
            trace, {}, (*nothing.notes, "transfers identify no machine: targets' processors may serve them")
        )
    rows = _alone(analysis)
    classes = {}
    for name in LOCALITIES:
        found = _class(rows.filter(pl.col("locality") == LOCALITIES.index(name)), 2 * tick_ps)
        if found is not None:
            classes[name] = found
    notes = () if classes else ("transfers identify no machine: none was completed at once and alone",)
    return Estimate(trace, classes, (*nothing.notes, *notes))


def _alone(analysis: Analysis) -> pl.DataFrame:
    """Transfers that are completed at once, and are the only ones of their completing call."""
    columns = ("location", "kind", "locality", "bytes", "call", "complete_call", "remote_call")
    times = ("start_ps", "start_leave_ps", "complete_enter_ps", "complete_leave_ps")
    batches: list[dict[str, Any]] = []
    count = 0
    while count < MOST and (batch := analysis.next_transfers(ROWS)) is not None:
        batches.append({name: batch[name] for name in (*columns, *times)})  # type: ignore[literal-required]
        count += len(batch["location"])
    together = np.asarray(analysis.collectives()["complete_call"])
    rows = pl.concat([pl.DataFrame(one) for one in batches]) if batches else pl.DataFrame(schema=[*columns, *times])
    if rows.is_empty():
        return rows
    put, get = (transfer_kinds().index(name) for name in ("put", "get"))
    way = pl.col("complete_leave_ps") - pl.col("start_ps")
    return rows.with_columns(way=way, first=pl.col("start_leave_ps") - pl.col("start_ps")).filter(
        pl.len().over("complete_call") == 1,
        pl.col("complete_call") >= 0,
        pl.col("complete_call") - pl.col("call") <= 1,
        pl.col("complete_enter_ps") - pl.col("start_leave_ps") <= SOON * pl.col("way"),
        (pl.col("kind") == get) | ((pl.col("kind") == put) & (pl.col("remote_call") == pl.col("complete_call"))),
        ~pl.col("complete_call").is_in(together.tolist()),
    )


def _class(rows: pl.DataFrame, slop: float) -> ClassEstimate | None:
    """One class's estimate; None where too few of its transfers qualify."""
    put = rows["kind"] == transfer_kinds().index("put") if rows.height else pl.Series(dtype=pl.Boolean)
    puts, gets = rows.filter(put), rows.filter(~put)
    begun = _witness(rows.filter(pl.col("complete_call") != pl.col("call")), "first", slop)
    there = _witness(puts, "way", slop, before=1.0)
    back = _witness(gets, "way", slop, before=1.0)
    whole = there or back
    if whole is None:
        return None
    if begun is None:
        o_s = bounded(whole.constant[0], "no call starts a transfer and returns before it is complete")
    else:
        o_s = _interval(begun.constant, begun.n, f"{begun.n} calls that start transfers")
    C, kind = whole.constant, "puts" if there is not None else "gets"
    way = ((C[0] - o_s.high) / 2, (C[1] - o_s.value) / 2, (C[2] - o_s.low) / 2)
    most = max(0.0, way[2])
    what = f"{whole.n} {kind} to their targets and back, less o_s"
    if there is None:
        o_r = bounded(2 * most, "gets do not distinguish it from latency")
    elif back is not None and back.sloped and there.sloped:
        more = (back.constant[0] - C[2], back.constant[1] - C[1], back.constant[2] - C[0])
        o_r = _interval(more, back.n, f"{back.n} gets, less the duration of puts", may_be_none=True)
    else:
        o_r = measured(0.0, 0.0, 0.0, whole.n, "puts need no receiver", may_be_none=True)
    if whole.sloped:
        G = _interval(whole.slope, whole.n, f"the size spread of {whole.n} {kind} that were completed at once")
    else:
        G = bounded(2 * most / max(1.0, rows["bytes"].to_numpy().min() - 1.0), f"{kind} of one size")
    if whole.sloped and not o_s.bound_only and not o_r.bound_only:
        L = _interval(way, whole.n, what)
    else:
        # All of it may be latency, and the split computes with that, but does not divide it.
        L = Interval(0.0, most, min(max(0.0, way[1]), most), 0, f"{what}: a bound only")
    sums = [getattr(L, end) + getattr(o_s, end) + getattr(o_r, end) for end in ENDS]
    total = replace(_interval(sums, whole.n, L.reason), n=L.n)
    none = measured(0.0, 0.0, 0.0, 0, "none is assumed", may_be_none=True)
    largest = int(rows["bytes"].to_numpy().max())
    return ClassEstimate(
        limit=None,
        proven=largest,
        largest=largest,
        o_s=o_s,
        o_s_per_byte=none,
        o_r=o_r,
        o_r_per_byte=none,
        g=bounded(float(rows["way"].to_numpy().min()), "one transfer at a time: at most its duration"),
        G=G,
        L=L,
        total=total,
        undisturbed=not L.bound_only,
        whole=((0.0, total.value),),
        n=rows.height,
    )


def _witness(rows: pl.DataFrame, times: str, slop: float, before: float = 0.0) -> Lines | None:
    """Times over sizes; None where too few."""
    if rows.height < LEAST:
        return None
    column = rows["bytes"].to_numpy().astype(np.uint64), rows[times].to_numpy().astype(np.int64)
    return lines([point(group, slop, before=before) for group in groups(column)])


def _interval(ends: Sequence[float], n: int, reason: str, *, may_be_none: bool = False) -> Interval:
    low, value, high = ends
    return measured(low, high, value, n, reason, may_be_none=may_be_none)
