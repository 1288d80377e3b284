"""The Perfetto trace, parsed back with Perfetto's own schema: nesting, order, arguments, arrows and counters."""

from __future__ import annotations

import gzip
import importlib
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.dashboards.synthetic import Names, make_run

from logpost.analyzer.archive._native import perfetto_counter, perfetto_slices
from logpost.analyzer.export import perfetto as subject
from logpost.analyzer.export.perfetto import PerfettoExport, export_perfetto
from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.schema import CATEGORIES
from logpost.errors import InputError

schema = importlib.import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
BEGIN, END, COUNTER = (getattr(schema.TrackEvent, f"TYPE_{k}") for k in ("SLICE_BEGIN", "SLICE_END", "COUNTER"))


class Parsed:
    """A trace file as an importer sees it: names resolved, events by track."""

    def __init__(self, data: bytes) -> None:
        trace = schema.Trace()
        assert trace.ParseFromString(data) == len(data)
        self.packets = list(trace.packet)
        self.names: dict[int, str] = {}
        self.categories: dict[int, str] = {}
        self.arguments: dict[int, str] = {}
        self.tracks: dict[int, Any] = {}
        self.events: dict[int, list[tuple[int, Any]]] = defaultdict(list)
        for packet in self.packets:
            interned = packet.interned_data
            self.names |= {entry.iid: entry.name for entry in interned.event_names}
            self.categories |= {entry.iid: entry.name for entry in interned.event_categories}
            self.arguments |= {entry.iid: entry.name for entry in interned.debug_annotation_names}
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.HasField("track_event"):
                self.events[packet.track_event.track_uuid].append((packet.timestamp, packet.track_event))

    def threads(self) -> dict[str, list[tuple[int, Any]]]:
        """Thread name -> its slice events, in the order of the file."""
        return {
            track.thread.thread_name: self.events[uuid]
            for uuid, track in self.tracks.items()
            if track.HasField("thread")
        }


def exported(run: Run, path: Path) -> tuple[Parsed, PerfettoExport]:
    written = export_perfetto(run, path)
    assert path.stat().st_size == written.bytes
    return Parsed(path.read_bytes()), written


def test_hosts_are_processes_and_ranks_their_threads(tmp_path: Path) -> None:
    trace, _ = exported(make_run(tmp_path / "a.run", ranks=6), tmp_path / "a.pftrace")
    processes = {t.process.pid: t.process.process_name for t in trace.tracks.values() if t.HasField("process")}
    # 6 ranks, ceil(6 / 4) = 2 on each node: 3 nodes.
    assert list(processes.values()) == ["node00", "node01", "node02"]
    threads = [t for t in trace.tracks.values() if t.HasField("thread")]
    assert [(t.thread.thread_name, processes[t.thread.pid]) for t in threads] == [
        (f"rank {r}", f"node{r // 2:02d}") for r in range(6)
    ]
    # A thread id that equals its process id would mean "main thread", and 0 the idle task.
    assert not {t.thread.tid for t in threads} & {0, *processes}
    assert len({t.thread.tid for t in threads}) == 6


def test_slices_nest_and_times_never_go_back(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    trace, written = exported(run, tmp_path / "a.pftrace")
    calls = run.table("calls").sort("location", "enter_ps").collect()
    regions = dict(run.table("regions").select("region", "name").collect().iter_rows())
    assert written.slices == calls.height
    for rank, events in enumerate(trace.threads().values()):
        times = [time for time, _ in events]
        assert times == sorted(times)
        assert [event.type for _, event in events] == [BEGIN, END] * (len(events) // 2)
        own = calls.filter(pl.col("location") == rank)
        assert [t for t, e in events if e.type == BEGIN] == [t // 1000 for t in own["enter_ps"]]
        assert [t for t, e in events if e.type == END] == [t // 1000 for t in own["leave_ps"]]
        assert [trace.names[e.name_iid] for _, e in events if e.type == BEGIN] == [regions[r] for r in own["region"]]


def test_arguments_are_the_exposed_times_and_the_category_is_the_largest(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    trace, _ = exported(run, tmp_path / "a.pftrace")
    own = run.table("calls").filter(pl.col("location") == 0).sort("enter_ps").collect()
    begins = [event for _, event in trace.threads()["rank 0"] if event.type == BEGIN]
    for event, call in zip(begins, own.iter_rows(named=True), strict=True):
        said = {trace.arguments[a.name_iid]: a.double_value for a in event.debug_annotations}
        exposed = {category: call[f"{category}_ps"] for category in CATEGORIES[1:] if call[f"{category}_ps"]}
        assert said == {f"{category} (ns)": ps / 1000 for category, ps in exposed.items()}
        # Exposed times of a call are its whole length, in picoseconds.
        assert sum(exposed.values()) == call["leave_ps"] - call["enter_ps"]
        assert [trace.categories[c] for c in event.category_iids] == [max(exposed, key=lambda c: exposed[c])]


def test_each_arrow_has_one_beginning_and_one_later_end(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    trace, written = exported(run, tmp_path / "a.pftrace")
    begun: dict[int, tuple[str, int]] = {}
    ended: dict[int, tuple[str, int]] = {}
    for thread, events in trace.threads().items():
        for time, event in events:
            for side, ids in ((begun, event.flow_ids), (ended, event.terminating_flow_ids)):
                for flow in ids:
                    assert flow not in side
                    side[flow] = (thread, time)
    messages = run.table("messages").collect()
    assert begun.keys() == ended.keys() == set(range(1, messages.height + 1))
    assert (written.flows, written.flows_left_out) == (messages.height, 0)
    for flow, message in enumerate(messages.iter_rows(named=True), start=1):
        assert begun[flow] == (f"rank {message['send_location']}", message["send_enter_ps"] // 1000)
        assert ended[flow] == (f"rank {message['recv_location']}", message["recv_leave_ps"] // 1000)
        assert begun[flow][1] < ended[flow][1]


def changed(run: Run, name: str, frame: pl.DataFrame) -> Run:
    """The run with another table; `Run` reads the files, so it is the same object."""
    frame.write_parquet(run.path / f"{name}.parquet")
    return run


def test_messages_without_both_ends_in_order_have_no_arrow_and_are_counted(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run", iterations=2)
    messages = run.table("messages").collect()
    row = pl.int_range(pl.len())
    broken = messages.with_columns(
        clock_violation=row == 0,
        # No call of the receiver ends there.
        recv_leave_ps=pl.when(row == 1).then(pl.col("recv_leave_ps") + 5_000_000).otherwise("recv_leave_ps"),
        # No call of the sender begins there.
        send_enter_ps=pl.when(row == 2).then(pl.col("send_enter_ps") + 1).otherwise("send_enter_ps"),
    )
    trace, written = exported(changed(run, "messages", broken), tmp_path / "a.pftrace")
    assert (written.flows, written.flows_left_out) == (messages.height - 3, 3)
    ids = [flow for events in trace.threads().values() for _, e in events for flow in e.terminating_flow_ids]
    assert sorted(ids) == list(range(4, messages.height + 1))


def test_two_calls_at_one_instant_do_not_double_an_arrow(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run", iterations=1)
    calls = run.table("calls").collect()
    sent = run.table("messages").collect().row(0, named=True)
    first = calls.filter(location=sent["send_location"], enter_ps=sent["send_enter_ps"])
    assert first.height == 1
    # An empty call (a Test, say) that begins and ends where the send begins.
    empty = first.with_columns(leave_ps=pl.col("enter_ps"), **{f"{c}_ps": pl.lit(0, pl.Int64) for c in CATEGORIES[1:]})
    trace, _ = exported(changed(run, "calls", pl.concat([calls, empty])), tmp_path / "a.pftrace")
    begun = Counter(f for events in trace.threads().values() for _, e in events for f in e.flow_ids)
    assert set(begun.values()) == {1}


def test_counters_are_the_load_and_fall_back_to_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    trace, written = exported(run, tmp_path / "a.pftrace")
    width = run.manifest.windows.width_ps
    counters = {
        (trace.tracks[t.parent_uuid].thread.thread_name, t.name): trace.events[uuid]
        for uuid, t in trace.tracks.items()
        if t.HasField("counter")
    }
    events = counters["rank 0", "bytes arriving per window"]
    times = [time for time, _ in events]
    assert times == sorted(set(times))
    assert all(event.type == COUNTER for _, event in events)
    own = run.table("load").filter(pl.col("location") == 0, pl.col("direction") == "recv").sort("window").collect()
    values = {time: event.counter_value for time, event in events}
    windows = dict(own.select("window", "bytes").iter_rows())
    for window, size in windows.items():
        assert values[window * width // 1000] == size
        assert values[(window + 1) * width // 1000] == windows.get(window + 1, 0)
    assert sum(values.values()) == own["bytes"].sum()
    assert written.counters == sum(len(found) for found in counters.values())
    units = {t.name: t.counter.unit for t in trace.tracks.values() if t.HasField("counter")}
    assert units["bytes arriving per window"] == schema.CounterDescriptor.UNIT_SIZE_BYTES
    assert units["queued at receiver per window (modelled)"] == schema.CounterDescriptor.UNIT_TIME_NS


def test_one_sequence_with_its_state_declared_first(tmp_path: Path) -> None:
    trace, _ = exported(make_run(tmp_path / "a.run"), tmp_path / "a.pftrace")
    assert {packet.trusted_packet_sequence_id for packet in trace.packets} == {1}
    assert trace.packets[0].sequence_flags == schema.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    assert {p.sequence_flags for p in trace.packets[1:]} == {schema.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE}
    seen: set[int] = set()
    for packet in trace.packets:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert not track.HasField("parent_uuid") or track.parent_uuid in seen
            seen.add(track.uuid)
        elif packet.HasField("track_event"):
            assert packet.track_event.track_uuid in seen


def test_batches_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "a.run", ranks=7)
    whole, _ = exported(run, tmp_path / "a.pftrace")
    # 7 ranks with about 60 calls each, so that groups of one, two and three locations appear.
    monkeypatch.setattr(subject, "BATCH", 130)
    said: list[int] = []
    export_perfetto(run, tmp_path / "b.pftrace", report=lambda _phase, done, total: said.append(total - done))
    assert (tmp_path / "b.pftrace").read_bytes() == (tmp_path / "a.pftrace").read_bytes()
    assert said == sorted(said, reverse=True)
    assert said[-1] == 0
    assert len(said) > 2
    assert whole.packets


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ([], []),
        ([(0, 5)], [(0, 0)]),
        ([(0, 6), (3, 4), (4, 1)], [(0, 3), (4, 4)]),
        ([(0, 99), (1, 1), (2, 9), (5, 1)], [(0, 0), (1, 2), (5, 5)]),
    ],
)
def test_groups_hold_whole_locations(
    sizes: list[tuple[int, int]], groups: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "BATCH", 10)
    assert list(subject._groups(sizes)) == groups


def test_gz_is_the_same_trace(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run")
    export_perfetto(run, tmp_path / "a.pftrace")
    export_perfetto(run, tmp_path / "a.pftrace.gz")
    assert gzip.decompress((tmp_path / "a.pftrace.gz").read_bytes()) == (tmp_path / "a.pftrace").read_bytes()


def test_gz_on_a_machine_whose_clock_is_before_1970(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "a.run")
    export_perfetto(run, tmp_path / "now.pftrace.gz")
    monkeypatch.setattr("time.time", lambda: -86400.0)
    export_perfetto(run, tmp_path / "then.pftrace.gz")
    # Bytes 4 to 7 of a gzip file are its date: 0 is none.
    assert (
        (tmp_path / "then.pftrace.gz").read_bytes()[4:8] == bytes(4) == (tmp_path / "now.pftrace.gz").read_bytes()[4:8]
    )


def test_a_run_without_messages(tmp_path: Path) -> None:
    trace, written = exported(make_run(tmp_path / "a.run", ranks=1, messages=False), tmp_path / "a.pftrace")
    assert (written.flows, written.counters) == (0, 0)
    assert len(trace.threads()["rank 0"]) == 2 * written.slices


def test_a_manifest_with_another_number_of_messages_changes_no_arrow(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run", ranks=4)
    _, whole = exported(run, tmp_path / "a.pftrace")
    fewer = Run(run.path, run.manifest.model_copy(update={"messages": run.manifest.messages - 1}))
    _, written = exported(fewer, tmp_path / "b.pftrace")
    assert written.flows == whole.flows > 0


def test_any_name_is_written(tmp_path: Path) -> None:
    names = Names(regions=("", "\u202e\x00", "MPI_Send", "<b>", "x" * 10_000, "y"), host="")
    trace, _ = exported(make_run(tmp_path / "a.run", names=names), tmp_path / "a.pftrace")
    assert trace.names[1] == "(unnamed)"
    assert trace.names[2] == "\u202e\x00"


def test_existing_file_is_kept(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a.run", ranks=1)
    (tmp_path / "a.pftrace").write_text("precious")
    with pytest.raises(InputError, match=r"a\.pftrace already exists; pass --force to overwrite it"):
        export_perfetto(run, tmp_path / "a.pftrace")
    assert (tmp_path / "a.pftrace").read_text() == "precious"
    export_perfetto(run, tmp_path / "a.pftrace", force=True)
    assert Parsed((tmp_path / "a.pftrace").read_bytes()).packets
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="folder is a directory; choose another place"):
        export_perfetto(run, tmp_path / "folder", force=True)


def test_missing_package_names_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "a.run", ranks=1)
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace.perfetto_trace_pb2", None)
    with pytest.raises(InputError, match="package perfetto; run `pip install perfetto`"):
        export_perfetto(run, tmp_path / "a.pftrace")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.run"]


def test_columns_that_do_not_fit_together_are_refused() -> None:
    some, none = np.zeros(2, np.int64), np.zeros(0, np.int64)
    whole = (some, some, none)
    with pytest.raises(ValueError, match="columns differ in length"):
        perfetto_slices(1, 1, some, some, none, np.zeros((2, 3), np.int64), whole, whole)
    with pytest.raises(ValueError, match="columns differ in length"):
        perfetto_counter(1, 1, some, none)
    with pytest.raises(ValueError, match=r"range of flows .* ids"):
        perfetto_slices(1, 1, some, some, some, np.zeros((2, 3), np.int64), whole, (some, some + 1, none))
