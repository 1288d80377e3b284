"""Back-to-back collectives: operations that directly follow another of their kind on the same communicator.

A call *follows* another if the rank spends less between the two than one round of the call takes: no message is worked
on there, and one operation with all values would do. What the call waits for a later member is no cost of it: a rank
that has nothing to do while another one works for long comes back soon, and waits. What a rank waits in a call that
follows is skew that the operation before left, not late work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.part_bytes import part_bytes
from logpost.analyzer.findings.evidence.rounds import one_round
from logpost.analyzer.findings.evidence.tables import Evidence, in_order
from logpost.analyzer.findings.wording.facts import MAINLY
from logpost.analyzer.run.schema import HANDLE_OPERATIONS
from logpost.analyzer.run.wide import wide_sum, wide_sum_of


@dataclass(frozen=True)
class Place:
    """The collective calls of one rank at one call path; times in ps."""

    calls: int
    following: int
    bytes: int
    """of the parts (`part_bytes`) of its operations, together"""
    following_ps: int
    """length of the calls that follow another one, waiting included; of these what the accounts have there"""
    following_wait_ps: int


@dataclass(frozen=True)
class Successive:
    """(location, call path) to its collective calls."""

    places: Mapping[tuple[int, int], Place]
    members: Mapping[int, float]
    """Call path to the mean number of members of an operation"""
    operations: Mapping[int, str]
    """Call path to what its operations do"""

    def at(self, callpath: int) -> dict[int, Place]:
        """Location to its calls there."""
        return {location: place for (location, where), place in self.places.items() if where == callpath}

    def share(self, callpath: int) -> float:
        """Fraction of the calls there that follow another one."""
        return self._shares.get(callpath, 0.0)

    @cached_property
    def _shares(self) -> dict[int, float]:
        calls: dict[int, int] = {}
        following: dict[int, int] = {}
        for (_, callpath), place in self.places.items():
            calls[callpath] = calls.get(callpath, 0) + place.calls
            following[callpath] = following.get(callpath, 0) + place.following
        return {callpath: following[callpath] / max(1, every) for callpath, every in calls.items()}

    def waited(self, location: int, callpath: int) -> int:
        """What this rank waited there in calls that follow another one, where most do; else 0."""
        place = self.places.get((location, callpath))
        return place.following_wait_ps if place is not None and self.share(callpath) > MAINLY else 0


FOLLOWS = ("location", "call", "instance", "operation", "comm", "root", "rma_window", "enter_ps", "leave_ps", "wait_ps")
"""Columns that state whether a call follows another one."""


def with_follows(collectives: pl.LazyFrame, *columns: str) -> pl.DataFrame:
    """These columns of the collectives table, with `follows`: whether the call directly follows another one of its
    kind."""
    wanted = tuple(dict.fromkeys((*FOLLOWS, *columns)))
    calls = in_order(collectives.select(*wanted).collect(), "location", "call")
    same = ("location", "operation", "comm", "root", "rma_window")
    alike = pl.all_horizontal([pl.col(name) == pl.col(name).shift(1) for name in same])
    gap = pl.col("enter_ps") - pl.col("leave_ps").shift(1)
    close = gap < one_round(pl.col("leave_ps") - pl.col("enter_ps") - pl.col("wait_ps"))
    # Fences are in pairs, around transfers; no operation makes two handles.
    close &= ~pl.col("operation").cast(pl.String).is_in(["Fence", *HANDLE_OPERATIONS])
    return calls.with_columns(follows=(alike & close).fill_null(value=False))


@once
def successive(evidence: Evidence) -> Successive:
    """The collective calls of the program, or of the region of interest, by rank and place."""
    scope = evidence.tables["locations"].select("location", "begin_ps", "end_ps")
    inside = (pl.col("enter_ps") >= pl.col("begin_ps")) & (pl.col("leave_ps") <= pl.col("end_ps"))
    calls = with_follows(
        evidence.tables["collectives"].join(scope, on="location", maintain_order="left").filter(inside),
        "callpath",
        "instance",
        "wait_ps",
        "bytes_sent",
        "bytes_received",
    )
    sizes = evidence.tables["communicators"].select("comm", "size").unique("comm").collect()
    calls = calls.join(sizes, on="comm", how="left", maintain_order="left")
    # Archives may define a communicator without its members, or lack files of some.
    seen = pl.when(pl.col("instance") >= 0).then(pl.len().over("instance")).otherwise(1)
    members = pl.max_horizontal("size", seen).cast(pl.Float64)
    calls = calls.with_columns(part_bytes=part_bytes(members))
    length = pl.col("leave_ps") - pl.col("enter_ps")
    rows = (
        calls.group_by("location", "callpath")
        .agg(
            pl.len(),
            pl.col("follows").sum(),
            pl.col("part_bytes").sum().round(),
            length.filter("follows").sum().alias("following_ps"),
            pl.col("wait_ps").filter("follows").sum().alias("following_wait_ps"),
        )
        .join(_accounted(evidence), on=("location", "callpath"), how="left")
        .with_columns(
            # Several operations of one call, and nonblocking ones, last concurrently.
            pl.min_horizontal("following_ps", pl.col("own_ps").fill_null(0)),
            pl.min_horizontal("following_wait_ps", pl.col("own_wait_ps").fill_null(0)),
        )
        .drop("own_ps", "own_wait_ps")
        .sort("location", "callpath")
    )
    kinds = (
        calls.filter(pl.col("instance") >= 0)
        .group_by("callpath")
        .agg(pl.col("operation").first(), members=pl.len() / pl.col("instance").n_unique())
    )
    return Successive(
        places={(row[0], row[1]): Place(*(int(value) for value in row[2:])) for row in rows.iter_rows()},
        members=dict(kinds.select("callpath", "members").iter_rows()),
        operations=dict(kinds.select("callpath", "operation").iter_rows()),
    )


def _accounted(evidence: Evidence) -> pl.DataFrame:
    """(location, callpath, own_ps, own_wait_ps): what the accounts have in collective operations, and of it waiting."""
    waits = pl.col("category") == "collective_wait"
    rows = evidence.exposure.filter(waits | (pl.col("category") == "collective"))
    return rows.group_by("location", "callpath").agg(
        own_ps=wide_sum("exposed_ps"), own_wait_ps=wide_sum_of(pl.col("exposed_ps").filter(waits))
    )
