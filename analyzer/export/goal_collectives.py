"""Collective operations of a run as messages of the usual algorithm: what each member sends and receives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import OPERATIONS
from logpost.replay._native import collective_messages
from logpost.replay.columns import Int32, Int64, Piece, UInt8, UInt64

ROOTED = ("Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce")
ALL_WITH_ALL = (
    *("Barrier", "Fence", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"),
    *("Allreduce", "Reduce_scatter", "Reduce_scatter_block"),
)
COLUMNS = ("call", "instance", "entered_ps", "latest_ps", "tag", "shape")
"""Of a member's operations, as the native core reads them."""

NOT_WHOLE = "member of a collective operation that is not whole"
NOT_KNOWN = "collective operation whose members or root are not known, a calc of what follows its last enter"


class Collectives:
    """The whole collective operations of a run; an operation's own values are in memory, its members are not."""

    def __init__(self, run: Run, locations: pl.DataFrame, first_tag: int) -> None:
        """`locations`: those of the schedule, in the order of its ranks. An operation's tag is `first_tag` and its
        communicator's number."""
        rows = run.facts("collectives").filter(pl.col("call") >= 0)
        known = (pl.col("instance") >= 0) & (pl.col("complete_call") >= 0)
        self._rows = rows.filter(known)
        self._rank_of = np.full(max(locations["location"], default=-1) + 1, -1, np.int32)
        self._rank_of[locations["location"].to_numpy()] = np.arange(locations.height, dtype=np.int32)
        self._orders: dict[int, list[int]] = dict(
            run.facts("communicators").select("comm", "members").collect().iter_rows()
        )
        self._groups: list[Int64] = []
        self._places: list[dict[int, int]] = []
        self._instances = self._shared(first_tag)
        self.left_out: dict[str, int] = {}
        """what of the operations is written otherwise, and how often"""
        if lost := rows.filter(~known).select(pl.len()).collect().item():
            self.left_out[NOT_WHOLE] = lost
        if unknown := self._instances.filter(pl.col("group") < 0).height:
            self.left_out[NOT_KNOWN] = unknown

    def members(self, batch: list[int]) -> dict[int, tuple[Piece, Piece]]:
        """By location of a batch: its operations by the call that completes them, and what their shapes are."""
        rows = (
            self._rows.filter(pl.col("location").is_in(batch))
            .select("instance", "location", pl.col("complete_call").alias("call"), entered_ps="enter_ps")
            .collect(engine="streaming")
            .join(self._instances, on="instance", how="left")
            .sort("location", "call", "order")
        )
        return {
            location: self._member(location, mine)
            for (location,), mine in rows.partition_by("location", as_dict=True).items()
        }

    def _member(self, location: int, rows: pl.DataFrame) -> tuple[Piece, Piece]:
        shapes = rows.select("operation", "bytes", "group").unique(maintain_order=True)
        known = [self._steps(location, *shape) for shape in shapes.iter_rows()]
        # An operation without messages for this member, or of unknown members, is written as a calc.
        numbers = np.where([shape is not None for shape in known], np.arange(len(known)), -1).astype(np.int32)
        rows = rows.join(
            shapes.with_columns(shape=pl.Series(numbers)),
            on=["operation", "bytes", "group"],
            how="left",
            maintain_order="left",
        )
        steps = [shape or _Steps.none() for shape in known]
        return (
            {name: rows[name].to_numpy() for name in COLUMNS},
            {
                "begin": np.cumsum([0, *(len(one.peer) for one in steps)], dtype=np.int64),
                "sends": np.concatenate([one.sends for one in steps]),
                "peer": np.concatenate([one.peer for one in steps]),
                "bytes": np.concatenate([one.bytes for one in steps]),
            },
        )

    def _steps(self, location: int, operation: int, count: int, group: int) -> _Steps | None:
        """Of a member, with ranks of the schedule as peers."""
        place = self._places[group].get(location, -1) if group >= 0 else -1
        if place < 0:
            return None
        members = self._groups[group]
        whole = _messages(operation, len(members), count)
        if not len(whole.sent[0]):
            return None
        found = whole.of(place)
        return _Steps(found.sends, self._rank_of[members[found.peer]], found.bytes)

    def _shared(self, first_tag: int) -> pl.DataFrame:
        """Per operation: its order among all, operation, bytes, latest enter, tag, and the number of its group of
        members, -1 where they or their root are not known."""
        numbers = {name: code for code, name in enumerate(OPERATIONS)}
        seats = pl.DataFrame(
            [(comm, location) for comm, order in self._orders.items() for location in order or ()],
            schema={"comm": pl.Int32, "location": pl.Int32},
            orient="row",
        ).unique()
        most = pl.max_horizontal("bytes_sent", "bytes_received")
        found = (
            self._rows.with_row_index("order")
            .join(seats.lazy().with_columns(seated=True), on=["comm", "location"], how="left", maintain_order="left")
            .group_by("instance")
            .agg(
                pl.col("order").min(),
                pl.col("comm", "root").first(),
                pl.col("operation").first().cast(pl.String),
                most.first().alias("first"),
                most.min().alias("least"),
                pl.col("enter_ps").max().alias("latest_ps"),
                pl.len().alias("rows"),
                pl.col("seated").is_not_null().sum(),
            )
            .collect(engine="streaming")
            .sort("order")
        )
        # In the operations of all with all a member states what it moves with all others, the root of a tree likewise.
        share = pl.when(pl.col("operation").is_in(ALL_WITH_ALL)).then(pl.col("first") // pl.col("rows"))
        groups = self._number_groups(found)
        return found.select(
            "instance",
            "order",
            "latest_ps",
            (pl.col("comm") + first_tag).cast(pl.Int32).alias("tag"),
            pl.col("operation").replace_strict(numbers, return_dtype=pl.Int32),
            share.otherwise("least").cast(pl.UInt64).alias("bytes"),
            pl.Series("group", groups, pl.Int32),
        )

    def _number_groups(self, operations: pl.DataFrame) -> list[int]:
        """The group of members of each operation: locations, from the root on where there is one."""
        sizes = pl.DataFrame(
            [(comm, len(order or ())) for comm, order in self._orders.items()],
            schema={"comm": pl.Int32, "size": pl.UInt32},
            orient="row",
        )
        operations = operations.join(sizes, on="comm", how="left", maintain_order="left")
        # Usually all of the communicator take part.
        everybody = (pl.col("rows") == pl.col("seated")) & (pl.col("rows") == pl.col("size"))
        some = operations.filter(~everybody.fill_null(value=False))["instance"]
        present = dict(
            self._rows.filter(pl.col("instance").is_in(some.implode()))
            .group_by("instance")
            .agg("location")
            .collect(engine="streaming")
            .iter_rows()
        )
        known: dict[tuple[int, int, tuple[int, ...]], int] = {}
        groups: list[int] = []
        for instance, comm, root, operation in operations.select("instance", "comm", "root", "operation").iter_rows():
            if root < 0 and operation in ROOTED:
                groups.append(-1)
                continue
            here = present.get(instance)
            key = (comm, max(0, root), () if here is None else tuple(sorted(here)))
            if key not in known:
                known[key] = self._add_group(comm, max(0, root), None if here is None else set(here))
            groups.append(known[key])
        return groups

    def _add_group(self, comm: int, root: int, here: set[int] | None) -> int:
        order = self._orders.get(comm) or []
        turned = [order[(root + i) % len(order)] for i in range(len(order))]
        members = [one for one in turned if here is None or one in here]
        if not members:
            return -1
        self._groups.append(np.array(members, np.int64))
        self._places.append({location: i for i, location in enumerate(members)})
        return len(self._groups) - 1


@dataclass(frozen=True)
class _Steps:
    """What a member sends and receives in an operation, in order: of each whether it sends, the other rank, and
    bytes."""

    sends: UInt8
    peer: Int32
    bytes: UInt64

    @classmethod
    def none(cls) -> _Steps:
        return cls(np.zeros(0, np.uint8), np.zeros(0, np.int32), np.zeros(0, np.uint64))


@dataclass(frozen=True)
class _Messages:
    """The messages of an operation, by sender and by receiver."""

    sent: tuple[Int32, UInt64, Int32]
    """receiver, bytes and step"""
    sent_begin: Int64
    received: tuple[Int32, UInt64, Int32]
    received_begin: Int64

    def of(self, place: int) -> _Steps:
        """A member's, step by step, what it sends before what it receives."""
        out = slice(self.sent_begin[place], self.sent_begin[place + 1])
        into = slice(self.received_begin[place], self.received_begin[place + 1])
        peer = np.concatenate([self.sent[0][out], self.received[0][into]])
        size = np.concatenate([self.sent[1][out], self.received[1][into]])
        step = np.concatenate([self.sent[2][out], self.received[2][into]])
        sends = np.repeat(np.array([1, 0], np.uint8), [out.stop - out.start, into.stop - into.start])
        order = np.argsort(step, kind="stable")
        return _Steps(sends[order], peer[order], size[order])


@lru_cache(maxsize=64)
def _messages(operation: int, size: int, count: int) -> _Messages:
    sender, receiver, size_of, step = collective_messages(operation, size, count)

    def grouped(end: Int32, other: Int32) -> tuple[tuple[Int32, UInt64, Int32], Int64]:
        order = np.argsort(end, kind="stable")
        return (other[order], size_of[order], step[order]), np.searchsorted(end[order], np.arange(size + 1))

    sent, sent_begin = grouped(sender, receiver)
    received, received_begin = grouped(receiver, sender)
    return _Messages(sent, sent_begin, received, received_begin)
