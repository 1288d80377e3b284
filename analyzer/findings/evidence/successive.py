"""Back-to-back collectives: operations that directly follow another of their kind on the same communicator.

A call *follows* another if the rank spends less between the two than one round of the call takes: no message is worked
on there, and one operation with all values would do. What the call waits for a later member is no cost of it: a rank
that has nothing to do while another one works for long comes back soon, and waits. What a rank waits in a call that
follows is skew that the operation before left, not late work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce

import polars as pl

from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.part_bytes import own_part_bytes, part_bytes
from logpost.analyzer.findings.evidence.rounds import SEEN, one_round
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


ROWS_AT_ONCE = 1 << 16
"""Rows of collectives in memory at the same time: of 4.5 million they need 80 MB, less than `FINDERS_BYTES`."""
FOLLOWS = ("location", "call", "instance", "operation", "comm", "root", "rma_window", "enter_ps", "leave_ps", "wait_ps")
"""Columns that state whether a call follows another one."""


def with_follows(collectives: pl.LazyFrame, *columns: str) -> pl.DataFrame:
    """These columns of the collectives table, with `follows`: whether the call directly follows another one of its
    kind."""
    wanted = tuple(dict.fromkeys((*FOLLOWS, *columns)))
    return _with_follows(collectives.select(*wanted).collect(), SEEN)


def _with_follows(rows: pl.DataFrame, seen: pl.Expr) -> pl.DataFrame:
    """Likewise, of all rows of some locations; `seen`: how many members of an operation the table has."""
    calls = in_order(rows, "location", "call")
    same = ("location", "operation", "comm", "root", "rma_window")
    alike = pl.all_horizontal([pl.col(name) == pl.col(name).shift(1) for name in same])
    gap = pl.col("enter_ps") - pl.col("leave_ps").shift(1)
    close = gap < one_round(pl.col("leave_ps") - pl.col("enter_ps") - pl.col("wait_ps"), seen)
    # Fences are in pairs, around transfers; no operation makes two handles.
    close &= ~pl.col("operation").cast(pl.String).is_in(["Fence", *HANDLE_OPERATIONS])
    return calls.with_columns(follows=(alike & close).fill_null(value=False))


@once
def successive(evidence: Evidence) -> Successive:
    """The collective calls of the program, or of the region of interest, by rank and place."""
    parts = _parts(evidence)
    known = pl.col("instance") >= 0
    of_operations = [part.filter(known) for part in parts]
    seen = _by("instance", pl.col("seen").sum(), (part.select("instance", seen=1) for part in of_operations))
    own = own_part_bytes(MEMBERS).alias("most")
    largest = _by(
        "instance",
        pl.col("most").max(),
        (_with(part, seen).select("instance", own) for part in of_operations),
    )
    places, kinds, operations = [], [], []
    for part in parts:
        calls = _with_follows(_with(_with(part, seen), largest).collect(), pl.col("seen"))
        places.append(_places(calls))
        calls = calls.filter(known)
        kinds.append(calls.group_by("callpath").agg(pl.col("operation").first(), rows=pl.len()))
        operations.append(calls.select("callpath", "instance").unique())
    rows = (
        pl.concat(places)
        .join(_accounted(evidence), on=("location", "callpath"), how="left")
        .with_columns(
            # Several operations of one call, and nonblocking ones, last concurrently.
            pl.min_horizontal("following_ps", pl.col("own_ps").fill_null(0)),
            pl.min_horizontal("following_wait_ps", pl.col("own_wait_ps").fill_null(0)),
        )
        .drop("own_ps", "own_wait_ps")
        .sort("location", "callpath")
    )
    at = (
        pl.concat(kinds)
        .group_by("callpath", maintain_order=True)
        .agg(pl.col("operation").first(), pl.col("rows").sum())
    )
    count = pl.concat(operations).unique().group_by("callpath").agg(operations=pl.len())
    at = at.join(count, on="callpath").with_columns(members=pl.col("rows") / pl.col("operations"))
    return Successive(
        places={(row[0], row[1]): Place(*(int(value) for value in row[2:])) for row in rows.iter_rows()},
        members=dict(at.select("callpath", "members").iter_rows()),
        operations=dict(at.select("callpath", "operation").iter_rows()),
    )


MEMBERS = pl.max_horizontal("size", pl.col("seen").fill_null(1)).cast(pl.Float64)
"""Archives may define a communicator without its members, or lack files of some."""


def _parts(evidence: Evidence) -> list[pl.LazyFrame]:
    """The rows of the scope, in parts of whole locations, with the `size` of their communicators."""
    table = evidence.tables["collectives"]
    each = table.group_by("location").agg(rows=pl.len()).sort("location").collect(engine="streaming")
    before = pl.col("rows").cum_sum() - pl.col("rows")
    stretches = (
        each.with_columns(part=before // ROWS_AT_ONCE)
        .group_by("part")
        .agg(first=pl.col("location").min(), last=pl.col("location").max())
        .sort("part")
        .select("first", "last")
    )
    scope = evidence.tables["locations"].select("location", "begin_ps", "end_ps")
    sizes = evidence.tables["communicators"].select("comm", "size").unique("comm")
    inside = (pl.col("enter_ps") >= pl.col("begin_ps")) & (pl.col("leave_ps") <= pl.col("end_ps"))
    columns = dict.fromkeys((*FOLLOWS, "callpath", "bytes_sent", "bytes_received"))

    def rows(of: pl.LazyFrame) -> pl.LazyFrame:
        found = of.select(*columns).join(scope, on="location", maintain_order="left").filter(inside)
        return found.drop("begin_ps", "end_ps").join(sizes, on="comm", how="left", maintain_order="left")

    if len(stretches) <= 1:
        return [rows(table).collect().lazy()]
    return [rows(table.filter(pl.col("location").is_between(*ends))) for ends in stretches.iter_rows()]


def _by(key: str, sums: pl.Expr, parts: Iterable[pl.LazyFrame]) -> pl.DataFrame:
    """Sums over all parts, which are not in memory together."""
    return reduce(
        lambda whole, more: pl.concat([whole, more]).group_by(key).agg(sums),
        (part.group_by(key).agg(sums).collect() for part in parts),
    )


def _with(part: pl.LazyFrame, of_operations: pl.DataFrame) -> pl.LazyFrame:
    """Rows with the values of their operations; null where they belong to none."""
    return part.join(of_operations.lazy(), on="instance", how="left", maintain_order="left")


def _places(calls: pl.DataFrame) -> pl.DataFrame:
    """Sums by location and call path."""
    length = pl.col("leave_ps") - pl.col("enter_ps")
    calls = calls.with_columns(part_bytes=part_bytes(own_part_bytes(MEMBERS), pl.col("most")))
    return calls.group_by("location", "callpath").agg(
        pl.len(),
        pl.col("follows").sum(),
        pl.col("part_bytes").sum().round(),
        length.filter("follows").sum().alias("following_ps"),
        pl.col("wait_ps").filter("follows").sum().alias("following_wait_ps"),
    )


def _accounted(evidence: Evidence) -> pl.DataFrame:
    """(location, callpath, own_ps, own_wait_ps): what the accounts have in collective operations, and of it waiting."""
    waits = pl.col("category") == "collective_wait"
    rows = evidence.exposure.filter(waits | (pl.col("category") == "collective"))
    return rows.group_by("location", "callpath").agg(
        own_ps=wide_sum("exposed_ps"), own_wait_ps=wide_sum_of(pl.col("exposed_ps").filter(waits))
    )
