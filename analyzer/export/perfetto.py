"""Export a run as a native Perfetto trace, for ui.perfetto.dev.

A process per host, a thread per rank or communicating thread; a slice per communication call, whose category is the
one with most exposed time and whose arguments are the exposed times of all; a flow arrow per message from the call that
sent it to the end of the call that completed its receive; counters of each endpoint's load.

Perfetto counts nanoseconds: times are rounded down to whole ones, exposed times keep three decimals.
"""

from __future__ import annotations

import gzip
import importlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from logpost.analyzer.archive._native import perfetto_counter, perfetto_slices
from logpost.analyzer.export.files import Progress, atomic_output
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.undivided import SHOWN, together
from logpost.analyzer.words.location_names import LocationNames
from logpost.errors import InputError

FIRST_PROCESS = 1_000_000
"""Process id of the first host: beyond every thread id, because equal ids would mean "main thread"."""

TRACKS_OF_HOSTS, TRACKS_OF_LOCATIONS, TRACKS_OF_COUNTERS = 1 << 40, 2 << 40, 3 << 40
"""Where the ids of tracks begin, per kind."""

SEQUENCE = 1
"""All packets are one writer's."""

BATCH = 1 << 18
"""Calls in memory at a time, unless one location has more."""

EXPOSED = SHOWN[1:]
COUNTERS = (
    ("recv", "bytes", "bytes arriving per window"),
    ("send", "bytes", "bytes leaving per window"),
    ("recv", "queued_ps", "queued at receiver per window (modelled)"),
)
"""Direction, column of `load`, what the counter is called."""


@dataclass(frozen=True)
class PerfettoExport:
    """Counts of what an exported trace holds."""

    bytes: int
    slices: int
    flows: int
    counters: int
    flows_left_out: int
    """Messages whose ends are not both known, or that arrive before they are sent."""


def export_perfetto(run: Run, path: Path, *, force: bool = False, report: Progress | None = None) -> PerfettoExport:
    """Write a run as a Perfetto trace, gzipped if `path` ends in `.gz`.

    Calls are streamed; 32 bytes per message are held for the arrows.

    Args:
        run: a finished run.
        path: the file to make; `.pftrace` is usual.
        force: overwrite the file.
        report: receives the progress by calls.

    Raises:
        InputError: the package `perfetto` is missing, or the file cannot be written.
    """
    try:
        # By name, because the generated module has no types.
        schema = importlib.import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    except ImportError as error:
        raise InputError("--to perfetto needs the Python package perfetto; run `pip install perfetto`") from error
    with atomic_output(path, force=force, directory=False) as work:
        # Without a date: gzip cannot hold one before 1970, and equal runs make equal files.
        with gzip.GzipFile(work, "wb", 5, mtime=0) if path.suffix == ".gz" else work.open("wb") as file:
            writer = _Writer(schema, cast(BinaryIO, file))
            _names(writer, run)
            _tracks(writer, run)
            groups = list(_groups(_sizes(run)))
            flows = _Flows.of(run, groups)
            slices = _slices(writer, run, groups, flows, report)
            counters = _counters(writer, run)
            writer.flush()
        size = work.stat().st_size
    return PerfettoExport(size, slices, flows.count, counters, run.manifest.messages - flows.count)


class _Writer:
    """Collects packets and writes them in batches, as the repeated field of one message that a trace is."""

    def __init__(self, schema: Any, file: BinaryIO) -> None:
        self.schema = schema
        self._file = file
        self._trace = schema.Trace()
        self._first = True

    def packet(self) -> Any:
        """A new packet at the end of the trace."""
        if len(self._trace.packet) >= 4096:
            self.flush()
        packet = self._trace.packet.add()
        packet.trusted_packet_sequence_id = SEQUENCE
        if self._first:
            packet.sequence_flags = self.schema.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
            packet.first_packet_on_sequence = True
            self._first = False
        else:
            packet.sequence_flags = self.schema.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        return packet

    def encoded(self, packets: bytes) -> None:
        """Packets as the native core encodes them."""
        self.flush()
        self._file.write(packets)

    def flush(self) -> None:
        """Write what is collected."""
        self._file.write(self._trace.SerializeToString())
        self._trace = self.schema.Trace()  # a cleared message keeps the memory of all that it ever held


def _names(writer: _Writer, run: Run) -> None:
    """Names once instead of in each slice: regions, categories and arguments."""
    interned = writer.packet().interned_data
    for region, name in run.table("regions").select("region", "name").collect().iter_rows():
        interned.event_names.add(iid=region + 1, name=name or "(unnamed)")
    for number, category in enumerate(SHOWN):
        interned.event_categories.add(iid=number + 1, name=category)
        interned.debug_annotation_names.add(iid=number + 1, name=f"{category} (ns)")


def _tracks(writer: _Writer, run: Run) -> None:
    """Hosts as processes, locations as their threads, in the order of ranks."""
    every = run.table("locations").collect()
    names, table = LocationNames(every), every.filter("accounted")
    said = "" if run.manifest.predicted is None else "predicted: "
    for node, host in table.select("node", "host").unique(subset="node").sort("node").iter_rows():
        track = writer.packet().track_descriptor
        track.uuid = TRACKS_OF_HOSTS + node + 1
        track.process.pid = FIRST_PROCESS + node
        track.process.process_name = said + (host or "unknown host")
    nodes = dict(table.select("location", "node").iter_rows())
    for place, location in enumerate(sorted(nodes, key=lambda one: names.one(one).order)):
        node = nodes[location]
        track = writer.packet().track_descriptor
        track.uuid = TRACKS_OF_LOCATIONS + location
        track.parent_uuid = TRACKS_OF_HOSTS + node + 1
        track.thread.pid = FIRST_PROCESS + node
        track.thread.tid = location + 1
        track.thread.thread_name = names[location]
        track.sibling_order_rank = place


class _Flows:
    """The messages whose both ends are calls of the run, as sorted arrays to look calls up in."""

    def __init__(self, table: pl.DataFrame) -> None:
        self.count = table.height
        self._sent = self._sorted(table, "send_location", "send_enter_ps")
        self._received = self._sorted(table, "recv_location", "recv_leave_ps")

    @classmethod
    def of(cls, run: Run, groups: Sequence[tuple[int, int]]) -> _Flows:
        """The flows of a run; a flow's id is the number of its message's row, from 1."""
        table = (
            run.table("messages")
            .with_row_index("flow", offset=1)
            .filter(~pl.col("clock_violation"), pl.col("send_enter_ps") // 1000 < pl.col("recv_leave_ps") // 1000)
            .select("flow", "send_location", "send_enter_ps", "recv_location", "recv_leave_ps")
            .collect(engine="streaming")
        )
        begins = cls._at_calls(run, groups, table, "send_location", "send_enter_ps", "enter_ps")
        ends = cls._at_calls(run, groups, table, "recv_location", "recv_leave_ps", "leave_ps")
        return cls(table.filter(pl.Series((begins & ends)[table["flow"].to_numpy()], dtype=pl.Boolean)))

    @staticmethod
    def _at_calls(
        run: Run, groups: Sequence[tuple[int, int]], table: pl.DataFrame, location: str, time: str, of_call: str
    ) -> npt.NDArray[np.bool_]:
        """By flow: whether a call of the location is at the time."""
        side = table.select("flow", location=location, time=time).sort("location")
        locations = side["location"].to_numpy()
        # Of the rows that there are: a damaged manifest may state another number.
        known = np.zeros(int(table.select(pl.col("flow").max()).item() or 0) + 1, dtype=np.bool_)
        for first, last in groups:
            begin, end = _bounds(locations, first, last + 1)
            calls = run.table("calls").filter(pl.col("location").is_between(first, last))
            times = calls.select("location", time=of_call).collect(engine="streaming")
            found = side.slice(begin, end - begin).join(times, on=["location", "time"], how="semi")
            known[found["flow"].to_numpy()] = True
        return known

    @staticmethod
    def _sorted(table: pl.DataFrame, location: str, time: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        table = table.select(location, time, "flow").sort(location, time, "flow")
        return table[location].to_numpy(), table[time].to_numpy(), table["flow"].to_numpy()

    def begun(self, location: int, enters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Flows that begin in each of the calls of one location, which are in the order of time: those of call i are
        `ids[begin[i]:end[i]]` of what is returned as (begin, end, ids), none if begin is not before end."""
        return self._at(self._sent, location, enters)

    def ended(self, location: int, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Flows that end in each of the calls of one location."""
        return self._at(self._received, location, leaves)

    @staticmethod
    def _at(
        side: tuple[np.ndarray, np.ndarray, np.ndarray], location: int, times: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        locations, at, ids = side
        low, high = _bounds(locations, location, location + 1)
        begin = np.searchsorted(at[low:high], times, "left")
        end = np.searchsorted(at[low:high], times, "right")
        # Two calls at one instant: the flow belongs to the first, and must not begin or end twice.
        end[1:][times[1:] == times[:-1]] = 0
        return begin, end, ids[low:high]


def _bounds(locations: npt.NDArray[np.int32], first: int, past: int) -> tuple[int, int]:
    """Where some locations begin and end in a sorted column; numbers of another type would have all of it copied."""
    begin, end = np.searchsorted(locations, np.array((first, past), dtype=locations.dtype)).tolist()
    return begin, end


def _slices(
    writer: _Writer, run: Run, groups: Sequence[tuple[int, int]], flows: _Flows, report: Progress | None
) -> int:
    """A begin and an end per call; a location's in the order of time, so that calls of one instant nest rightly."""
    total = int(run.table("calls").select(pl.len()).collect().item())
    done = 0
    columns = [f"{category}_ps" for category in EXPOSED]
    for batch in _batches(run, groups):
        exposed = np.ascontiguousarray(together(batch, run.manifest.machine.undivided).select(columns).to_numpy())
        locations, enter_ps, leave_ps = (batch[name].to_numpy() for name in ("location", "enter_ps", "leave_ps"))
        names = batch["region"].cast(pl.Int64).to_numpy() + 1
        ends = np.append(np.flatnonzero(np.diff(locations)) + 1, len(locations)).tolist()
        for begin, end in itertools.pairwise([0, *ends]):
            here, location = slice(begin, end), int(locations[begin])
            writer.encoded(
                perfetto_slices(
                    TRACKS_OF_LOCATIONS + location,
                    SEQUENCE,
                    enter_ps[here] // 1000,
                    leave_ps[here] // 1000,
                    names[here],
                    exposed[here],
                    flows.begun(location, enter_ps[here]),
                    flows.ended(location, leave_ps[here]),
                )
            )
        done += batch.height
        if report:
            report("calls", done, total)
    return total


def _batches(run: Run, groups: Sequence[tuple[int, int]]) -> Iterator[pl.DataFrame]:
    """The calls of some whole locations at a time, in the order of locations and time."""
    for first, last in groups:
        yield (run.table("calls").filter(pl.col("location").is_between(first, last)).sort("call").collect())


def _sizes(run: Run) -> list[tuple[int, int]]:
    """(location, calls) in order."""
    return run.table("calls").group_by("location").agg(pl.len()).sort("location").collect(engine="streaming").rows()


def _groups(sizes: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """First and last location of groups with at most `BATCH` calls, from (location, calls) in order."""
    first, held = None, 0
    for i, (location, size) in enumerate(sizes):
        if first is not None and held + size > BATCH:
            yield first, sizes[i - 1][0]
            first, held = None, 0
        first = location if first is None else first
        held += size
    if first is not None:
        yield first, sizes[-1][0]


def _by_location(batch: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    for part in batch.partition_by("location", maintain_order=True):
        yield part.item(0, "location"), part


def _counters(writer: _Writer, run: Run) -> int:
    """Counter tracks below each location: the value of a window from its beginning to its end."""
    width = run.manifest.windows.width_ps
    written = 0
    accounted = run.table("locations").filter("accounted").select("location")
    for kind, (direction, column, title) in enumerate(COUNTERS):
        table = (
            run.table("load")
            .join(accounted, on="location", how="semi")
            .filter(pl.col("direction") == direction, pl.col(column) > 0)
            .select("location", "window", pl.col(column).cast(pl.Int64))
            .sort("location", "window")
            .collect()
        )
        for location, part in _by_location(table):
            uuid = TRACKS_OF_COUNTERS + len(COUNTERS) * location + kind
            track = writer.packet().track_descriptor
            track.uuid = uuid
            track.parent_uuid = TRACKS_OF_LOCATIONS + location
            track.name = title
            unit = writer.schema.CounterDescriptor
            track.counter.unit = unit.UNIT_SIZE_BYTES if column == "bytes" else unit.UNIT_TIME_NS
            at_ns, values = _counted(part, width, 1 if column == "bytes" else 1000)
            writer.encoded(perfetto_counter(uuid, SEQUENCE, at_ns, values))
            written += len(at_ns)
    return written


def _counted(loaded: pl.DataFrame, width_ps: int, unit: int) -> tuple[np.ndarray, np.ndarray]:
    """Times in ns and values of a counter, from (location, window, value in 1 / `unit`): each window's value at its
    beginning, and 0 at the end of each that the next window does not follow."""
    window, value = loaded["window"].cast(pl.Int64).to_numpy(), loaded.to_series(2).to_numpy() // unit
    falls = np.append(np.diff(window) > 1, True)
    places = np.concatenate([np.arange(len(window)), np.flatnonzero(falls)])
    at = np.concatenate([window, window[falls] + 1]) * width_ps // 1000
    order = np.argsort(places, kind="stable")
    return at[order], np.concatenate([value, np.zeros(falls.sum(), np.int64)])[order]
