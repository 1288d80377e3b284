"""Small blocks by one-sided transfers: a rank computes a little, puts it into the next one's memory, and so forth, and
each epoch (MPI_Win_post, start, complete and wait) costs as much as the work.

Cure: k blocks in one epoch. It applies to accesses of one call path with puts to one target each, which permits and
waits for each of them by an exposure to that origin alone, where the origin gets nothing from the target in between, by
a message, an access of its own memory, or an operation of all: no block needs an answer. In the graph the origin's last
epoch of k puts the bytes of all; its other calls last nothing. The target permits it by the first of its k posts, and
the wait behind that is until the last of the k completions; its others last nothing. All code stays where it is, so
that the target begins k - 1 blocks later. Where epochs then wait for each other in a circle, which is so in a ring, it
is no cure.

Stated are the fewest blocks that save as much, but for noise, as the number that saves most, which is an end of the
gain. A wait lasts as long behind its completion as the mean of those recorded; at another end, as an empty message.
`larger_blocks` is the same for messages, `transfers_in_a_row` and `lock_epochs` for rows without work in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl

from logpost.analyzer.findings.cures.larger_blocks import choices, given_back, in_series
from logpost.analyzer.findings.cures.offered import Proposal, column, in_one, offered
from logpost.analyzer.findings.cures.program import AS_RECORDED, Program, Transformation
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.finding import MEDIUM, MIN_SHARE, Finding, Number, Sum
from logpost.replay.columns import Int64

KIND = "many_small_messages"


def find(evidence: Evidence) -> Iterable[Finding]:
    """One finding a call path."""
    if evidence.tables["transfers"].head(1).collect().is_empty():
        return ()
    return offered(evidence, propose, of_messages=False)


def propose(program: Program) -> Iterator[Proposal]:
    """Larger blocks, at each call path at which their accesses begin."""
    epochs = _Epochs(program)
    for callpath, rows in epochs.rows().items():
        every = [epoch for row in rows for epoch in row]
        if program.gain(epochs.without(every)) < MIN_SHARE:
            continue
        behind_ps = epochs.behind_ps(every)
        chosen = choices(program, rows, partial(epochs.in_one, behind_ps=behind_ps))
        if not chosen:
            continue
        stated, most = min(chosen), max(chosen)
        empty_ps = min(behind_ps, round(float(np.nan_to_num(program.costs(0.0).total))))
        work = [program.gap_ps[epochs.end[a] + 1 : epochs.begin[b] + 1].sum() for row in rows for a, b in pairwise(row)]
        cure = Proposal(
            kind=KIND,
            callpath=callpath,
            at_fault=frozenset(program.location[epochs.begin[every]].tolist()),
            change=chosen[stated],
            other_ends=(chosen[most], epochs.in_one(in_series(rows, most), empty_ps)),
            numbers=(
                Sum("transfers", int(epochs.transfers[every].sum()), "count"),
                Number("mean_size", float(epochs.bytes[every].sum() / epochs.transfers[every].sum()), "B"),
                Number("blocks", stated, "count"),
                Number("mean_work", float(np.mean(work)), "ps"),
            ),
            confidence=MEDIUM,
            certainty="the epochs and the work between them are measured; whether the target's memory of later blocks "
            "is free when the first one is permitted is not known",
        )
        yield from in_one(cure, int(epochs.largest[every].max()), known=program.knows_bytes_of_transfers)


class _Epochs:
    """Accesses with puts to one target and the exposures to one origin that permit them, in the order of each origin's
    calls."""

    def __init__(self, program: Program) -> None:
        self._program = program
        rows = _matched(program)
        self.location, self.peer, self.callpath, self.begin, self.end, self.post, self.wait = (
            rows[name].to_numpy().astype(np.int64)
            for name in ("location", "peer", "callpath", "begin_call", "end_call", "post", "wait")
        )
        self.transfers, self.bytes, self.largest = (rows[name].to_numpy() for name in ("transfers", "bytes", "largest"))
        self._places = rows.select("access", "exposure").to_numpy().astype(np.int64)

    def rows(self) -> dict[int, list[list[int]]]:
        """Call path to rows of several epochs, without an answer and without another epoch of the two in between."""
        streams: dict[tuple[int, int, int], list[int]] = {}
        keys = zip(self.callpath.tolist(), self.location.tolist(), self.peer.tolist(), strict=True)
        for epoch, key in enumerate(keys):
            streams.setdefault(key, []).append(epoch)
        found: dict[int, list[list[int]]] = {}
        for (path, origin, target), stream in streams.items():
            back = self._back(origin, target)
            answered = np.diff(np.searchsorted(back, self.begin[stream])) > 0
            others_between = (np.diff(self._places[stream], axis=0) > 1).any(axis=1)
            cuts = np.flatnonzero(answered | others_between)
            rows = [one.tolist() for one in np.split(np.array(stream), cuts + 1) if len(one) > 1]
            if rows:
                found.setdefault(path, []).extend(rows)
        return found

    def _back(self, origin: int, target: int) -> Int64:
        """Calls in which an origin gets something from a target, or takes part in an operation of all."""
        accessed = self.wait[(self.location == target) & (self.peer == origin)]
        return np.union1d(given_back(self._program, origin, target), accessed)

    def behind_ps(self, epochs: Sequence[int]) -> int:
        """How long a wait lasts behind its completion, on average."""
        program = self._program
        complete, wait = self.end[epochs], self.wait[epochs]
        begins = np.maximum(program.enter_ps[complete], program.enter_ps[wait])
        return round(float(np.maximum(0, program.leave_ps[wait] - begins).mean()))

    def without(self, epochs: Sequence[int]) -> Transformation:
        """None of these."""
        program = self._program
        lasts, recorded = column(program.count, AS_RECORDED), column(program.count, 0)
        within = [np.arange(self.begin[one], self.end[one] + 1) for one in epochs]
        gone = np.concatenate([*within, self.post[epochs], self.wait[epochs]])
        lasts[gone] = 0
        recorded[gone] = -program.recording_ps[gone]
        return Transformation(lasts_ps=lasts, longer_ps=recorded)

    def in_one(self, series: Sequence[Sequence[int]], behind_ps: int) -> Transformation:
        """The blocks of each series in one epoch."""
        program = self._program
        first, last = (np.array([one[at] for one in series]) for at in (0, -1))
        gone = np.array([epoch for one in series for epoch in one[:-1]], dtype=np.int64)
        found = self.without(gone.tolist())
        lasts, recorded = found.lasts_ps, found.longer_ps
        assert lasts is not None
        assert recorded is not None
        # Of its exposures the first one remains, and of its accesses the last one.
        kept, spare = (np.concatenate([self.post[of], self.wait[of]]) for of in (first, last))
        for calls, lasts_ps, recording_ps in ((spare, 0, -program.recording_ps[spare]), (kept, AS_RECORDED, 0)):
            lasts[calls], recorded[calls] = lasts_ps, recording_ps
        permitted = column(program.count, 0)
        permitted[self.begin[[epoch for one in series for epoch in one]]] = 1
        size = np.array([self.bytes[one].sum() for one in series], dtype=np.float64)
        whole, part = (program.costs(of) for of in (size, self.bytes[last].astype(np.float64)))
        longer = np.rint(np.nan_to_num(whole.serialization - part.serialization)).astype(np.int64)
        there = np.full(len(series), round(float(np.nan_to_num(program.costs(0.0).L))), dtype=np.int64)
        return Transformation(
            lasts_ps=lasts,
            longer_ps=recorded,
            permitted=permitted.astype(np.uint8),
            edges=(
                (2 * self.post[first] + 1, 2 * self.end[last] + 1, there),
                (2 * self.end[last], 2 * self.wait[first] + 1, behind_ps + longer),
            ),
        )


def _matched(program: Program) -> pl.DataFrame:
    """(location, peer, callpath, begin_call, end_call, post, wait, transfers, bytes, largest, access, exposure): each
    access that moves data by puts alone; the last two are the places among all epochs of the two ranks."""
    kind = pl.col("kind").cast(pl.String)
    place = pl.col("number").rank("dense").over("location", "peer", "kind").cast(pl.Int64)
    alone = pl.len().over("location", "begin_call", "kind") == 1
    epochs = program.facts("epochs").with_columns(place=place, alone=alone)
    epochs = epochs.filter("alone", pl.col("begin_call") >= 0, pl.col("end_call") >= 0, pl.col("match") >= 0)
    exposures = epochs.filter(kind == "exposure").select(
        peer="location", match="number", post="begin_call", wait="end_call", exposure="place"
    )
    puts = (
        program.facts("transfers")
        .group_by("location", number="epoch")
        .agg(
            transfers=pl.len(),
            bytes=pl.col("bytes").sum(),
            largest=pl.col("bytes").max(),
            puts=(kind == "put").all(),
        )
        .filter("puts")
    )
    accesses = epochs.filter(kind == "access", pl.col("peer") != pl.col("location")).rename({"place": "access"})
    found = accesses.join(exposures, on=["peer", "match"]).join(puts, on=["location", "number"])
    ends = ("begin_call", "end_call", "post", "wait")
    columns = ("location", "peer", "callpath", *ends, "transfers", "bytes", "largest", "access", "exposure")
    return found.select(columns).sort("begin_call").collect()
