"""A run's program as cures change it: its calls, messages and operations by number, and the replay of transformations.

The graph is the what-if replay's, calibrated so that it gives back every measured time; a cure transforms its edges.
Calls have the numbers of the table `calls`. Times in ps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.findings.finding import MIN_SHARE
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.program import region_kinds
from logpost.analyzer.run.replayable import Replayable
from logpost.analyzer.run.sample import Sample
from logpost.analyzer.run.schema import CATEGORIES
from logpost.analyzer.run.wide import exact_sum, wide_sum
from logpost.analyzer.words.categories import WAITING
from logpost.analyzer.words.units import count_text
from logpost.errors import InputError
from logpost.machines import ReplayParameters
from logpost.machines.parameters import COLUMNS
from logpost.replay._native import Cures, CycleError, call_kinds
from logpost.replay.columns import Int32, Int64, UInt8
from logpost.replay.cost.arrays import NumberLike
from logpost.replay.cost.message import MessageCosts, message_costs
from logpost.replay.cost.parameters import native_parameters
from logpost.replay.graph.engine import native_scenario

Flags = npt.NDArray[np.bool_]
Rows: TypeAlias = Int32 | Int64
"""Of calls or messages."""
KINDS = {name: code for code, name in reversed(list(enumerate(call_kinds())))}
AS_RECORDED = -1
LOW, HIGH = 0, 1
NEVER, EAGER = 1, 2
"""How a message is sent (`Transformation.sent`)."""


@dataclass(frozen=True, eq=False)
class Transformation:
    """What differs from the run; None: nothing. Columns by call or by message (`Transformation` of the native core)."""

    longer_ps: Int64 | None = None
    """by call: how much longer the code before it is"""
    lasts_ps: Int64 | None = None
    """by call: its duration, whatever arrives; -1: as recorded"""
    shorter_parts_ps: Int64 | None = None
    """by call: by how much parts of that code are shorter; those of two transformations are different parts"""
    permitted: UInt8 | None = None
    """by call: 1: the accesses of an epoch that it begins are permitted at once"""
    longer_at_end_ps: Int64 | None = None
    """by location: how much longer parts of the code behind its last call are, likewise"""
    sent: UInt8 | None = None
    """by message: 1: it is part of another one, or no longer sent; 2: without a handshake"""
    send_as: Rows | None = None
    """by message: the message of its sender in whose calls it is sent; -1: its own"""
    receive_as: Rows | None = None
    """likewise of its receiver"""
    sent_from: Rows | None = None
    """by message: the call at whose enter its sender starts it; -1: as recorded"""
    posted_by: Rows | None = None
    """by message: the call at whose enter its receive is posted, and its request answered; -1: as recorded"""
    received_by: Rows | None = None
    """by message: the call that waits for it; -1: as recorded"""
    as_modelled: UInt8 | None = None
    """by message: 1: its steps take what the machine says, at most"""
    shorter_send_ps: Int64 | None = None
    """by message: by which its sender handles it sooner"""
    shorter_receive_ps: Int64 | None = None
    """likewise its receiver"""
    more_latency_ps: Int64 | None = None
    more_service_ps: Int64 | None = None
    """by message: of its sender's and its receiver's NIC"""
    more_received_ps: Int64 | None = None
    """by message: from its first byte on"""
    more_handled_ps: Int64 | None = None
    """by message: of its receiver's processor"""
    arrives_through: Rows | None = None
    """by message: a further server, by number, instead of its receiver's; -2 - k: that of message k; -1: as recorded"""
    edges: tuple[tuple[Int64, Int64, Int64], ...] = ()
    """(from, to, weight) between ends of calls: twice a call is its enter, one more its leave; negative: -1 - k is the
    k-th further node"""
    further_nodes: int = 0
    nics_per_node: int = 0
    """0: as recorded"""

    def then(self, other: Transformation) -> Transformation:
        """Both: where this one changes nothing, what the other one does."""
        found: dict[str, Any] = {}
        for name, (_, unchanged) in COLUMNS_OF_CHANGE.items():
            mine, its = getattr(self, name), getattr(other, name)
            both = mine is not None and its is not None
            joined = (mine + its if name in PARTS else np.where(mine == unchanged, its, mine)) if both else None
            found[name] = joined if both else its if mine is None else mine
        further = self.further_nodes
        shifted = ((_further(a, further), _further(b, further), weight) for a, b, weight in other.edges)
        return Transformation(
            **found,
            edges=(*self.edges, *shifted),
            further_nodes=further + other.further_nodes,
            nics_per_node=self.nics_per_node or other.nics_per_node,
        )

    @property
    def code_ps(self) -> Int64 | None:
        """By call: how much longer the code before it is, by all: where both the code and parts of it are shorter, the
        shorter one."""
        longer, parts = self.longer_ps, self.shorter_parts_ps
        if longer is None or parts is None:
            return longer if parts is None else -parts
        return np.where(longer > 0, longer - parts, np.minimum(longer, -parts))

    @property
    def moves_code(self) -> bool:
        """Whether code is added anywhere: work that is before other calls, or on other ranks, as recorded."""
        return self.longer_ps is not None and bool((self.longer_ps > 0).any())

    def columns(self, calls: int) -> dict[str, Any]:
        """As the core takes them."""
        of = replace(self, longer_ps=self.code_ps, shorter_parts_ps=None)
        found: dict[str, Any] = {
            name: np.ascontiguousarray(column, dtype=kind)
            for name, (kind, _) in COLUMNS_OF_CHANGE.items()
            if (column := getattr(of, name)) is not None
        }
        if self.edges:
            ends = [np.concatenate([np.atleast_1d(edge[i]) for edge in self.edges]) for i in range(3)]
            for name, column in zip(("from", "to"), ends, strict=False):
                found[name] = np.where(column < 0, 2 * calls - 1 - column, column).astype(np.uint32)
            found["weight_ps"] = ends[2].astype(np.int64)
            found["further_nodes"] = self.further_nodes
        return found


COLUMNS_OF_CHANGE: Mapping[str, tuple[type[np.generic], int]] = {
    "lasts_ps": (np.int64, AS_RECORDED),
    "sent": (np.uint8, 0),
    **dict.fromkeys(("permitted", "as_modelled"), (np.uint8, 0)),
    **dict.fromkeys(
        ("send_as", "receive_as", "sent_from", "posted_by", "received_by", "arrives_through"),
        (np.int32, AS_RECORDED),
    ),
    **dict.fromkeys(("longer_ps", "shorter_parts_ps", "longer_at_end_ps"), (np.int64, 0)),
    **dict.fromkeys(("shorter_send_ps", "shorter_receive_ps"), (np.int64, 0)),
    **dict.fromkeys(("more_latency_ps", "more_service_ps", "more_received_ps", "more_handled_ps"), (np.int64, 0)),
}
"""Column of a transformation to its type in the core, and its value where nothing differs."""
PARTS = ("shorter_parts_ps", "longer_at_end_ps")
"""Columns whose values add up."""


def _further(ends: Int64, by: int) -> Int64:
    return np.where(ends < 0, ends - by, ends)


@dataclass(frozen=True)
class Messages:
    """Columns by message: calls (-1: none), bytes, and how it is sent."""

    send_call: Int32
    sent_call: Int32
    """that completes it at its sender"""
    post_call: Int32
    received_call: Int32
    """that completes it at its receiver"""
    bytes: Int64
    handshake: UInt8
    sender_waits: UInt8
    """1: its sender waits until it has left, or is received"""

    @property
    def count(self) -> int:
        """Messages."""
        return len(self.bytes)


@dataclass(frozen=True)
class Times:
    """The program under a transformation."""

    program_ps: int
    """the longest program of a rank"""
    enter_ps: Int64
    leave_ps: Int64
    path_call: Int32 | None = None
    """the critical path of that program, stretch by stretch: the call where it ends; None: not requested"""
    path_what: UInt8 | None = None
    """0: code, 1: a call's own work, 2: a wait for another call"""
    path_begin_ps: Int64 | None = None
    path_end_ps: Int64 | None = None


class Program:
    """The calls, messages and operations of a run, and their replay; messages by receiver and receive."""

    def __init__(
        self,
        run: Run,
        *,
        as_measured: bool = False,
        bounded: bool = False,
    ) -> None:
        """Reads the run.

        Arguments:
            run: whose program it is.
            as_measured: no value of the machine is known: the duration of messages is measured slack.
            bounded: of the machine's values, only bounds are known.

        Raises:
            InputError: its tables contradict each other.
        """
        self._replayable = Replayable(run)
        self.windows_end_ps: Int64 = run.lasts_until_ps if isinstance(run, Sample) else np.empty(0, dtype=np.int64)
        """of a sample of the program"""
        self.as_measured = as_measured
        self.bounded = bounded
        self._knows_transfers = not run.manifest.machine.contradicts_transfers
        machine = self._replayable.recorded.machine
        self.measures_transfers = machine.beyond_loggp.put is not None or machine.beyond_loggp.get is not None
        """whether the machine states what one-sided transfers within a node cost"""
        self.most = _at_end(machine, HIGH) if bounded else None
        if as_measured:
            machine = _without_values(machine)
        self._record_on(machine)
        self._call_recording_ps = run.manifest.call_recording_ps
        calls = run.facts("calls").select("location", "callpath", "region", "enter_ps", "leave_ps").collect()
        self.location: Int32 = calls["location"].to_numpy()
        self.callpath: Int32 = calls["callpath"].to_numpy()
        self.enter_ps: Int64 = calls["enter_ps"].to_numpy()
        self.leave_ps: Int64 = calls["leave_ps"].to_numpy()
        self.own_ps: Int64 = self.leave_ps - self.enter_ps - self.spent_ps(*WAITING)
        """what each call does itself"""
        regions = run.facts("regions").sort("region").select("kind", "name").collect()
        self.kind: Int32 = np.asarray(region_kinds(regions), dtype=np.int32)[calls["region"].to_numpy()]
        self.locations = run.table("locations").filter("accounted").sort("location").collect()
        operations = run.facts("collectives").filter(pl.col("instance") >= 0)
        self.operations = operations.select(
            "instance",
            "call",
            "complete_call",
            "location",
            "callpath",
            "comm",
            "root",
            pl.col("operation").cast(pl.String),
        ).collect()
        """a member of a collective operation each"""
        self.is_operation: Flags = np.zeros(self.count, dtype=np.bool_)
        self.is_operation[self.operations["call"].to_numpy()] = True
        self.ends_operation: Flags = np.zeros(self.count, dtype=np.bool_)
        """calls that complete a nonblocking operation"""
        completed = self.operations.filter((pl.col("complete_call") != pl.col("call")) & (pl.col("complete_call") >= 0))
        self.ends_operation[completed["complete_call"].to_numpy()] = True

    def _record_on(self, machine: ReplayParameters) -> None:
        """Has the program run on a machine."""
        self.recorded = replace(self._replayable.recorded, machine=machine)
        self.machine = native_scenario(self.recorded)
        self._on_other_nics: dict[int, Cures] = {}
        self._times: WeakKeyDictionary[Transformation, Times | None] = WeakKeyDictionary()

    def build(self) -> Program:
        """The same, with its graph and the messages in it, without which nothing is replayed.

        Raises:
            InputError: its recorded messages wait for each other in a circle.
        """
        self.native = self._graph(self.machine)
        self.messages = Messages(**self.native.messages())
        return self

    def facts(self, name: str) -> pl.LazyFrame:
        """A table, in which calls have the program's numbers: the run's own are others where it is a sample."""
        return self._replayable.run.facts(name)

    @cached_property
    def samples(self) -> pl.DataFrame:
        """Of code between calls, at the program's times."""
        return self.facts("samples").collect()

    @cached_property
    def file_calls(self) -> pl.DataFrame:
        """The calls that reach files, likewise."""
        return self.facts("file_calls").collect()

    def _on_nics(self, per_node: int) -> Cures:
        """The graph with so many NICs a node."""
        if per_node not in self._on_other_nics:
            other = replace(self.recorded, machine=replace(self.recorded.machine, nics_per_node=per_node))
            self._on_other_nics[per_node] = self._graph(native_scenario(other))
        return self._on_other_nics[per_node]

    def _graph(self, planned: Any) -> Cures:
        """Calibrated on the machine that it ran on."""
        try:
            return Cures(self._replayable.program, self.machine, planned)
        except CycleError as error:
            raise InputError(
                f"the trace contradicts itself: {error}; correct its clocks, or record it again"
            ) from error

    @property
    def knows_bytes(self) -> bool:
        """Whether the machine states what of a message's duration its bytes cost, beyond bounds of it."""
        return not (self.as_measured or self.bounded)

    @property
    def knows_bytes_of_transfers(self) -> bool:
        """The same of one-sided transfers."""
        return self.knows_bytes and self._knows_transfers

    @property
    def count(self) -> int:
        """Calls."""
        return len(self.location)

    @property
    def location_count(self) -> int:
        """Locations, the accounted ones and others."""
        return int(self._replayable.locations)

    @cached_property
    def partners(self) -> dict[int, set[int]]:
        """Location to those that it has one-sided transfers with, from either side."""
        transfers = self._replayable.run.facts("transfers").filter(pl.col("target") >= 0)
        found: dict[int, set[int]] = {}
        for origin, target in transfers.select("location", "target").unique().sort(pl.all()).collect().iter_rows():
            found.setdefault(origin, set()).add(target)
            found.setdefault(target, set()).add(origin)
        return found

    @cached_property
    def shortest_ps(self) -> Int64 | None:
        """By call of a collective operation in which it is not known for which ranks one waits: the shortest at its
        call path, beyond which all of it may be waiting; -1: of another call. None: there are no such calls.

        The trace does not state the members of operations of neighbours (OTF2 has no record of them); and what keeps a
        rank that only gives data, only a machine can say.
        """
        unknown = self.is_kind("collective") & ~self.is_operation
        if self.as_measured:
            unknown[self._givers] = True
        cut = (
            self.spent_ps(*(category for category in CATEGORIES if category != "compute")) == 0
        )  # by a sample's window
        (calls,) = np.nonzero(unknown & self.inside & ~cut)
        if not len(calls):
            return None
        lasts = np.full(self.count, AS_RECORDED, dtype=np.int64)
        paths, of = np.unique(self.callpath[calls], return_inverse=True)
        least = np.full(len(paths), np.iinfo(np.int64).max)
        np.minimum.at(least, of, (self.leave_ps - self.enter_ps)[calls])
        lasts[calls] = least[of]
        return lasts

    @property
    def _givers(self) -> Int32:
        """Calls of members of rooted operations that give data and get none."""
        members = self._replayable.run.facts("communicators").select("comm", root_location="members")
        rooted = self.operations.filter(pl.col("root") >= 0).join(members.collect(), on="comm", how="left")
        is_root = pl.col("root_location").list.get(pl.col("root"), null_on_oob=True) == pl.col("location")
        gives_root = pl.col("operation").is_in(["Bcast", "Scatter", "Scatterv"])
        return rooted.filter(gives_root == is_root)["call"].to_numpy()

    def is_kind(self, *names: str) -> Flags:
        """Calls of these kinds."""
        return np.isin(self.kind, [KINDS[name] for name in names])

    @cached_property
    def polls(self) -> Flags:
        """Queries for messages (Test, Iprobe) right behind another one, with less code in between than an empty message
        takes: no rank works so finely; where the same call path has been in the row before. Those behind it and the
        code up to it are waiting."""
        queries = self.is_kind("test", "probe")
        in_a_row = np.roll(queries, 1) & queries & self.follows & (self._since_ps <= self.empty_message_ps)
        if not in_a_row.any():
            return in_a_row
        again = np.ones(self.count, dtype=np.bool_)
        again[np.unique(np.cumsum(~in_a_row) * self.paths + self.callpath, return_index=True)[1]] = False
        return in_a_row & again

    @cached_property
    def _since_ps(self) -> Int64:
        """Code before each call since the call before it."""
        return np.where(self.follows, self.enter_ps - np.roll(self.leave_ps, 1), 0)

    @cached_property
    def moves_data(self) -> Flags:
        """Calls that are no mere queries of the clock or the environment."""
        return ~self.is_kind("user", "other", "not_recorded")

    @cached_property
    def sender(self) -> Int32:
        """Location, by message."""
        return self.location[self.messages.send_call]

    @cached_property
    def receiver(self) -> Int32:
        """Location, by message."""
        return self.location[self.messages.post_call]

    @cached_property
    def follows(self) -> Flags:
        """Calls with one before them on their location."""
        found = np.zeros(self.count, dtype=np.bool_)
        found[1:] = self.location[1:] == self.location[:-1]
        return found

    @cached_property
    def inside(self) -> Flags:
        """Calls in the program: behind start-up, before shut-down."""
        row = self._row_of[self.location]
        begin, end = (self.locations[name].to_numpy()[row] for name in ("begin_ps", "end_ps"))
        return np.asarray((row >= 0) & (self.enter_ps >= begin) & (self.leave_ps <= end))

    @cached_property
    def _row_of(self) -> Int64:
        """Row of the accounted locations, by location; -1: it is none."""
        known = self.locations["location"].to_numpy()
        rows = np.full(max(self.location.max(initial=0), known.max(initial=0)) + 1, -1, dtype=np.int64)
        rows[known] = np.arange(len(known))
        return rows

    @cached_property
    def gap_ps(self) -> Int64:
        """Code before each call since the call before it, or since the program's begin; 0 outside of the program."""
        begin = self.locations["begin_ps"].to_numpy()[self._row_of[self.location]]
        before = np.where(self.follows, np.roll(self.leave_ps, 1), begin)
        code = self.inside & ~self.polls
        return np.where(code, np.maximum(0, self.enter_ps - np.maximum(before, begin)), 0)

    @cached_property
    def recording_ps(self) -> Int64:
        """What recording each call adds to the code before it, at least: it is gone where the call is."""
        return np.minimum(self.gap_ps, self._call_recording_ps)

    @cached_property
    def stretch(self) -> Int32:
        """By call: the call path that ends the stretch of code before it, which queries of the clock or the
        environment do not end; -1: none does."""
        ends = np.where(self.moves_data, np.arange(self.count), self.count)
        following = np.minimum.accumulate(ends[::-1])[::-1]
        at = np.minimum(following, max(0, self.count - 1))
        found = (following < self.count) & (self.location[at] == self.location)
        return np.where(found, self.callpath[at], np.int32(-1))

    @cached_property
    def stretch_behind(self) -> Int32:
        """By call: the call path behind which the stretch of code after it begins; -1: none is."""
        begins = np.maximum.accumulate(np.where(self.moves_data, np.arange(self.count), -1))
        found = (begins >= 0) & (self.location[begins] == self.location)
        return np.where(found, self.callpath[begins], np.int32(-1))

    @cached_property
    def sites(self) -> dict[int, tuple[int, int]]:
        """Call path to the one that calls it (-1: none does), and its region."""
        rows = self.facts("callpaths").select("callpath", "parent", "region").collect().iter_rows()
        return {callpath: (parent, region) for callpath, parent, region in rows}

    @cached_property
    def calls_of(self) -> dict[int, Int64]:
        """The calls in the program, by accounted location."""
        calls = np.flatnonzero(self.inside)
        locations = self.locations["location"].to_numpy()
        begins, ends = (np.searchsorted(self.location[calls], locations, side) for side in ("left", "right"))
        return {
            location: calls[begin:end]
            for location, begin, end in zip(locations.tolist(), begins.tolist(), ends.tolist(), strict=True)
        }

    @cached_property
    def code_ps(self) -> dict[int, int]:
        """Accounted location to its code in the program."""
        return {location: int(self.gap_ps[calls].sum()) for location, calls in self.calls_of.items()}

    @property
    def mean_code_ps(self) -> float:
        """Of these."""
        return sum(self.code_ps.values()) / max(1, len(self.code_ps))

    @cached_property
    def sent_in(self) -> dict[int, list[int]]:
        """Call to the messages that it starts."""
        return _by_call(self.messages.send_call)

    @cached_property
    def received_in(self) -> dict[int, list[int]]:
        """Call to the messages that it completes at their receiver."""
        return _by_call(self.messages.received_call)

    @cached_property
    def place_of(self) -> Int64:
        """By call: a number of its location and call path."""
        return self.location.astype(np.int64) * self.paths + self.callpath

    @cached_property
    def paths(self) -> int:
        """Beyond the largest call path."""
        return int(self.callpath.max(initial=0)) + 1

    def measured(self, *parts: str) -> Int64:
        """By message: the sum of these parts of it, as they were split; ps."""
        return self._mean(pl.sum_horizontal(f"{part}_ps" for part in parts))

    @cached_property
    def packing_ps(self) -> Int64:
        """By message: what each byte of its layout costs, however many messages carry them: the middleware latency,
        and, of strided data, what no value explains."""
        residual = pl.when(pl.col("layout") >= 0).then("residual_ps").otherwise(0)
        return self._mean(pl.col("middleware_ps") + residual)

    def _mean(self, times: pl.Expr) -> Int64:
        """By message: the mean of those between the same two calls."""
        calls = ("send_call", "recv_call")
        rows = self._replayable.run.facts("messages").group_by(*calls).agg(times.mean().alias("time")).collect()
        own = pl.DataFrame(dict(zip(calls, (self.messages.send_call, self.messages.received_call), strict=True)))
        found = own.with_columns(pl.all().cast(rows["send_call"].dtype)).join(
            rows, on=calls, how="left", maintain_order="left"
        )
        return np.asarray(np.rint(found["time"].fill_null(0.0).to_numpy()), dtype=np.int64)

    @cached_property
    def crosses(self) -> Flags:
        """Messages between nodes."""
        return np.asarray(self.node_of[self.sender] != self.node_of[self.receiver])

    @cached_property
    def node_of(self) -> Int32:
        """By location; -1: it is not accounted."""
        found = np.full(len(self._row_of), -1, dtype=np.int32)
        found[self.locations["location"].to_numpy()] = self.locations["node"].to_numpy()
        return found

    def spent_ps(self, *categories: str) -> Int64:
        """By call: its exposed time in these categories."""
        times = pl.sum_horizontal(f"{category}_ps" for category in categories)
        return self.facts("calls").select(times.alias("waits")).collect()["waits"].to_numpy()

    def costs(self, size: NumberLike) -> MessageCosts:
        """What the machine says of messages of so many bytes between nodes, or between ranks of the one node; where it
        is only bounded, at most."""
        machine = self.machine if self.most is None else native_parameters(self.most)
        return message_costs(machine, size, locality=self._locality)

    @cached_property
    def _locality(self) -> str:
        return "other_node" if self.locations["node"].n_unique() > 1 else "same_node"

    @cached_property
    def empty_message_ps(self) -> float:
        """The duration of a message without data on an idle machine: less code than that between two calls is no work
        that would have to be done in between. Where the machine is not known, or only bounded: of the shortest
        message."""
        if not self.knows_bytes and self.messages.count:
            lasts = self.leave_ps[self.messages.received_call] - self.enter_ps[self.messages.send_call]
            return float(lasts[lasts > 0].min(initial=np.iinfo(np.int64).max))
        return float(np.nan_to_num(self.costs(0.0).total))

    @cached_property
    def base(self) -> Times:
        """As recorded."""
        found = self.replay(Transformation())
        assert found is not None
        return found

    @property
    def repeats(self) -> bool:
        """Whether a replay of the unchanged program lasts no longer than recorded, up to what can be stated."""
        return self.base.program_ps - self.length_ps < MIN_SHARE * self.length_ps

    def as_recorded(self) -> Program:
        """The same program with measured times alone.

        Raises:
            InputError: its recorded messages wait for each other in a circle.
        """
        return Program(self._replayable.run, as_measured=True).build()

    def replay(self, change: Transformation, *, with_path: bool = False) -> Times | None:
        """The program under a transformation; None: events would have to be before themselves. Replayed once."""
        if not with_path and change in self._times:
            return self._times[change]
        native = self._on_nics(change.nics_per_node) if change.nics_per_node else self.native
        found = native.replay(self._seen_through(change).columns(self.count), with_path)
        self._times[change] = None if found is None else Times(**found)
        return self._times[change]

    @property
    def whole(self) -> bool:
        """It is all of the program."""
        return not len(self.windows_end_ps)

    def times_longer(self, program_ps: int) -> float:
        """How many times the ranks' programs, of so much in all, are longer than what of them this is."""
        part = exact_sum((self.locations["end_ps"] - self.locations["begin_ps"]).to_numpy())
        return 1.0 if self.whole else program_ps / max(1, part)

    @property
    def part_text(self) -> str:
        """`the program's first 200,000 calls`, `200,000 calls in 10 windows of the program`; empty: it is whole."""
        if self.whole:
            return ""
        count, windows = self.count, len(self.windows_end_ps)
        calls = count_text(count, "call")
        return f"the program's first {calls}" if windows == 1 else f"{calls} in {windows} windows of the program"

    def stated(self, certainty: str) -> str:
        """The reason of a confidence, with the part of the program that this is, where that is not all."""
        return certainty if self.whole else f"{certainty}; what is stated is replayed on {self.part_text}"

    def _seen_through(self, change: Transformation) -> Transformation:
        """The same where queries that poll for a message are one that waits for it."""
        if not self.polls.any():
            return change
        longer = np.zeros(self.count, dtype=np.int64) if change.longer_ps is None else change.longer_ps
        lasts = np.full(self.count, AS_RECORDED, dtype=np.int64) if change.lasts_ps is None else change.lasts_ps
        before = np.roll(self.polls, -1)  # one behind it polls on
        before[-1] = False
        return replace(
            change,
            longer_ps=np.where(self.polls, -self._since_ps, longer),
            lasts_ps=np.where(before & (lasts < 0), 0, lasts),
        )

    @cached_property
    def length_ps(self) -> int:
        """Of the longest program, or of what of it is in the region of interest."""
        spans = self.locations["end_ps"] - self.locations["begin_ps"]
        return max(1, min(self.base.program_ps, int(spans.to_numpy().max(initial=1))))

    def gain(self, change: Transformation) -> float:
        """What a transformation saves: fraction of the longest program; 0 where it is impossible."""
        found = self.replay(change)
        return 0.0 if found is None else (self.base.program_ps - found.program_ps) / self.length_ps

    @property
    def contradicts_times(self) -> bool:
        """Calls last longer in the replay than they did."""
        replayed, measured = self.base.leave_ps - self.base.enter_ps, self.leave_ps - self.enter_ps
        return exact_sum(replayed[self.inside]) > exact_sum(measured[self.inside])

    def saved_at(self, change: Transformation) -> dict[tuple[int, int], float]:
        """(location, call path) to the time in calls there that a transformation saves; ps."""
        found = self.replay(change)
        if found is None:
            return {}
        less = pl.DataFrame(
            {
                "location": self.location,
                "callpath": self.callpath,
                "saved": (self.base.leave_ps - self.base.enter_ps) - (found.leave_ps - found.enter_ps),
                "lasted": self.leave_ps - self.enter_ps,
            }
        ).filter(self.inside)
        sums = less.group_by("location", "callpath").agg(wide_sum("saved"), wide_sum("lasted"))
        # Calls save no more than they lasted: on a machine that is too slow, the replay may exceed the recorded times.
        sums = sums.select("location", "callpath", pl.min_horizontal("saved", "lasted")).filter(pl.col("saved") > 0)
        # Sums of fractions of these times depend on their order.
        rows = sums.sort("location", "callpath").iter_rows()
        return {(location, callpath): float(time) for location, callpath, time in rows}

    def at_ends(self) -> Iterator[Program]:
        """The same program, had the machine every value at its low, or at its high end; none where all are exact."""
        return (one for one in (self.at_low_end, self._at(HIGH)) if one is not None)

    @cached_property
    def at_low_end(self) -> Program | None:
        """At the low one; None: its machine is there."""
        return self._at(LOW)

    def _at(self, side: int) -> Program | None:
        machine = _at_end(self.recorded.machine, side)
        if machine is None or self.as_measured:
            return None
        found = copy(self)
        for name in vars(self):
            if isinstance(getattr(Program, name, None), cached_property):
                delattr(found, name)
        found._record_on(machine)
        return found.build()


def _by_call(calls: Int32) -> dict[int, list[int]]:
    messages = np.argsort(calls, kind="stable")
    each, begins = np.unique(calls[messages], return_index=True)
    ends = np.append(begins, len(calls))[1:]
    rows = zip(each.tolist(), begins.tolist(), ends.tolist(), strict=True)
    in_order = messages.tolist()
    return {call: in_order[begin:end] for call, begin, end in rows if call >= 0}


def _without_values(machine: ReplayParameters) -> ReplayParameters:
    return replace(machine, **{name: np.zeros_like(getattr(machine, name)) for name in COLUMNS})


def _at_end(machine: ReplayParameters, side: int) -> ReplayParameters | None:
    changed: dict[str, Any] = {}
    for column in COLUMNS:
        values = getattr(machine, column)
        stated = machine.sides[column][:, side]
        off = np.nan_to_num(np.where(np.isnan(stated), machine.errors[column], stated))
        if off.any():
            moved = np.maximum(0, values + (off if side else -off))
            changed[column] = (np.rint(moved) if values.dtype.kind == "i" else moved).astype(values.dtype)
    return replace(machine, **changed) if changed else None
