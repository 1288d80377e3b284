"""One-sided transfers in a row: each costs what a transfer costs once, and a flush behind each what one flush does.

Cure: one transfer with all of their bytes, completed once. It applies to transfers at one call path to the same rank
with less code in between than the shortest transfer lasts, between which nothing is called but what completes them. In
the graph the first one and the last completion remain, and what a byte costs is added. The duration of recording the
others is gone with them; at the other end of the gain, so is the code in between.

Where the machine does not divide the duration of transfers, these are single values only, and nothing may be saved
(`in_one`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.offered import Proposal, column, in_one, offered
from logpost.analyzer.findings.cures.program import Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, Finding, Number, Sum

SMALL, ROUND_TRIPS = KINDS = "many_small_messages", "round_trips"
"""Kinds: without and with calls that complete each transfer."""


@dataclass
class Row:
    """Calls of transfers in a row, and those that complete them."""

    path: int
    target: int
    transfers: list[int] = field(default_factory=list)
    completions: list[int] = field(default_factory=list)
    """each behind the transfer before it"""

    @property
    def gone(self) -> list[int]:
        """Calls that one transfer does not need."""
        last = self.transfers[-1]
        return [*self.transfers[1:], *(call for call in self.completions if call < last)]

    @property
    def kept(self) -> list[int]:
        """Calls that complete the one transfer."""
        last = self.transfers[-1]
        return [call for call in self.completions if call > last]


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    if evidence.tables["transfers"].head(1).collect().is_empty():
        return ()
    return offered(evidence, propose, of_messages=False)


def propose(program: Program) -> Iterator[Proposal]:
    """One transfer for each row, at each call path."""
    rows = program.facts("transfers").filter(pl.col("target") >= 0, pl.col("target") != pl.col("location"))
    transfers = rows.select(
        "call", "callpath", "target", "bytes", "complete_call", lasts=pl.col("complete_leave_ps") - pl.col("start_ps")
    ).collect()
    if transfers.is_empty():
        return
    close = int(transfers.select(pl.col("lasts").min()).item())
    starts = {call: (path, target) for call, path, target in transfers.select(transfers.columns[:3]).iter_rows()}
    size = dict(transfers.select("call", "bytes").iter_rows())
    completes = set(transfers["complete_call"].to_list())
    known = program.knows_bytes_of_transfers
    at: dict[int, list[Row]] = {}
    for row in _rows(program, starts, completes, close):
        at.setdefault(row.path, []).append(row)
    for path, here in at.items():
        lasts, recorded, longer = column(program.count), column(program.count, 0), column(program.count, 0)
        for row in here:
            lasts[row.gone] = 0
            recorded[row.gone] = -program.recording_ps[row.gone]
            longer[row.gone] = -program.gap_ps[row.gone]
            # What completes the last one waits for no other: all were complete.
            lasts[row.kept] = program.leave_ps[row.kept] - program.enter_ps[row.kept]
            first = row.transfers[0]
            if known:
                whole, one = (
                    program.costs(float(of)) for of in (sum(size[call] for call in row.transfers), size[first])
                )
                more = float(np.nan_to_num(whole.serialization - one.serialization))
                lasts[first] = int(program.leave_ps[first] - program.enter_ps[first]) + round(more)
        change = Transformation(lasts_ps=lasts, longer_ps=recorded)
        flushed = [call for row in here for call in row.completions]
        every = [call for row in here for call in row.transfers]
        cure = Proposal(
            kind=ROUND_TRIPS if flushed else SMALL,
            callpath=int(np.bincount(program.callpath[flushed]).argmax()) if flushed else path,
            at_fault=frozenset(program.location[every].tolist()),
            change=change,
            other_ends=(replace(change, longer_ps=longer),),
            numbers=(
                Sum("transfers", len(every), "count"),
                Number("in_a_row", len(every) / len(here), "count"),
                Number("mean_size", float(np.mean([size[call] for call in every])), "B"),
            ),
            confidence=MEDIUM,
            certainty="transfers in a row and what completes them are measured",
        )
        yield from in_one(cure, max(size[call] for call in every), known=known)


def _rows(program: Program, starts: dict[int, tuple[int, int]], completes: set[int], close: int) -> Iterator[Row]:
    """Every row of several transfers."""
    one_sided = program.is_kind("one_sided")
    for calls in program.calls_of.values():
        row = Row(-1, -1)
        code = 0
        for call in calls.tolist():
            code += int(program.gap_ps[call])
            place = starts.get(call)
            if place is not None:
                if place != (row.path, row.target) or code > close:
                    if len(row.transfers) > 1:
                        yield row
                    row = Row(*place)
                row.transfers.append(call)
                code = 0
            elif row.transfers and call in completes and one_sided[call] and not program.is_operation[call]:
                row.completions.append(call)
            elif program.moves_data[call]:
                if len(row.transfers) > 1:
                    yield row
                row = Row(-1, -1)
        if len(row.transfers) > 1:
            yield row
