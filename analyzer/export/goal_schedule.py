"""A run as GOAL operations: what each rank computes, sends and receives, and what waits for what.

Time between calls is a `calc`. A send is a `send`, which the call that completes it requires; a blocking receive is a
`recv`, which the next operation requires. A nonblocking receive is a `recv`, which the next operation requires only to
have begun (`irequires`), and the call that completes it is a `calc 0` that requires it. A collective operation is the
messages of the usual algorithm, where its last call stands. Any other call is a `calc` of its length; where all members
wait for the last one (creation of communicators, MPI_Init), of what came after that.

A message's tag stands for its communicator and tag; receives have the source and the tag that they got.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from logpost.analyzer.run import Run
from logpost.analyzer.schema import OPERATIONS
from logpost.errors import InputError
from logpost.replay._native import collective_messages

ROOTED = ("Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce")
ALL_WITH_ALL = (
    *("Barrier", "Fence", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"),
    *("Allreduce", "Reduce_scatter", "Reduce_scatter_block"),
)

CALC, SEND, RECV = "calc", "send", "recv"

BATCH = 1 << 18
"""Calls whose ranks are in memory at a time, unless one rank has more."""

_OF_MESSAGES = (
    *("message", "send_location", "recv_location", "comm", "tag", "bytes", "send_call", "send_complete_call"),
    *("recv_post_call", "recv_call", "send_number", "recv_number"),
)
_OF_COLLECTIVES = (
    *("instance", "location", "comm", "root", "call", "complete_call", "operation", "enter_ps"),
    *("bytes_sent", "bytes_received"),
)


@dataclass
class Operation:
    """One operation; its number is its place among the rank's."""

    kind: str
    amount: int
    """ps of a calc, bytes of a message"""
    peer: int = -1
    """rank of the schedule"""
    tag: int = 0
    requires: tuple[int, ...] = ()
    irequires: tuple[int, ...] = ()
    call: int = -1
    message: int = -1
    """row of the table `messages`; -1: of a collective operation, or a calc"""
    instance: int = -1
    """collective operation that the message belongs to"""


class _Rank:
    """Collects the operations of one rank in program order."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.after: tuple[int, ...] = ()
        self.begun: tuple[int, ...] = ()

    def add(self, operation: Operation, *, also: Sequence[int] = (), only_begun: bool = False) -> int:
        """Appends an operation behind those before it and `also`; the next one needs it done, or begun."""
        operation.requires = tuple(dict.fromkeys((*self.after, *also)))
        operation.irequires = tuple(one for one in self.begun if one not in operation.requires)
        number = len(self.operations)
        self.operations.append(operation)
        self.after, self.begun = ((), (number,)) if only_begun else ((number,), ())
        return number


class Schedule:
    """The schedule of a run, made rank by rank: of 16,384 ranks the operations of a few are in memory at a time.

    Raises:
        InputError: threads communicate, or nothing does.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        locations = run.facts("locations").filter("accounted").select("location", "rank", "first_ps", "last_ps")
        self.locations = locations.sort("rank").collect()
        ranks = self.locations["rank"].to_list()
        if not ranks:
            raise InputError(f"{run.path}: no location communicates: there is nothing to export")
        if min(ranks) < 0 or len(set(ranks)) < len(ranks):
            raise InputError(
                f"{run.path}: threads communicate beside their ranks, which a GOAL schedule cannot tell; "
                "export --to csv has all of it"
            )
        self.rank_of = {location: i for i, location in enumerate(self.locations["location"].to_list())}
        self.messages = run.facts("messages").with_row_index("message").select(_OF_MESSAGES).collect()
        self.tags = self._tags()
        self.left_out: dict[str, int] = {}
        """what of the run the schedule does not have, and how often"""
        called = self.messages.filter(pl.min_horizontal("send_call", "recv_post_call", "recv_call") >= 0)
        if lost := self.messages.height - called.height:
            self.left_out["message whose calls are not known"] = lost
            self.messages = called
        self.instances: dict[int, _Instance] = {}
        self.collectives = self._collectives()
        finalizes = pl.col("name").str.to_lowercase().str.contains("finalize")
        regions = run.facts("regions").select(
            "region",
            meeting=pl.when(pl.col("kind") != "init_finalize").then(pl.lit("")).otherwise(finalizes.cast(pl.String)),
        )
        self.calls = run.facts("calls").join(regions, on="region", how="left", maintain_order="left")
        first = self.calls.filter(pl.col("meeting") != "").group_by("location", "meeting").agg(pl.col("enter_ps").min())
        self.latest: dict[str, int] = dict(
            first.group_by("meeting").agg(pl.col("enter_ps").max()).collect(engine="streaming").iter_rows()
        )
        self._count("message end without its other end", self.run.facts("unmatched"))
        self._count("one-sided transfer", self.run.facts("transfers"))

    def __len__(self) -> int:
        return self.locations.height

    def __iter__(self) -> Iterator[list[Operation]]:
        """The operations of each rank."""
        sizes = dict(self.calls.group_by("location").agg(pl.len()).collect(engine="streaming").iter_rows())
        for batch in _batches([(one, sizes.get(one, 0)) for one in self.locations["location"].to_list()]):
            yield from self._ranks(batch)

    def _ranks(self, batch: list[int]) -> Iterator[list[Operation]]:
        """The operations of some ranks, given by their locations."""
        here = self.messages.filter(pl.col("send_location").is_in(batch) | pl.col("recv_location").is_in(batch))
        outgoing = here.filter(pl.col("send_location").is_in(batch))
        incoming = here.filter(pl.col("recv_location").is_in(batch))
        sends = _by_call(outgoing, "send_location", "send_call", "send_number")
        posts = _by_call(incoming, "recv_location", "recv_post_call", "recv_number")
        done = _by_call(incoming, "recv_location", "recv_call", "recv_number")
        sent = _by_call(outgoing, "send_location", "send_complete_call", "send_number")
        collectives: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
        for row in self.collectives.filter(pl.col("location").is_in(batch)).iter_rows(named=True):
            collectives[row["location"], row["complete_call"]].append(row)
        called = (
            self.calls.filter(pl.col("location").is_in(batch))
            .select("location", "call", "enter_ps", "leave_ps", "meeting")
            .collect(engine="streaming")
            .partition_by("location", as_dict=True, include_key=False)
        )
        spans = self.locations.filter(pl.col("location").is_in(batch)).select("location", "first_ps", "last_ps")
        for location, first_ps, last_ps in spans.iter_rows():
            rank = _Rank()
            at = first_ps
            number_of: dict[tuple[str, int], int] = {}
            mine = called.get((location,))
            for call, enter_ps, leave_ps, meeting in mine.sort("call").iter_rows() if mine is not None else ():
                if enter_ps > at:
                    rank.add(Operation(CALC, enter_ps - at))
                at = leave_ps
                before = len(rank.operations)
                for row in sends.get((location, call), ()):
                    number = rank.add(self._message(SEND, row, call), only_begun=row["send_complete_call"] != call)
                    number_of[SEND, row["message"]] = number
                waits: list[int] = []
                for row in posts.get((location, call), ()):
                    number = rank.add(self._message(RECV, row, call), only_begun=True)
                    number_of[RECV, row["message"]] = number
                # What the call itself has posted and completes is required by whatever comes next.
                for kind, rows in ((RECV, done), (SEND, sent)):
                    ends = (number_of.get((kind, row["message"])) for row in rows.get((location, call), ()))
                    waits += [number for number in ends if number is not None]
                own = [number for number in waits if number >= before]
                if len(waits) == len(own):
                    rank.after = tuple(dict.fromkeys((*rank.after, *own)))
                    rank.begun = tuple(one for one in rank.begun if one not in rank.after)
                else:
                    rank.add(Operation(CALC, 0, call=call), also=waits)
                instances = collectives.get((location, call), ())
                for one in instances:
                    self._add_collective(rank, location, call, leave_ps, one)
                if len(rank.operations) == before and not instances:
                    rank.add(Operation(CALC, self._own_time(meeting, enter_ps, leave_ps), call=call))
            if last_ps > at:
                rank.add(Operation(CALC, last_ps - at))
            yield rank.operations

    def _message(self, kind: str, row: dict[str, Any], call: int) -> Operation:
        peer = row["recv_location" if kind == SEND else "send_location"]
        return Operation(
            kind,
            row["bytes"],
            self.rank_of[peer],
            self.tags[row["comm"], row["tag"]],
            call=call,
            message=row["message"],
        )

    def _tags(self) -> dict[tuple[int, int], int]:
        """A tag for each communicator and tag."""
        pairs = self.messages.select("comm", "tag").unique().sort("comm", "tag")
        return {pair: number for number, pair in enumerate(pairs.iter_rows())}

    def _own_time(self, meeting: str, enter_ps: int, leave_ps: int) -> int:
        """Of a call without messages; initialization and finalization wait for all ranks first."""
        latest = self.latest.get(meeting, enter_ps)
        return leave_ps - (max(enter_ps, latest) if latest < leave_ps else enter_ps)

    def _collectives(self) -> pl.DataFrame:
        """The members of whole collective operations; what they share is in `instances`."""
        rows = self.run.facts("collectives").filter(pl.col("call") >= 0).select(_OF_COLLECTIVES).collect()
        incomplete = rows.filter((pl.col("instance") < 0) | (pl.col("complete_call") < 0))
        if incomplete.height:
            self.left_out["member of a collective operation that is not whole"] = incomplete.height
        communicators = dict(self.run.facts("communicators").select("comm", "members").collect().iter_rows())
        whole = rows.filter((pl.col("instance") >= 0) & (pl.col("complete_call") >= 0))
        known: dict[_SameMembers, _Members] = {}
        for group in whole.partition_by("instance", maintain_order=True):
            one = _Instance.of(group, communicators.get(group["comm"][0]) or [], known)
            self.instances[one.instance] = one
            if not one.members:
                what = "collective operation whose members or root are not known, a calc of what follows its last enter"
                self.left_out[what] = self.left_out.get(what, 0) + 1
        order = whole.select(pl.col("instance").unique(maintain_order=True)).with_row_index("order")
        return (
            whole.select("instance", "location", "complete_call", "enter_ps")
            .join(order, on="instance", how="left", maintain_order="left")
            .sort("order", maintain_order=True)
            .drop("order")
        )

    def _add_collective(self, rank: _Rank, location: int, call: int, leave_ps: int, row: dict[str, Any]) -> None:
        one = self.instances[row["instance"]]
        tag = len(self.tags) + one.comm
        place = one.place.get(location, -1)
        steps = _steps(one.operation, len(one.members), one.bytes)
        if not steps or place < 0:
            # All wait for the last one, if the times say so; what came after that is the call's own.
            rank.add(Operation(CALC, leave_ps - max(row["enter_ps"], min(one.latest_ps, leave_ps)), call=call))
            return
        for step in steps:
            for member, size in step.sends.get(place, ()):
                self._one(rank, SEND, size, one.members[member], tag, call, one.instance)
            for member, size in step.receives.get(place, ()):
                self._one(rank, RECV, size, one.members[member], tag, call, one.instance)

    def _one(self, rank: _Rank, kind: str, size: int, peer: int, tag: int, call: int, instance: int) -> None:
        rank.add(Operation(kind, size, self.rank_of[peer], tag, call=call, instance=instance))

    def _count(self, what: str, rows: pl.LazyFrame) -> None:
        if count := rows.select(pl.len()).collect().item():
            self.left_out[what] = count


@dataclass(frozen=True)
class _Step:
    """Member to (other member, bytes)."""

    sends: dict[int, list[tuple[int, int]]]
    receives: dict[int, list[tuple[int, int]]]


_SameMembers = tuple[int, int, bytes]
"""Communicator, root, and the locations of the rows."""


@dataclass(frozen=True)
class _Members:
    """Of collective operations: locations, from the root on where there is one."""

    locations: tuple[int, ...]
    place: dict[int, int]
    """location to its number among them"""


@dataclass(frozen=True)
class _Instance:
    """One collective operation."""

    instance: int
    comm: int
    operation: int
    bytes: int
    members: tuple[int, ...]
    place: dict[int, int]
    latest_ps: int

    @classmethod
    def of(cls, rows: pl.DataFrame, order: Sequence[int], known: dict[_SameMembers, _Members]) -> _Instance:
        """From the operation's rows; `order`: the communicator's locations by rank. Operations of the same members
        share them, by way of `known`."""
        first = rows.row(0, named=True)
        moved = rows.select(most=pl.max_horizontal("bytes_sent", "bytes_received"))["most"].to_list()
        root = max(0, first["root"])
        key = (first["comm"], root, rows["location"].to_numpy().tobytes())
        if key not in known:
            here = set(rows["location"].to_list())
            found = tuple(one for i in range(len(order)) if (one := order[(root + i) % len(order)]) in here)
            known[key] = _Members(found, {location: i for i, location in enumerate(found)})
        members = known[key]
        if first["root"] < 0 and first["operation"] in ROOTED:
            members = _Members((), {})
        # In the operations of all with all a member states what it moves with all others, the root of a tree likewise.
        part = moved[0] // rows.height if first["operation"] in ALL_WITH_ALL else min(moved)
        return cls(
            instance=first["instance"],
            comm=first["comm"],
            operation=OPERATIONS.index(first["operation"]),
            bytes=part,
            members=members.locations,
            place=members.place,
            latest_ps=int(rows.select(pl.col("enter_ps").max()).item()),
        )


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


@lru_cache(maxsize=256)
def _steps(operation: int, size: int, count: int) -> tuple[_Step, ...]:
    """The messages of an operation, step by step."""
    found: list[_Step] = []
    last = -1
    for sender, receiver, size_of, step in zip(*collective_messages(operation, size, count), strict=True):
        if step != last:
            found.append(_Step(defaultdict(list), defaultdict(list)))
            last = step
        found[-1].sends[int(sender)].append((int(receiver), int(size_of)))
        found[-1].receives[int(receiver)].append((int(sender), int(size_of)))
    return tuple(found)


def _by_call(
    messages: pl.DataFrame, location: str, call: str, order: str
) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """(location, call) to messages, in the order of their requests."""
    columns = ["message", "send_location", "recv_location", "comm", "tag", "bytes", "send_complete_call"]
    found: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    rows = messages.filter(pl.col(call) >= 0).sort(location, call, order)
    for row in rows.select(*dict.fromkeys((*columns, location, call))).iter_rows(named=True):
        found[row[location], row[call]].append(row)
    return found
