"""The program as a graph of what waits for what: communication calls in order, and for whom each of them waits.

The graph itself is the replay engine's (`RecordedGraph`); this reads its columns from a run, and holds what the engine
made of them. A call is known by its row: calls stand in the order of location and time. Queries that poll for a message
(Test, Iprobe and Probe, in a loop or alone) wait for it as a receive does.

Calls are as many as `MOST_CALLS` at most: those of the program's first part. Times in ps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.evidence.once import once
from logpost.analyzer.findings.evidence.one_sided_waits import one_sided_waits
from logpost.analyzer.findings.evidence.spinning import queries, spin_ps
from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.run.first_part import end_of_first
from logpost.analyzer.run.schema import OPERATIONS
from logpost.analyzer.run.wide import wide_sum
from logpost.analyzer.words.categories import WAITING
from logpost.analyzer.words.units import count_text
from logpost.replay._native import RecordedGraph, wait_reasons
from logpost.replay.columns import Column, Int32, Int64, UInt8

MOST_CALLS = 100_000
"""Calls looked at: about a tenth of a second of work. A program repeats itself long before that."""
LONGER = 500_000
"""Calls for what one finder asks where a part of the program does not stand for the whole: half a second of work."""
TRANSPORT = (
    "send_overhead",
    "middleware",
    "endpoint_contention",
    "network_contention",
    "latency",
    "serialization",
    "recv_overhead",
)
"""What a message takes once both ends are ready."""
Reason = Literal[
    "send", "post", "attend", "begin", "member", "access", "exposure", "lock", "change", "target", "itself"
]
"""For what a call waits: a send's begin; the receive's post; the receiver's or the sender's call that attends to an
open handshake; the members' enters; one-sided, see `one_sided_waits`."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Messages:
    """The messages whose send and receive are in the graph; calls are rows of it."""

    sender: Int32
    receiver: Int32
    rendezvous: Flags
    bytes: Int64
    send_call: Int32
    complete_call: Int32
    post_call: Int32
    recv_call: Int32
    parts: dict[str, Int64]
    """of `TRANSPORT`"""
    undivided_ps: Int64
    """of each, all time that an estimated machine does not divide"""

    @property
    def count(self) -> int:
        return len(self.sender)

    @cached_property
    def transport(self) -> Int64:
        """What each takes once both ends are ready."""
        return np.asarray(np.sum([self.parts[part] for part in TRANSPORT], axis=0), dtype=np.int64)

    @cached_property
    def handling(self) -> Int64:
        """What each takes of its receiver's processor once it has come."""
        return np.asarray(self.parts["recv_overhead"] + self.parts["middleware"] // 2, dtype=np.int64)


@once
def graph_of(evidence: Evidence) -> Graph:
    """The graph of a run."""
    return Graph(evidence)


def _holds_all(evidence: Evidence, most: int) -> bool:
    """Whether a graph of so many calls holds all of the run."""
    return int(evidence.tables["calls"].select(pl.len()).collect().item()) <= most


@once
def longer_graph_of(evidence: Evidence) -> Graph:
    """The same of a longer part, where all depends on whole phases of the program."""
    graph = graph_of(evidence)
    return graph if graph.whole or graph.count >= LONGER else Graph(evidence, LONGER)


class Graph:
    """The calls by row, their messages, and what they wait for."""

    def __init__(self, evidence: Evidence, most_calls: int | None = None, latency_ps: float = 0.0) -> None:
        """Reads the run.

        Arguments:
            evidence: of the run.
            most_calls: that are looked at; None: `MOST_CALLS`.
            latency_ps: of a rendezvous' request, answer and transfer each, where the trace only bounds the latency.
        """
        until = _until(evidence, most_calls or MOST_CALLS)
        self.whole = until is None
        """whether it holds the whole program"""
        calls = _calls(evidence, until)
        self.location: Int32 = calls["location"].to_numpy()
        self.callpath: Int32 = calls["callpath"].to_numpy()
        self.enter_ps: Int64 = calls["enter_ps"].to_numpy()
        self.leave_ps: Int64 = calls["leave_ps"].to_numpy()
        self.middleware_ps: Int64 = calls["middleware_ps"].to_numpy()
        """part of the work: packing and unpacking"""
        self.row_of = row_of = _rows(calls["call"].to_numpy())
        """see `_rows`"""
        self.messages = _messages(evidence, row_of, calls, latency_ps)
        every = _members(evidence, row_of)
        at_once = every["call"] == every["complete"]
        self.members = members = {name: column[at_once] for name, column in every.items()}
        """of blocking collective operations: instance, call, complete (the same), operation, root (1: it is that)"""
        self.is_member: Flags = np.zeros(self.count, dtype=np.bool_)
        """whether a call takes part in a collective operation"""
        self.is_member[members["call"]] = True
        self.completes: Flags = np.zeros(self.count, dtype=np.bool_)
        """whether a call completes a nonblocking collective operation"""
        self.completes[every["complete"][~at_once]] = True
        self.native = RecordedGraph(
            {
                name: np.ascontiguousarray(calls[name].to_numpy())
                for name in ("location", "callpath", "enter_ps", "leave_ps", "begin_ps", "work_ps")
            },
            {
                "send_call": self.messages.send_call,
                "complete_call": self.messages.complete_call,
                "post_call": self.messages.post_call,
                "recv_call": self.messages.recv_call,
                "rendezvous": self.messages.rendezvous.astype(np.uint8),
                "transport_ps": self.messages.transport,
                "latency_ps": self.messages.parts["latency"],
                "serialization_ps": self.messages.parts["serialization"],
                "received_ps": self.messages.handling,
            },
            every,
            one_sided_waits(evidence, calls),
            queries(evidence),
            spin_ps(evidence, calls, self.messages.transport, self.messages.recv_call, whole=self.whole),
        )
        self.gap_ps: Int64 = self.native.gaps()
        """code before a call since the call before"""
        self.work_ps: Int64 = self.native.work()
        """what a call does itself"""
        self.polls: Flags = self.native.polls().astype(np.bool_)
        self.waits = self.native.waits()
        self.follows: Flags = np.zeros(self.count, dtype=np.bool_)
        """whether a call has one before it on its location"""
        self.follows[1:] = self.location[1:] == self.location[:-1]

    @property
    def count(self) -> int:
        """Calls."""
        return len(self.location)

    def calls_of(self, location: int) -> slice:
        """The rows of a location's calls, which stand together."""
        ends = np.array((location, location + 1), dtype=self.location.dtype)
        begin, end = np.searchsorted(self.location, ends).tolist()
        return slice(begin, end)

    def rows(self, numbers: pl.Series) -> pl.Series:
        """The rows of calls of these numbers; -1: not in the graph."""
        return pl.Series(_looked_up(self.row_of, numbers), dtype=pl.Int32)

    def flags(self, numbers: pl.Series) -> Flags:
        """By row: whether its call is one of these numbers."""
        found = np.zeros(self.count, dtype=np.bool_)
        rows = _looked_up(self.row_of, numbers)
        found[rows[rows >= 0]] = True
        return found

    def stated(self, certainty: str) -> str:
        """The reason of a confidence, with the part of the program that the graph holds, where that is not all."""
        if self.whole:
            return certainty
        return f"{certainty}; what the cure saves is replayed on the program's first {count_text(self.count, 'call')}"

    @property
    def length(self) -> Int64:
        """Of each call; ps."""
        return self.leave_ps - self.enter_ps

    @cached_property
    def following(self) -> Int32:
        """The next call of the same location; -1: none."""
        after = np.full(self.count, -1, dtype=np.int32)
        after[:-1] = np.where(self.follows[1:], np.arange(1, self.count), -1)
        return after

    @cached_property
    def callpath_before(self) -> Int32:
        """By call: the call path of the one before at its location; -1: none."""
        return np.where(self.follows, np.roll(self.callpath, 1), np.int32(-1))

    @cached_property
    def waited_last(self) -> Int32:
        """By call: the row of the wait that ends last; -1 where its own work lasts longer."""
        return self.native.binding()

    @cached_property
    def meets(self) -> Flags:
        """Calls that wait for other ranks, or take part in an operation with them."""
        return np.asarray(self.is_member | (self.waited_last >= 0), dtype=np.bool_)

    def waiting_for(self, *reasons: Reason) -> Int32:
        """The calls whose last wait is for one of these."""
        codes = [wait_reasons().index(reason) for reason in reasons]
        (found,) = np.nonzero(self.waited_last >= 0)
        of_reason = np.isin(self.waits["reason"][self.waited_last[found]], codes)
        return found[of_reason].astype(np.int32)

    def last_source(self, calls: npt.NDArray[np.integer]) -> Int32:
        """The calls for whose enter these wait last."""
        source: Int32 = self.waits["source"][self.waited_last[calls]]
        return source

    @cached_property
    def begin_ps(self) -> int:
        """Of the program."""
        first = ~self.follows
        return int((self.enter_ps[first] - self.gap_ps[first]).min()) if self.count else 0

    @cached_property
    def length_ps(self) -> int:
        """From the first call's gap to the last call's end."""
        return int(self.leave_ps.max(initial=0)) - self.begin_ps

    @cached_property
    def places(self) -> tuple[list[tuple[int, int]], npt.NDArray[np.int64]]:
        """Every (location, call path), and which of them each call is."""
        paths = int(self.callpath.max(initial=0)) + 1
        keys, of_call = np.unique(self.location.astype(np.int64) * paths + self.callpath, return_inverse=True)
        return list(zip((keys // paths).tolist(), (keys % paths).tolist(), strict=True)), of_call

    def by_place(self, times: Int64) -> npt.NDArray[np.float64]:
        """The sums of the calls' times, by place."""
        keys, of_call = self.places
        return np.bincount(of_call, weights=times.astype(np.float64), minlength=len(keys)).astype(np.float64)


def sums_by(keys: Int32, times: npt.NDArray[np.int64]) -> dict[int, int]:
    """Key to the sum of its times, in the order in which keys first occur."""
    rows = pl.DataFrame({"key": keys, "time": times}).group_by("key", maintain_order=True).agg(wide_sum("time"))
    return dict(rows.iter_rows())


def _calls(evidence: Evidence, until: int | None) -> pl.DataFrame:
    scope = evidence.locations.lazy().select("location", "begin_ps", "end_ps")
    waiting = pl.sum_horizontal(
        [pl.col(f"{category}_ps") for category in (*WAITING, "latency", "serialization", "residual")]
    )
    calls = evidence.tables["calls"]
    if until is not None:
        calls = calls.filter(pl.col("enter_ps") <= until)
    length = pl.col("leave_ps") - pl.col("enter_ps")
    found = (
        calls.select(
            "call",
            "location",
            "enter_ps",
            "leave_ps",
            "callpath",
            "middleware_ps",
            "late_receiver_ps",
            work_ps=(length - waiting).clip(lower_bound=0),
        )
        .join(scope, on="location", maintain_order="left")
        .filter(pl.col("enter_ps") >= pl.col("begin_ps"), pl.col("leave_ps") <= pl.col("end_ps"))
        .collect()
    )
    # As the table has them; a sort would take as long as reading it.
    in_order = bool((np.diff(found["location"]) >= 0).all()) and bool((np.diff(found["call"]) > 0).all())
    return found if in_order else found.sort("location", "call")


def lasts_longer(evidence: Evidence, graph: Graph) -> float:
    """How many times the graph's length the program lasts: a graph may hold a part of it only."""
    return evidence.slowest_program_ps / max(1, graph.length_ps)


def _until(evidence: Evidence, most: int) -> int | None:
    """The enter of the last call that is looked at; None: all are."""
    return None if _holds_all(evidence, most) else end_of_first(evidence.tables["calls"], most)


def _rows(calls: Int32) -> Int32:
    """Number of a call to its row; -1: not in the graph. The last element is -1, so that a call's -1 finds it."""
    row_of = np.full(int(calls.max(initial=-1)) + 2, -1, dtype=np.int32)
    row_of[calls] = np.arange(len(calls), dtype=np.int32)
    return row_of


def _looked_up(row_of: Int32, calls: pl.Series) -> Int32:
    numbers = calls.to_numpy()
    return row_of[np.where(numbers < len(row_of) - 1, numbers, -1)]


def _messages(evidence: Evidence, row_of: Int32, calls: pl.DataFrame, latency_ps: float) -> Messages:
    until = calls["leave_ps"].max() or 0
    rows = (
        evidence.tables["messages"]
        .filter(pl.col("send_enter_ps") <= until, pl.col("send_location") != pl.col("recv_location"))
        .select(
            "send_location",
            "recv_location",
            "send_call",
            "send_complete_call",
            "recv_post_call",
            "recv_call",
            "recv_post_ps",
            pl.col("bytes").cast(pl.Int64),
            *(f"{part}_ps" for part in TRANSPORT),
            undivided_ps=pl.sum_horizontal(pl.lit(0, dtype=pl.Int64), *(f"{part}_ps" for part in evidence.undivided)),
            rendezvous=pl.col("protocol").cast(pl.String) == "rendezvous",
        )
        .collect()
    )
    send, receive = (_looked_up(row_of, rows[name]) for name in ("send_call", "recv_call"))
    inside = (send >= 0) & (receive >= 0)
    rows, send, receive = rows.filter(pl.Series(inside)), send[inside], receive[inside]
    complete, post = (_looked_up(row_of, rows[name]) for name in ("send_complete_call", "recv_post_call"))
    ends = np.where(complete >= 0, complete, send)
    messages = Messages(
        sender=rows["send_location"].to_numpy(),
        receiver=rows["recv_location"].to_numpy(),
        rendezvous=rows["rendezvous"].to_numpy() | _held(rows["recv_post_ps"].to_numpy(), calls, ends),
        bytes=rows["bytes"].to_numpy(),
        send_call=send,
        complete_call=ends,
        post_call=np.where(post >= 0, post, receive),
        recv_call=receive,
        parts={part: np.ascontiguousarray(rows[f"{part}_ps"].to_numpy()) for part in TRANSPORT},
        undivided_ps=rows["undivided_ps"].to_numpy(),
    )
    return messages if evidence.divides("latency") else _bounded(messages, calls, latency_ps)


def _held(posted_ps: Int64, calls: pl.DataFrame, ends: Int32) -> Flags:
    """Whether the call that completes a send waits for its receive to be posted, as its account says, whatever the
    protocol is taken for."""
    enter, leave, late = (calls[name].to_numpy()[ends] for name in ("enter_ps", "leave_ps", "late_receiver_ps"))
    return np.asarray((late > 0) & (posted_ps > enter) & (posted_ps <= leave), dtype=np.bool_)


def _bounded(messages: Messages, calls: pl.DataFrame, latency_ps: float) -> Messages:
    """The same where the latency is only bounded: a rendezvous takes what it did from when both sides attended to it.
    Which part of that is the latency is not known; the request and the answer, which came before, take as much each."""
    enter, leave = (calls[name].to_numpy() for name in ("enter_ps", "leave_ps"))
    # Who begins and completes its end in one call is never away.
    back = np.maximum(enter[messages.complete_call], enter[messages.recv_call])
    most = leave[messages.recv_call] - back
    known = messages.rendezvous & (most > 0)
    parts = {name: np.where(known, 0, time) for name, time in messages.parts.items()}
    once = np.minimum(most, round(latency_ps))
    parts["latency"] = np.where(known, 3 * once, parts["latency"])
    parts["serialization"] = np.where(known, most - once, parts["serialization"])
    return replace(messages, parts=parts)


def _members(evidence: Evidence, row_of: Int32) -> dict[str, Column]:
    rows = (
        evidence.tables["collectives"]
        .filter(pl.col("instance") >= 0)
        .select("instance", "call", "complete_call", "location", "comm", "root", "operation")
        .collect()
    )
    calls, complete = (_looked_up(row_of, rows[name]) for name in ("call", "complete_call"))
    (inside,) = np.nonzero((calls >= 0) & (complete >= 0))
    instance = rows["instance"].to_numpy()
    inside = inside[np.lexsort([calls[inside], instance[inside]])]
    return {
        "instance": instance[inside],
        "call": calls[inside],
        "complete": complete[inside],
        "operation": rows["operation"].cast(pl.Enum(OPERATIONS)).to_physical().to_numpy()[inside],
        "root": _is_root(evidence, rows)[inside],
    }


def _is_root(evidence: Evidence, rows: pl.DataFrame) -> UInt8:
    """Of each member, 1 where it is its operation's root: the table has that as a rank of the communicator."""
    ranks = (
        evidence.tables["communicators"]
        .select("comm", location="members", root=pl.int_ranges(pl.col("members").list.len(), dtype=pl.Int32))
        .explode("location", "root")
        .with_columns(is_root=pl.lit(1, dtype=pl.UInt8))
        .collect()
    )
    joined = rows.select("comm", "location", "root").join(
        ranks, on=["comm", "location", "root"], how="left", maintain_order="left"
    )
    return joined["is_root"].fill_null(0).to_numpy()
