"""A run's program as cures change it: its calls, messages and operations by number, and the replay of transformations.

The graph is the what-if replay's, calibrated so that it gives back every measured time; a cure transforms its edges.
Calls have the numbers of the table `calls`. Times in ps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.program import region_kinds
from logpost.analyzer.run.replayable import Replayable
from logpost.replay._native import Cures, call_kinds
from logpost.replay.columns import Int32, Int64, UInt8
from logpost.replay.graph.engine import native_scenario

Flags = npt.NDArray[np.bool_]
KINDS = {name: code for code, name in reversed(list(enumerate(call_kinds())))}
AS_RECORDED = -1


@dataclass(frozen=True)
class Transformation:
    """What differs from the run; None: nothing. Columns by call or by message (`Transformation` of the native core)."""

    longer_ps: Int64 | None = None
    """by call: by how much more the code before it takes"""
    lasts_ps: Int64 | None = None
    """by call: what it takes, whatever arrives; -1: as recorded"""
    sent: UInt8 | None = None
    """by message: 1: it is part of another one, or no longer sent; 2: without a handshake"""
    send_as: Int32 | None = None
    """by message: the message of its sender in whose calls it is sent; -1: its own"""
    receive_as: Int32 | None = None
    """likewise of its receiver"""
    sent_from: Int32 | None = None
    """by message: the call at whose enter its sender starts it; -1: as recorded"""
    posted_by: Int32 | None = None
    """by message: the call at whose enter its receive is posted, and its request answered; -1: as recorded"""
    received_by: Int32 | None = None
    """by message: the call that waits for it; -1: as recorded"""
    more_latency_ps: Int64 | None = None
    more_service_ps: Int64 | None = None
    """by message: of its sender's and its receiver's NIC"""
    more_received_ps: Int64 | None = None
    """by message: from its first byte on"""
    edges: tuple[tuple[Int64, Int64, Int64], ...] = ()
    """(from, to, weight) between ends of calls: twice a call is its enter, one more its leave; negative: -1 - k is the
    k-th further node"""
    further_nodes: int = 0

    def columns(self, calls: int) -> dict[str, Any]:
        """As the core takes them."""
        kinds: dict[str, Any] = {"longer_ps": np.int64, "lasts_ps": np.int64, "sent": np.uint8}
        kinds |= dict.fromkeys(("send_as", "receive_as", "sent_from", "posted_by", "received_by"), np.int32)
        kinds |= dict.fromkeys(("more_latency_ps", "more_service_ps", "more_received_ps"), np.int64)
        found: dict[str, Any] = {
            name: np.ascontiguousarray(column, dtype=kind)
            for name, kind in kinds.items()
            if (column := getattr(self, name)) is not None
        }
        if self.edges:
            ends = [np.concatenate([np.atleast_1d(edge[i]) for edge in self.edges]) for i in range(3)]
            for name, column in zip(("from", "to"), ends, strict=False):
                found[name] = np.where(column < 0, 2 * calls - 1 - column, column).astype(np.uint32)
            found["weight_ps"] = ends[2].astype(np.int64)
            found["further_nodes"] = self.further_nodes
        return found

    def then(self, other: Transformation) -> Transformation:
        """Both: times add up, and where both change one thing, `other` decides."""

        def added(name: str) -> Any:
            mine, its = getattr(self, name), getattr(other, name)
            return its if mine is None else mine if its is None else mine + its

        def decided(name: str, otherwise: int) -> Any:
            mine, its = getattr(self, name), getattr(other, name)
            return its if mine is None else mine if its is None else np.where(its == otherwise, mine, its)

        moved = tuple(
            tuple(np.where(end < 0, end - self.further_nodes, end) for end in edge[:2]) + (edge[2],)
            for edge in other.edges
        )
        return Transformation(
            **{name: added(name) for name in ("longer_ps", "more_latency_ps", "more_service_ps", "more_received_ps")},
            **{
                name: decided(name, AS_RECORDED)
                for name in ("lasts_ps", "send_as", "receive_as", "sent_from", "posted_by", "received_by")
            },
            sent=decided("sent", 0),
            edges=self.edges + moved,  # type: ignore[operator]
            further_nodes=self.further_nodes + other.further_nodes,
        )


@dataclass(frozen=True)
class Times:
    """The program under a transformation."""

    program_ps: int
    """the longest program of a rank"""
    enter_ps: Int64
    leave_ps: Int64


class Program:
    """The calls, messages and operations of a run, and their replay."""

    def __init__(self, run: Run) -> None:
        """Reads the run.

        Raises:
            InputError: its recorded messages wait for each other in a circle, or its tables contradict each other.
        """
        self.run = run
        replayable = Replayable(run)
        machine = native_scenario(replayable.recorded)
        self.machine = replayable.recorded.machine
        self.native = Cures(replayable.program, machine, machine)
        calls = run.table("calls").collect()
        self.calls = calls
        self.location: Int32 = calls["location"].to_numpy()
        self.callpath: Int32 = calls["callpath"].to_numpy()
        self.enter_ps: Int64 = calls["enter_ps"].to_numpy()
        self.leave_ps: Int64 = calls["leave_ps"].to_numpy()
        regions = run.facts("regions").sort("region").select("kind", "name").collect()
        self.kind: Int32 = np.asarray(region_kinds(regions), dtype=np.int32)[calls["region"].to_numpy()]
        self.messages = self.native.messages()
        self.sender: Int32 = self.location[self.messages["send_call"]]
        self.receiver: Int32 = self.location[self.messages["post_call"]]
        self.bytes: Int64 = self.messages["bytes"]
        self.locations = run.table("locations").filter("accounted").sort("location").collect()
        self.collectives = run.table("collectives").collect()

    @property
    def count(self) -> int:
        """Calls."""
        return len(self.location)

    @property
    def message_count(self) -> int:
        return len(self.bytes)

    def is_kind(self, *names: str) -> Flags:
        """Calls of these kinds."""
        return np.isin(self.kind, [KINDS[name] for name in names])

    @cached_property
    def follows(self) -> Flags:
        """Calls with one before them on their location."""
        found = np.zeros(self.count, dtype=np.bool_)
        found[1:] = self.location[1:] == self.location[:-1]
        return found

    @cached_property
    def inside(self) -> Flags:
        """Calls in the program: behind start-up, before shut-down."""
        begin, end = (
            np.asarray(self.locations[name].to_numpy())[self._row_of[self.location]] for name in ("begin_ps", "end_ps")
        )
        return (self._row_of[self.location] >= 0) & (self.enter_ps >= begin) & (self.leave_ps <= end)

    @cached_property
    def _row_of(self) -> Int64:
        most = int(max(self.location.max(initial=0), self.locations["location"].max() or 0)) + 1
        rows = np.full(most, -1, dtype=np.int64)
        rows[self.locations["location"].to_numpy()] = np.arange(self.locations.height)
        return rows

    @cached_property
    def gap_ps(self) -> Int64:
        """Code before each call since the call before it, or since the program's begin."""
        begin = np.asarray(self.locations["begin_ps"].to_numpy())[self._row_of[self.location]]
        before = np.where(self.follows, np.roll(self.leave_ps, 1), begin)
        return np.where(self.inside, np.maximum(0, self.enter_ps - np.maximum(before, begin)), 0)

    @cached_property
    def base(self) -> Times:
        """As recorded."""
        found = self.replay(Transformation())
        assert found is not None
        return found

    def replay(self, change: Transformation) -> Times | None:
        """The program under a transformation; None: it contradicts itself."""
        found = self.native.replay(change.columns(self.count))
        return None if found is None else Times(*found)

    def gain(self, change: Transformation) -> float:
        """What a transformation saves: fraction of the longest program."""
        found = self.replay(change)
        return 0.0 if found is None else 1.0 - found.program_ps / max(1, self.base.program_ps)
