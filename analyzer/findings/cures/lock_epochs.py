"""Locks of memory in a row: each epoch requests its lock and completes its transfers before the next one begins.

Cure: one epoch for all of a row (MPI_Win_lock once, or MPI_Win_lock_all), in which the transfers are in flight
concurrently. It applies to epochs of one rank and window whose locks are taken at one call path, with transfers in each
of them, with less code between a release and the next lock than the shortest transfer lasts, and no call in between
that moves data. In the graph the first lock and the last release remain; those in between last nothing, and the
duration of recording them is gone with them. At the other ends of the gain each release still lasts as long as the
sender's NIC needs for the transfers before it; or the code between the epochs is gone as well.

Locks in between wait for no other holder then. Exclusive locks of memory that several ranks lock are left out: others'
epochs may have to be in between, and one epoch that keeps the lock makes them wait for longer (`window_waits`).

Where the machine does not divide the duration of transfers, these are single values only, and nothing may be saved
(`in_one`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, column, in_one, offered
from logpost.analyzer.findings.cures.program import Flags, Program, Transformation
from logpost.analyzer.findings.cures.rows import in_rows
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number, Sum

KIND = "round_trips"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    if evidence.tables["transfers"].head(1).collect().is_empty():
        return ()
    return offered(evidence, propose, of_messages=False)


def propose(program: Program) -> Iterator[Proposal]:
    """One epoch for each row, at each call path of locks."""
    epochs = _epochs(program)
    if epochs.is_empty():
        return
    at: dict[int, list[list[int]]] = {}
    for row in in_rows(np.arange(epochs.height), _in_a_row(program, epochs), least=2):
        at.setdefault(int(epochs["callpath"][row[0]]), []).append(row)
    begin, end, transfers, size, largest = (
        epochs[name].to_numpy() for name in ("begin_call", "end_call", "transfers", "bytes", "largest")
    )
    service = np.rint(np.nan_to_num(program.costs(size / transfers).service) * transfers).astype(np.int64)
    for path, rows in at.items():
        every = [epoch for row in rows for epoch in row]
        released = [epoch for row in rows for epoch in row[:-1]]
        locked = [epoch for row in rows for epoch in row[1:]]
        gone = np.concatenate([end[released], begin[locked]])
        lasts, served = column(program.count), column(program.count)
        recorded, longer = column(program.count, 0), column(program.count, 0)
        lasts[gone] = served[gone] = 0
        served[end[released]] = np.minimum(service[released], (program.leave_ps - program.enter_ps)[end[released]])
        recorded[gone] = -program.recording_ps[gone]
        longer[gone] = -program.recording_ps[gone]
        longer[begin[locked]] = -program.gap_ps[begin[locked]]
        change = Transformation(lasts_ps=lasts, longer_ps=recorded)
        cure = Proposal(
            kind=KIND,
            callpath=path,
            at_fault=frozenset(program.location[begin[every]].tolist()),
            change=change,
            other_ends=(
                replace(change, lasts_ps=served),
                replace(change, longer_ps=longer),
            ),
            numbers=(
                Sum("epochs", len(every), "count"),
                Number("in_a_row", len(every) / len(rows), "count"),
                Sum("transfers", int(transfers[every].sum()), "count"),
                Number("mean_size", float(size[every].sum() / transfers[every].sum()), "B"),
            ),
            confidence=MEDIUM,
            certainty="locks in a row and the code between them are measured",
        )
        yield from in_one(cure, int(largest[every].max()), known=program.knows_bytes_of_transfers)


def _epochs(program: Program) -> pl.DataFrame:
    """(location, rma_window, callpath, begin_call, end_call, transfers, bytes, largest): locks with transfers, in
    the order of each location's calls; the bytes of all, and of the largest."""
    is_lock = pl.col("kind").cast(pl.String).is_in(["lock_shared", "lock_exclusive"])
    excludes = (pl.col("kind") == "lock_exclusive") & (pl.col("location").n_unique().over("rma_window", "peer") > 1)
    locks = program.facts("epochs").filter(is_lock).filter(~excludes)
    locks = locks.filter(pl.col("begin_call") >= 0, pl.col("end_call") >= 0)
    columns = ("location", "rma_window", "callpath", "begin_call", "end_call")
    transfers = program.facts("transfers").filter(pl.col("call") >= 0, pl.col("target") >= 0)
    within = transfers.select("call", "bytes").sort("call")
    return (
        within.join_asof(
            locks.select(columns).sort("begin_call"), left_on="call", right_on="begin_call", coalesce=False
        )
        .filter(pl.col("call") <= pl.col("end_call"))
        .group_by(columns)
        .agg(transfers=pl.len(), bytes=pl.col("bytes").sum(), largest=pl.col("bytes").max())
        .sort("location", "begin_call")
        .collect()
    )


def _in_a_row(program: Program, epochs: pl.DataFrame) -> Flags:
    """Of each epoch and the next one: whether they are in a row."""
    rows = program.facts("transfers").filter(pl.col("target") >= 0)
    shortest = rows.select((pl.col("complete_leave_ps") - pl.col("start_ps")).min()).collect().item()
    begin, end = (epochs[name].to_numpy() for name in ("begin_call", "end_call"))
    code, moved = (np.cumsum(one, dtype=np.int64) for one in (program.gap_ps, program.moves_data))
    alike = [np.diff(epochs[name].to_numpy()) == 0 for name in ("location", "rma_window", "callpath")]
    behind, before = end[:-1], begin[1:]
    nothing_moves = (behind < before) & (moved[before - 1] == moved[behind])
    close = nothing_moves & (code[before] - code[behind] <= shortest)
    return np.asarray(np.logical_and.reduce([*alike, close]))
