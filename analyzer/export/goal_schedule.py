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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

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


PART = 1 << 16
"""Operations that are told at a time."""


class Operation(NamedTuple):
    """One operation; its number is its place among the rank's."""

    kind: str
    amount: int
    """ps of a calc, bytes of a message"""
    peer: int
    """rank of the schedule; -1: a calc"""
    tag: int
    requires: tuple[int, ...]
    irequires: tuple[int, ...]
    call: int
    """-1: none"""
    message: int
    """row of the table `messages`; -1: of a collective operation, or a calc"""
    instance: int
    """collective operation that the message belongs to; -1: none"""


class Part(NamedTuple):
    """Some operations of a rank, in order. Those of a rank follow each other; the last part of each ends it."""

    rank: int
    first: int
    """number of the first one"""
    operations: list[Operation]
    calls: int
    """of the run that they tell"""
    ends: bool


class _Rank:
    """Collects the operations of one rank in program order."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        """that are not told yet"""
        self.count = 0
        self.after: tuple[int, ...] = ()
        self.begun: tuple[int, ...] = ()

    def add(
        self,
        kind: str,
        amount: int,
        peer: int = -1,
        tag: int = 0,
        call: int = -1,
        message: int = -1,
        instance: int = -1,
        *,
        also: Sequence[int] = (),
        only_begun: bool = False,
    ) -> int:
        """Appends an operation behind those before it and `also`; the next one needs it done, or begun."""
        requires = tuple(dict.fromkeys((*self.after, *also))) if also else self.after
        begun = self.begun
        if begun and requires:
            begun = tuple(one for one in begun if one not in requires)
        number = self.count
        self.count = number + 1
        self.operations.append(Operation(kind, amount, peer, tag, requires, begun, call, message, instance))
        self.after, self.begun = ((), (number,)) if only_begun else ((number,), ())
        return number

    def told(self) -> list[Operation]:
        """Gives away what was collected."""
        found, self.operations = self.operations, []
        return found


class Schedule:
    """The schedule of a run, made rank by rank and part by part.

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
        self.tags = self._number_tags()
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

    def __iter__(self) -> Iterator[Part]:
        """The operations, rank by rank."""
        sizes = dict(self.calls.group_by("location").agg(pl.len()).collect(engine="streaming").iter_rows())
        for batch in _batches([(one, sizes.get(one, 0)) for one in self.locations["location"].to_list()]):
            yield from self._ranks(batch)

    def _ranks(self, batch: list[int]) -> Iterator[Part]:
        """The operations of some ranks, given by their locations."""
        outgoing = self.messages.filter(pl.col("send_location").is_in(batch))
        incoming = self.messages.filter(pl.col("recv_location").is_in(batch))
        told = ("goal_tag", "bytes")
        sends = _by_call(
            outgoing, "send", "send_call", "message", "recv_location", *told, "send_complete_call", order="send_number"
        )
        sent = _by_call(outgoing, "send", "send_complete_call", "message", order="send_number")
        posts = _by_call(incoming, "recv", "recv_post_call", "message", "send_location", *told, order="recv_number")
        done = _by_call(incoming, "recv", "recv_call", "message", order="recv_number")
        collectives: dict[int, dict[int, list[tuple[int, int]]]] = defaultdict(dict)
        members = self.collectives.filter(pl.col("location").is_in(batch))
        columns = ("location", "complete_call", "instance", "enter_ps")
        for location, call, instance, enter_ps in members.select(columns).iter_rows():
            collectives[location].setdefault(call, []).append((instance, enter_ps))
        called = (
            self.calls.filter(pl.col("location").is_between(min(batch), max(batch)), pl.col("location").is_in(batch))
            .select("location", "call", "enter_ps", "leave_ps", "meeting")
            .collect(engine="streaming")
            .partition_by("location", as_dict=True, include_key=False)
        )
        spans = self.locations.filter(pl.col("location").is_in(batch)).select("location", "first_ps", "last_ps")
        for location, first_ps, last_ps in spans.iter_rows():
            mine = called.pop((location,), None)
            yield from self._rank(
                location,
                (first_ps, last_ps),
                () if mine is None else mine.sort("call").iter_rows(),
                (sends[location], posts[location], done[location], sent[location]),
                collectives[location],
            )

    def _rank(
        self,
        location: int,
        span_ps: tuple[int, int],
        calls: Iterable[tuple[Any, ...]],
        messages: tuple[_ByCall, _ByCall, _ByCall, _ByCall],
        collectives: dict[int, list[tuple[int, int]]],
    ) -> Iterator[Part]:
        """One rank, from its calls, the messages by what a call is to them, and its collective operations by call."""
        sends, posts, done, sent = messages
        rank, place, rank_of = _Rank(), self.rank_of[location], self.rank_of
        at, last_ps = span_ps
        going: dict[int, int] = {}  # operation by message
        coming: dict[int, int] = {}
        first = told = since = 0
        for call, enter_ps, leave_ps, meeting in calls:
            if enter_ps > at:
                rank.add(CALC, enter_ps - at)
            at = leave_ps
            before = rank.count
            for message, peer, tag, size, complete in sends.get(call, ()):
                going[message] = rank.add(SEND, size, rank_of[peer], tag, call, message, only_begun=complete != call)
            for message, peer, tag, size in posts.get(call, ()):
                coming[message] = rank.add(RECV, size, rank_of[peer], tag, call, message, only_begun=True)
            # What the call itself has posted and completes is required by whatever comes next.
            waits = [coming.pop(message) for (message,) in done.get(call, ()) if message in coming]
            waits += [going.pop(message) for (message,) in sent.get(call, ()) if message in going]
            own = [number for number in waits if number >= before]
            if len(waits) > len(own):
                rank.add(CALC, 0, call=call, also=waits)
            elif own:
                rank.after = tuple(dict.fromkeys((*rank.after, *own)))
                rank.begun = tuple(one for one in rank.begun if one not in rank.after)
            instances = collectives.get(call, ())
            for instance, entered_ps in instances:
                self._add_collective(rank, location, call, leave_ps, self.instances[instance], entered_ps)
            if rank.count == before and not instances:
                rank.add(CALC, self._own_time(meeting, enter_ps, leave_ps), call=call)
            told += 1
            if len(rank.operations) >= PART:
                yield Part(place, first, rank.told(), told - since, ends=False)
                first, since = rank.count, told
        if last_ps > at:
            rank.add(CALC, last_ps - at)
        yield Part(place, first, rank.told(), told - since, ends=True)

    def _number_tags(self) -> int:
        """Gives the messages a tag for each communicator and tag; how many there are."""
        pairs = self.messages.select("comm", "tag").unique().sort("comm", "tag").with_row_index("goal_tag")
        self.messages = self.messages.join(
            pairs, on=["comm", "tag"], how="left", maintain_order="left", nulls_equal=True
        )
        self.messages = self.messages.drop("comm", "tag")
        return pairs.height

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

    def _add_collective(
        self, rank: _Rank, location: int, call: int, leave_ps: int, one: _Instance, entered_ps: int
    ) -> None:
        tag = self.tags + one.comm
        place = one.place.get(location, -1)
        if place < 0 or not _steps(one.operation, len(one.members), one.bytes):
            # All wait for the last one, if the times say so; what came after that is the call's own.
            rank.add(CALC, leave_ps - max(entered_ps, min(one.latest_ps, leave_ps)), call=call)
            return
        for kind, member, size in _of_member(one.operation, len(one.members), one.bytes, place):
            rank.add(kind, size, self.rank_of[one.members[member]], tag, call, -1, one.instance)

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


@lru_cache(maxsize=4096)
def _of_member(operation: int, size: int, count: int, place: int) -> tuple[tuple[str, int, int], ...]:
    """What a member sends and receives in an operation, in order: kind, other member, bytes."""
    found: list[tuple[str, int, int]] = []
    for step in _steps(operation, size, count):
        found += [(SEND, member, moved) for member, moved in step.sends.get(place, ())]
        found += [(RECV, member, moved) for member, moved in step.receives.get(place, ())]
    return tuple(found)


_ByCall = dict[int, list[tuple[Any, ...]]]
"""Call to the rows of its messages, in the order of their requests."""


def _by_call(messages: pl.DataFrame, end: str, call: str, *columns: str, order: str) -> dict[int, _ByCall]:
    """By location of an end (send, recv)."""
    found: dict[int, _ByCall] = defaultdict(dict)
    location = f"{end}_location"
    rows = messages.filter(pl.col(call) >= 0).sort(location, call, order)
    keys = rows.select(pl.col(location).alias("at"), pl.col(call).alias("in")).iter_rows()
    for (at, number), row in zip(keys, rows.select(columns).iter_rows(), strict=True):
        found[at].setdefault(number, []).append(row)
    return found
