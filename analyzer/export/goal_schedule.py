"""A run as a GOAL schedule, rank by rank: the tables that the native core makes each rank's operations from.

Which operations a call becomes is said there (`analyzer/archive/native/export/goal_rank.hpp`). Where all members wait
for the last one (creation of communicators, MPI_Init), a call's own time is the time after that.

A message's tag stands for its communicator and tag; receives have the source and the tag that they got.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from logpost.analyzer.archive._native import GoalRank
from logpost.analyzer.export.goal_collectives import COLUMNS, Collectives
from logpost.analyzer.run.directory import Run
from logpost.errors import InputError
from logpost.replay.columns import Piece

KINDS = ("calc", "send", "recv")
"""Of operations, by the core's code."""

BATCH = 1 << 22
"""Calls whose ranks are in memory at a time, unless one rank has more."""

PART = 1 << 18
"""Operations that are written at a time."""

_NO_COLLECTIVES: tuple[Piece, Piece] = (
    {
        name: np.zeros(0, np.int64 if name.endswith("_ps") else np.int32)  # as the native core reads them
        for name in COLUMNS
    },
    {
        "begin": np.zeros(1, np.int64),
        "sends": np.zeros(0, np.uint8),
        "peer": np.zeros(0, np.int32),
        "bytes": np.zeros(0, np.uint64),
    },
)


class Part(NamedTuple):
    """Some operations of a rank, in order. Those of a rank follow each other; the last part of each ends it."""

    rank: int
    first: int
    """label of the first one"""
    text: bytes
    """their lines"""
    operations: Piece
    """kind (see `KINDS`), call, message and instance; -1: none"""
    calls: int
    """of the run that they contain"""
    empty: int
    """messages' ends of 0 bytes, written as 1"""
    ends: bool


class Schedule:
    """The schedule of a run, made rank by rank and part by part.

    Raises:
        InputError: threads communicate, or nothing does.
    """

    def __init__(self, run: Run, unit_ps: int) -> None:
        self.run = run
        self.unit_ps = unit_ps
        locations = run.facts("locations").filter("accounted").select("location", "rank", "first_ps", "last_ps")
        self.locations = locations.sort("rank").collect()
        ranks = self.locations["rank"].to_list()
        if not ranks:
            raise InputError(f"{run.path}: no location communicates: there is nothing to export")
        if min(ranks) < 0 or len(set(ranks)) < len(ranks):
            raise InputError(
                f"{run.path}: threads communicate in addition to their ranks, which a GOAL schedule cannot contain; "
                "export --to csv has all of it"
            )
        self._places = self.locations.select("location", pl.int_range(pl.len(), dtype=pl.Int32).alias("place"))
        self.left_out: dict[str, int] = {}
        """what of the run the schedule does not have, and how often"""
        messages = run.facts("messages").with_row_index("message")
        self._tags = messages.select("comm", "tag").unique().sort("comm", "tag").collect(engine="streaming")
        self._tags = self._tags.with_columns(pl.int_range(pl.len(), dtype=pl.Int32).alias("goal_tag"))
        called = pl.min_horizontal("send_call", "recv_post_call", "recv_call") >= 0
        self._messages = messages.filter(called)
        self._count("message whose calls are not known", messages.filter(~called))
        self._collectives = Collectives(run, self.locations, self._tags.height)
        self.left_out |= self._collectives.left_out
        self._calls, self._latest = self._calls_of_run()
        self._count("message end without its other end", self.run.facts("unmatched"))
        self._count("one-sided transfer", self.run.facts("transfers"))

    def __len__(self) -> int:
        return self.locations.height

    def __iter__(self) -> Iterator[Part]:
        """The operations, rank by rank."""
        sizes = dict(self._calls.group_by("location").agg(pl.len()).collect(engine="streaming").iter_rows())
        for batch in _batches([(one, sizes.get(one, 0)) for one in self.locations["location"].to_list()]):
            yield from self._ranks(batch)

    def _ranks(self, batch: list[int]) -> Iterator[Part]:
        """The operations of some ranks, given by their locations."""
        sends, sent = self._ends(batch, "send", "send_call", "send_complete_call")
        receives, received = self._ends(batch, "recv", "recv_post_call", "recv_call")
        collectives = self._collectives.members(batch)
        calls = _Split(
            self._calls.filter(pl.col("location").is_between(min(batch), max(batch)), pl.col("location").is_in(batch))
            .join(self._latest, on="meeting", how="left")
            .select("location", "call", "enter_ps", "leave_ps", _own_time().alias("own_ps"))
            .collect(engine="streaming")
            .sort("location", "call")
        )
        here = self.locations.join(self._places, on="location").filter(pl.col("location").is_in(batch)).sort("place")
        for location, place, first_ps, last_ps in here.select("location", "place", "first_ps", "last_ps").iter_rows():
            of_operations, shapes = collectives.get(location, _NO_COLLECTIVES)
            tables = {
                "calls": calls.of(location),
                "sends": sends.of(location),
                "sent": sent.of(location),
                "receives": receives.of(location),
                "received": received.of(location),
                "collectives": of_operations,
                "shapes": shapes,
            }
            rank = GoalRank(first_ps, last_ps, self.unit_ps, tables)
            while not rank.ended:
                text, first, operations, written, empty = rank.next(PART)
                yield Part(place, first, text, operations, written, empty, rank.ended)

    def _ends(self, batch: list[int], end: str, begin: str, complete: str) -> tuple[_Split, _Split]:
        """Ends of messages of some locations: by the call that begins them, and by the one that completes them."""
        location, number = f"{end}_location", f"{end}_number"
        other = "recv_location" if end == "send" else "send_location"
        rows = (
            self._messages.filter(pl.col(location).is_between(min(batch), max(batch)), pl.col(location).is_in(batch))
            .select("message", location, other, "comm", "tag", "bytes", begin, complete, number)
            .join(self._tags.lazy(), on=["comm", "tag"], how="left", nulls_equal=True)
            .join(self._places.lazy().rename({"location": other, "place": "peer"}), on=other, how="left")
            .select(
                pl.col(location).alias("location"),
                pl.col(begin).alias("call"),
                pl.col("message").cast(pl.Int64),
                pl.col("peer").fill_null(-1),
                pl.col("goal_tag").alias("tag"),
                "bytes",
                (pl.col(complete) == pl.col(begin)).cast(pl.UInt8).alias("blocking"),
                pl.col(complete).alias("complete"),
                number,
            )
            .collect(engine="streaming")
            .sort("location", "call", number)
            .with_columns(pl.int_range(pl.len(), dtype=pl.Int64).over("location").alias("of"))
        )
        ends = rows.filter(pl.col("complete") >= 0).sort("location", "complete", number)
        return (
            _Split(rows.drop("complete", number, "of")),
            _Split(ends.select("location", pl.col("complete").alias("call"), "of")),
        )

    def _calls_of_run(self) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The calls, with the operation that joins them; and of each such operation, when its last rank arrived."""
        finalizes = pl.col("name").str.to_lowercase().str.contains("finalize")
        regions = self.run.facts("regions").select(
            "region",
            meeting=pl.when(pl.col("kind") != "init_finalize").then(pl.lit("")).otherwise(finalizes.cast(pl.String)),
        )
        calls = (
            self.run.facts("calls")
            .select("call", "location", "enter_ps", "leave_ps", "region")
            .join(regions, on="region", how="left")
        )
        first = calls.filter(pl.col("meeting") != "").group_by("location", "meeting").agg(pl.col("enter_ps").min())
        latest = first.group_by("meeting").agg(pl.col("enter_ps").max().alias("latest_ps"))
        return calls, latest.collect(engine="streaming").lazy()

    def _count(self, what: str, rows: pl.LazyFrame) -> None:
        if count := rows.select(pl.len()).collect(engine="streaming").item():
            self.left_out[what] = count


def _own_time() -> pl.Expr:
    """Of a call without messages; initialization and finalization wait for all ranks first."""
    late = pl.col("latest_ps").fill_null(pl.col("enter_ps"))
    waited = pl.when(late < pl.col("leave_ps")).then(pl.max_horizontal("enter_ps", late)).otherwise("enter_ps")
    return pl.col("leave_ps") - waited


class _Split:
    """Rows sorted by location, given out by location without a copy."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self._begin = {
            location: (first, count)
            for location, first, count in rows.group_by("location")
            .agg(pl.len().cast(pl.Int64).alias("count"))
            .sort("location")
            .with_columns(first=pl.col("count").cum_sum() - pl.col("count"))
            .select("location", "first", "count")
            .iter_rows()
        }
        self._columns = {name: rows[name].rechunk().to_numpy() for name in rows.columns if name != "location"}

    def of(self, location: int) -> Piece:
        first, count = self._begin.get(location, (0, 0))
        return {name: column[first : first + count] for name, column in self._columns.items()}


def _batches(sizes: list[tuple[int, int]]) -> Iterator[list[int]]:
    """Locations with at most `BATCH` calls together, from (location, calls) in order."""
    batch: list[int] = []
    held = 0
    for location, size in sizes:
        if batch and held + size > BATCH:
            yield batch
            batch, held = [], 0
        batch.append(location)
        held += size
    if batch:
        yield batch
