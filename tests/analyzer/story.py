"""A run written in code: calls with the parts of their time, messages, collectives; every table follows from these.

Times are picoseconds. A rank's time outside its calls is compute. The parts of a call lie one after the other in the
order in which they are given and must add up to the call; the parts of a message likewise to its envelope.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import polars as pl
from tests.machines.builders import stated

from logpost.analyzer.findings.evidence.tables import Evidence
from logpost.analyzer.findings.find import find_all
from logpost.analyzer.findings.finding import Finding, frame
from logpost.analyzer.findings.wording.numbers import evidence_text
from logpost.analyzer.pipeline.tables.threads import thread_frame
from logpost.analyzer.run.directory import Run, RunWriter
from logpost.analyzer.run.manifest import (
    Clock,
    Hosts,
    Layout,
    MachineUsed,
    MachineValue,
    Manifest,
    QualityCount,
    Source,
    Windows,
)
from logpost.analyzer.run.schema import CATEGORIES, PARTS, TABLES, TRANSFER_PARTS
from logpost.replay._native import operations

US = 10**6
MS = 10**9
KINDS = {
    "MPI_Send": "send",
    "MPI_Ssend": "send_synchronous",
    "MPI_Isend": "send_nonblocking",
    "MPI_Probe": "probe",
    "MPI_Iprobe": "probe",
    "MPI_Test": "test",
    "MPI_Testsome": "test",
    "MPI_Recv": "receive",
    "MPI_Sendrecv": "send_receive",
    "MPI_Irecv": "receive_nonblocking",
    "MPI_Waitall": "wait_multi",
    "MPI_Barrier": "barrier",
    "MPI_Iallreduce": "collective_nonblocking",
    "MPI_Wtime": "other",
    "MPI_Comm_rank": "other",
}
"""Regions to their kinds; other calls wait for a request."""


class Story:
    """Collects what happens on `ranks` ranks from 0 to `length` ps, seen through `windows` equal windows."""

    def __init__(self, ranks: int, length: int, windows: int = 10) -> None:
        self.ranks, self.length = ranks, length
        self.windows = Windows(count=windows, width_ps=-(-length // windows))
        self.regions: dict[tuple[str, str], int] = {}
        self.callpaths: dict[tuple[str, ...], int] = {}
        self.callpath_rows: list[dict[str, Any]] = []
        self.rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.instances = 0
        self.regions_entered = 0
        self.workers: dict[tuple[int, int], int] = {}
        self.program = dict.fromkeys(range(ranks), (0, length))
        self.hosts = Hosts(nodes=1, ranks_per_node=[ranks], cores_per_node=[ranks], oversubscribed=False)
        self.quality: list[QualityCount] = []
        self.notes: list[str] = []
        self.undivided: list[str] = []
        self.refused = False
        self.origin: Literal["file", "recorded", "estimated"] = "estimated"
        self.machine_name = "estimated"
        self.values_of = "same_node"  # the locality whose value the manifest states
        self.layouts: list[Layout] = []
        self.has_machine_file = True
        self.deficit_share = 0.0625  # of messages, as the manifest states it
        self.loggp: dict[str, float | str] = {
            "L": 0.0,
            "o_s": 0.0,
            "o_r": 0.0,
            "g": 0.0,
            "G": 0.0,
            "eager_limit": 100_000,
        }
        """Of the machine that a written run has; us, B"""

    def path(self, *names: str) -> int:
        """The call path with these region names from the root; MPI's are communication, the others user regions."""
        parent = -1
        for depth in range(len(names)):
            key = names[: depth + 1]
            if key not in self.callpaths:
                kind = "user"
                if names[depth] in ("MPI_Init", "MPI_Finalize"):
                    kind = "init_finalize"
                elif names[depth].startswith(("MPI_Win_", "MPI_Get", "shmem_")):
                    kind = "one_sided"
                elif names[depth] == "MPI_Barrier":
                    kind = "barrier"
                elif names[depth].startswith("MPI_Neighbor_"):
                    kind = "collective"
                elif names[depth].startswith("MPI_"):
                    kind = (
                        "other" if names[depth] in ("MPI_Wtime", "MPI_Comm_rank") else KINDS.get(names[depth], "wait")
                    )
                region = self.regions.setdefault((names[depth], kind), len(self.regions))
                self.callpaths[key] = len(self.callpaths)
                self.callpath_rows.append(
                    {
                        "callpath": self.callpaths[key],
                        "parent": parent,
                        "region": region,
                        "depth": depth,
                        "path": " / ".join(key),
                        "file": "",
                        "line": 0,
                    }
                )
            parent = self.callpaths[key]
        return parent

    def site(self, path: int, file: str, line: int) -> int:
        """The place of this path's call in the source."""
        self.callpath_rows[path] |= {"file": file, "line": line}
        return path

    def another_line(self, path: int, line: int) -> int:
        """The path of a call of the same region in another line of its caller."""
        self.callpath_rows.append(self.callpath_rows[path] | {"callpath": len(self.callpath_rows), "line": line})
        self.callpaths[self.callpath_rows[-1]["path"], str(line)] = len(self.callpath_rows) - 1
        return len(self.callpath_rows) - 1

    def start_up(self, rank: int, length: int) -> None:
        """MPI_Init, from the begin: the rank's program begins behind it."""
        self.call(rank, 0, length, self.path("MPI_Init"), mpi_other=length)
        self.program[rank] = (length, self.program[rank][1])

    def shut_down(self, rank: int, enter: int) -> None:
        """MPI_Finalize, to the end: the rank's program ends before it."""
        self.call(rank, enter, self.length, self.path("MPI_Finalize"), mpi_other=self.length - enter)
        self.program[rank] = (self.program[rank][0], enter)

    def phase(self, rank: int, time: int) -> str:
        """The phase of an instant."""
        begin, end = self.program[rank]
        return "start_up" if time < begin else "program" if time < end else "shut_down"

    def call(self, rank: int, enter: int, leave: int, path: int, **parts: int) -> None:
        """A communication call; the parts are categories with their exposed time."""
        assert sum(parts.values()) == leave - enter, (parts, leave - enter)
        assert set(parts) <= set(CATEGORIES[1:])
        full = {f"{category}_ps": parts.get(category, 0) for category in CATEGORIES[1:]}
        region = self.callpath_rows[path]["region"]
        self.rows["calls"].append(
            {"location": rank, "enter_ps": enter, "leave_ps": leave, "region": region, "callpath": path, **full}
        )
        at = enter
        for category, time in parts.items():
            self._segment(rank, at, at + time, category)
            row = {"location": rank, "callpath": path, "category": category, "exposed_ps": time, "enter_ps": enter}
            self.rows["exposed"].append(row)
            at += time

    def _segment(self, rank: int, begin: int, end: int, category: str) -> None:
        width = self.windows.width_ps
        for window in range(begin // width, max(begin, end - 1) // width + 1):
            time = min(end, (window + 1) * width) - max(begin, window * width)
            row = {"location": rank, "window": window, "category": category, "exposed_ps": time, "enter_ps": begin}
            self.rows["segments"].append(row)

    def message(
        self,
        sender: int,
        receiver: int,
        size: int,
        send: tuple[int, int],
        recv: tuple[int, int],
        paths: tuple[int, int],
        *,
        complete: int | None = None,
        post: int | None = None,
        service: int = 0,
        **parts: int,
    ) -> None:
        """A message: enter and leave of send and receive call; `complete` makes it rendezvous and ends the send
        there; `post` is when the receive was posted, if before its call."""
        envelope = recv[1] - min(send[0], recv[0])
        assert sum(parts.values()) == envelope, (parts, envelope)
        assert set(parts) <= set(PARTS)
        full = {f"{part}_ps": parts.get(part, 0) for part in PARTS}
        window = send[0] // self.windows.width_ps
        self.rows["messages"].append(
            {
                "send_location": sender,
                "recv_location": receiver,
                "comm": 0,
                "tag": 0,
                "bytes": size,
                "protocol": "eager" if complete is None else "rendezvous",
                "locality": "same_node",
                "layout": -1,
                "send_callpath": paths[0],
                "recv_callpath": paths[1],
                "window": window,
                "send_number": -1,
                "recv_number": -1,
                "recv_bytes": size,
                "send_enter_ps": send[0],
                "send_leave_ps": send[1],
                "send_complete_ps": send[1] if complete is None else complete,
                "recv_post_ps": recv[0] if post is None else post,
                "recv_enter_ps": recv[0],
                "recv_leave_ps": recv[1],
                "envelope_ps": envelope,
                **full,
                "deficit_ps": 0,
                "clamped_ps": 0,
                "clock_violation": False,
                "hops": -1,
            }
        )
        for location, peer, direction, at in (
            (sender, receiver, "send", send[0]),
            (receiver, sender, "recv", min(recv[1], complete or send[1])),
        ):
            self.rows["loads"].append(
                {
                    "location": location,
                    "window": min(at // self.windows.width_ps, self.windows.count - 1),
                    "direction": direction,
                    "peer": peer,
                    "bytes": size,
                    "busy_ps": service,
                    "queued_ps": parts.get("endpoint_contention", 0) if direction == "recv" else 0,
                }
            )

    def communicator(self, *members: int) -> None:
        """Communicator 0, of these locations in the order of their ranks."""
        self.rows["communicators"].append(
            {
                "comm": 0,
                "parent": -1,
                "size": len(members),
                "first_group": 0,
                "name": "",
                "ref": 0,
                "members": list(members),
            }
        )

    def collective(self, path: int, operation: str, members: dict[int, tuple[int, int]], root: int = -1) -> None:
        """A synchronizing operation: members wait for the last to enter, or for the root of a broadcast; the rest of
        their call is `collective`."""
        assert operation in operations(), operation
        last = members[root][0] if operation == "Bcast" and root >= 0 else max(enter for enter, _ in members.values())
        for rank, (enter, leave) in members.items():
            wait = max(0, min(last, leave) - enter)
            self.call(rank, enter, leave, path, collective_wait=wait, collective=leave - enter - wait)
            self.rows["collectives"].append(
                {
                    "instance": self.instances,
                    "location": rank,
                    "comm": 0,
                    "root": root,
                    "rma_window": 0 if operation == "Fence" else -1,
                    "layout": -1,
                    "received_layout": -1,
                    "callpath": path,
                    "operation": operation,
                    "enter_ps": enter,
                    "leave_ps": leave,
                    "wait_ps": wait,
                    "bytes_sent": 8,
                    "bytes_received": 8,
                }
            )
        self.instances += 1

    def started_collective(
        self, paths: tuple[int, int], operation: str, members: Mapping[int, tuple[int, ...]]
    ) -> None:
        """A nonblocking operation of members that start it at an instant and complete it in a later call (start, enter,
        leave); a member that waits, does so until the last one has started."""
        last = max(start for start, *_ in members.values())
        for rank, (start, enter, leave) in members.items():
            waited = min(max(last - enter, 0), leave - enter)
            self.call(rank, start, start, paths[0])
            self.call(rank, enter, leave, paths[1], collective_wait=waited, collective=leave - enter - waited)
            row: dict[str, int | str] = {"instance": self.instances, "location": rank, "comm": 0, "root": -1}
            row |= {
                "rma_window": -1,
                "layout": -1,
                "received_layout": -1,
                "callpath": paths[0],
                "operation": operation,
                "enter_ps": start,
                "leave_ps": leave,
            }
            row |= {"wait_ps": waited, "bytes_sent": 8, "bytes_received": 8, "complete_enter_ps": enter}
            self.rows["collectives"].append(row)
        self.instances += 1

    def epoch(
        self,
        rank: int,
        kind: str,
        path: int,
        waits_for: int,
        wait: int,
        *,
        calls: tuple[int, int] | None = None,
        peer: int | None = None,
        match: int = -1,
    ) -> None:
        """An epoch of a rank and what its begin waited for; its first and last call, by their enters, are written
        separately. `match`: the number of the peer's epoch."""
        begin, end = calls or (-1, -1)
        self.rows["epochs"].append(
            {
                "location": rank,
                "number": sum(row["location"] == rank for row in self.rows["epochs"]),
                "kind": kind,
                "peer": waits_for if peer is None else peer,
                "rma_window": 0,
                "lock": 0,
                "callpath": path,
                "begin_enter_ps": begin,
                "end_enter_ps": end,
                "match": match,
                "waits_for": waits_for,
                "enter_ps": max(0, begin),
                "acquired_ps": -1,
                "wait_ps": wait,
            }
        )

    def transfer(
        self,
        rank: int,
        target: int,
        path: int,
        enter: int,
        leave: int,
        *,
        kind: str = "get",
        epoch: int = -1,
        **parts: int,
    ) -> None:
        """A transfer that one call starts and completes, of an epoch by its number; its parts lie one after the other,
        and are the call's."""
        assert sum(parts.values()) == leave - enter
        self.call(rank, enter, leave, path, **parts)
        times = dict.fromkeys((f"{part}_ps" for part in TRANSFER_PARTS), 0)
        self.rows["transfers"].append(
            {
                "location": rank,
                "target": target,
                "rma_window": 0,
                "callpath": path,
                "complete_callpath": path,
                "kind": kind,
                "epoch": epoch,
                "locality": "same_node",
                "bytes": 8,
                "start_ps": enter,
                "start_leave_ps": leave,
                "complete_enter_ps": enter,
                "complete_leave_ps": leave,
                "envelope_ps": leave - enter,
                "deficit_ps": 0,
                **times,
                **{f"{part}_ps": time for part, time in parts.items()},
            }
        )

    def user(self, rank: int, path: int, exclusive: int, visits: int = 1) -> None:
        """A user region's own time on a rank, for the profile."""
        self.rows["profile"].append(
            {
                "callpath": path,
                "location": rank,
                "visits": visits,
                "inclusive_ps": exclusive,
                "exclusive_ps": exclusive,
            }
        )

    def span(self, rank: int, path: int, first: int, last: int) -> None:
        """When a user region was in use on a rank."""
        region = self.callpath_rows[path]["region"]
        row = {"region": region, "location": rank, "first_enter_ps": first, "last_leave_ps": last}
        self.rows["region_spans"].append(row)

    def parallel(self, rank: int, begin: int, works: list[int], region: int, barrier: int) -> int:
        """A parallel region, in which each thread of a rank works so long and waits at the barrier for the last one;
        when it ends. Workers' locations follow the ranks'."""
        end = begin + max(works)
        for thread, work in enumerate(works):
            location = self._thread(rank, thread)
            instance = {"location": location, "instance": self.regions_entered, "callpath": region}
            for category, since, until in (("parallel", begin, begin + work), ("imbalance", begin + work, end)):
                if since < until:
                    place = {"category": category, "place": barrier if category == "imbalance" else region}
                    self.rows["thread_spans"].append(instance | place | {"begin_ps": since, "end_ps": until})
        self.regions_entered += 1
        return end

    def _thread(self, rank: int, thread: int) -> int:
        if thread == 0:
            return rank
        if (rank, thread) not in self.workers:
            self.workers[rank, thread] = self.ranks + len(self.workers)
        return self.workers[rank, thread]

    def wait_state(self, rank: int, pattern: str, wait: int, count: int) -> None:
        """A wait state of a rank; the clock of the story ticks every nanosecond."""
        self.rows["wait_states"].append(
            {"location": rank, "pattern": pattern, "wait_ticks": wait // 1000, "count": count}
        )

    def _tables(self) -> dict[str, pl.DataFrame]:
        rows = dict(self.rows)
        rows["locations"] = [
            {
                "location": rank,
                "rank": rank,
                "node": 0,
                "name": f"Master thread of rank {rank}",
                "group": f"MPI Rank {rank}",
                "host": "node1",
                "kind": "cpu",
                "process": rank,
                "ref": rank,
                "accounted": True,
                "first_ps": 0,
                "last_ps": self.length,
                "wall_ps": self.length,
                "begin_ps": self.program[rank][0],
                "end_ps": self.program[rank][1],
                "socket": -1,
                "core": "",
                "events": 2,
                "communication_events": 0,
            }
            for rank in range(self.ranks)
        ]
        for (rank, _), location in self.workers.items():
            worker = {"location": location, "rank": -1, "ref": location, "accounted": False}
            rows["locations"].append(rows["locations"][rank] | worker)
        rows["regions"] = [
            {"region": region, "line": 0, "name": name, "file": "", "kind": kind}
            for (name, kind), region in self.regions.items()
        ]
        rows["callpaths"] = self.callpath_rows
        world = {"comm": 0, "parent": -1, "size": self.ranks, "first_group": 0, "name": "MPI_COMM_WORLD", "ref": 0}
        if not rows.get("communicators"):
            rows["communicators"] = [world | {"members": list(range(self.ranks))}]
        self._number_calls(rows)
        frames = {
            name: pl.DataFrame(rows[name], schema=table.schema) if rows.get(name) else table.empty()
            for name, table in TABLES.items()
        }
        frames["threads"] = thread_frame(frames["thread_spans"], frames["calls"].lazy(), frames["locations"])
        frames["accounting"] = self._accounting(rows)
        exposed = pl.DataFrame(rows.get("exposed", []))
        if exposed.height:
            calls = frames["calls"].group_by("location", "callpath").agg(calls=pl.len())
            phases = [self.phase(row["location"], row["enter_ps"]) for row in rows["exposed"]]
            exposed = exposed.with_columns(phase=pl.Series(phases))
            exposed = exposed.group_by("location", "callpath", "phase", "category").agg(pl.col("exposed_ps").sum())
            frames["exposure"] = _shaped(
                "exposure",
                exposed.cast({"location": pl.Int32, "callpath": pl.Int32}).join(calls, on=["location", "callpath"]),
            )
        messages = frames["messages"]
        if messages.height:
            names = ["envelope_ps", *(f"{part}_ps" for part in PARTS), "deficit_ps"]
            pairs = messages.group_by("send_location", "recv_location", maintain_order=True)
            frames["pairs"] = _shaped("pairs", pairs.agg(pl.len().alias("messages"), pl.col("bytes", *names).sum()))
            load = pl.DataFrame(rows["loads"]).group_by("location", "window", "direction", maintain_order=True)
            frames["load"] = _shaped(
                "load",
                load.agg(
                    pl.len().alias("messages"),
                    pl.col("bytes", "busy_ps", "queued_ps").sum(),
                    pl.col("peer").n_unique().alias("peers"),
                ),
            )
        return frames

    def _number_calls(self, rows: dict[str, list[dict[str, Any]]]) -> None:
        """Calls in the order of location and time; messages and collectives refer to them by number."""
        rows["calls"] = sorted(rows.get("calls", []), key=lambda row: (row["location"], row["enter_ps"]))
        entered, left = {}, {}
        for number, row in enumerate(rows["calls"]):
            row["call"] = number
            entered[row["location"], row["enter_ps"]] = number
            left[row["location"], row["leave_ps"]] = number
        for row in rows.get("messages", []):
            row["send_call"] = entered.get((row["send_location"], row["send_enter_ps"]), -1)
            row["send_complete_call"] = left.get((row["send_location"], row["send_complete_ps"]), -1)
            row["recv_post_call"] = entered.get((row["recv_location"], row["recv_post_ps"]), -1)
            row["recv_call"] = entered.get((row["recv_location"], row["recv_enter_ps"]), -1)
        for end, begin in (("send", "send_enter_ps"), ("recv", "recv_post_ps")):
            counts: dict[int, int] = defaultdict(int)
            for row in sorted(rows.get("messages", []), key=lambda row: (row[begin], row["send_enter_ps"])):
                row[f"{end}_number"] = counts[row[f"{end}_location"]]
                counts[row[f"{end}_location"]] += 1
        for number, row in enumerate(rows.get("transfers", [])):
            row |= {"number": number, "remote_call": -1, "hops": -1, "layout": -1, "target_layout": -1}
            row["call"] = row["complete_call"] = entered.get((row["location"], row["start_ps"]), -1)
        for row in rows.get("epochs", []):
            for at in ("begin", "end"):
                row[f"{at}_call"] = entered.get((row["location"], row[f"{at}_enter_ps"]), -1)
        for row in rows.get("collectives", []):
            row["call"] = entered.get((row["location"], row["enter_ps"]), -1)
            completed = row.get("complete_enter_ps", row["enter_ps"])
            row["complete_call"] = entered.get((row["location"], completed), -1)

    def _accounting(self, rows: dict[str, list[dict[str, Any]]]) -> pl.DataFrame:
        """The segments, and compute as what is left of each window, by phase."""
        sums: dict[tuple[int, int, str, str], int] = defaultdict(int)
        for segment in rows.get("segments", []):
            rank = segment["location"]
            phase = self.phase(rank, segment["enter_ps"])
            sums[rank, segment["window"], phase, segment["category"]] += segment["exposed_ps"]
        in_calls: dict[tuple[int, int, str], int] = defaultdict(int)
        for (rank, window, phase, _), time in sums.items():
            in_calls[rank, window, phase] += time
        for rank in range(self.ranks):
            first, last = self.program[rank]
            for phase, since, until in (
                ("start_up", 0, first),
                ("program", first, last),
                ("shut_down", last, self.length),
            ):
                for window in range(self.windows.count):
                    begin = max(since, window * self.windows.width_ps)
                    inside = max(0, min(until, (window + 1) * self.windows.width_ps) - begin)
                    used = in_calls[rank, window, phase]
                    assert used <= inside, f"rank {rank} has more calls than time in window {window}"
                    sums[rank, window, phase, "compute"] = inside - used
        keys = [
            {"location": r, "window": w, "phase": p, "category": c, "exposed_ps": time}
            for (r, w, p, c), time in sums.items()
            if time
        ]
        return pl.DataFrame(keys, schema=TABLES["accounting"].schema)

    def manifest(self) -> Manifest:
        """With a machine of one value, so that a report has something to show."""
        return Manifest(
            tool_version="0.1.0",
            source=Source(anchor="story/traces.otf2", bytes=1),
            clock=Clock(ticks_per_second=10**9, length_ps=self.length),
            ranks=self.ranks,
            locations=self.ranks,
            events=2 * self.ranks,
            communication_events=0,
            messages=len(self.rows["messages"]),
            paradigms=["MPI"],
            hosts=self.hosts,
            windows=self.windows,
            machine=MachineUsed(
                name=self.machine_name,
                origin=self.origin,
                label="estimated from this trace",
                values=[
                    MachineValue(
                        locality=self.values_of,
                        parameter="L",
                        value=1.25,
                        unit="us",
                        uncertainty=0.25,
                        source="lower envelope of 20 messages",
                    )
                ],
                residual_share=0.125,
                deficit_share=self.deficit_share,
                undivided=self.undivided,
                refused=self.refused,
            ),
            layouts=self.layouts,
            quality=self.quality,
            notes=self.notes,
        )

    def tables(self) -> dict[str, pl.LazyFrame]:
        """Every table but the findings, lazily, as the analysis hands them to `find_all`."""
        return {name: frame.lazy() for name, frame in self._tables().items() if name != "findings"}

    def findings(self) -> pl.DataFrame:
        """What is found in it."""
        with self.as_run() as run:
            return find_all(self.tables(), self.manifest(), run)

    def alone(self, finder: Callable[[Evidence], Iterable[Finding]]) -> pl.DataFrame:
        """What one finder finds in it, whatever the others say."""
        with self.as_run() as run:
            evidence = Evidence(self.tables(), self.manifest(), run=run)
            return frame(finder(evidence), evidence.places)

    @contextmanager
    def as_run(self) -> Iterator[Run]:
        """Written as a run without findings, whose program can be replayed."""
        with TemporaryDirectory(prefix="logpost-story-") as folder:
            yield self._write(Path(folder) / "run", None)

    def write(self, path: Path) -> Run:
        """Written as a run, findings included."""
        return self._write(path, self.findings())

    def _write(self, path: Path, findings: pl.DataFrame | None) -> Run:
        with RunWriter(path) as writer:
            if self.has_machine_file:
                values = "".join(f"{name} = {value}\n" for name, value in self.loggp.items())
                writer.write_machine(stated("story", ("us", "us/B", "B"), f"[loggp.same_node]\n{values}"))
            for name, frame in self._tables().items():
                if name != "findings":
                    writer.write(name, frame)
            if findings is not None:
                writer.write("findings", findings)
            return writer.finish(self.manifest())


def evidence_of(finding: dict[str, Any]) -> str:
    """A finding's evidence as people read it."""
    return evidence_text(finding["evidence"])


def _shaped(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    schema = TABLES[name].schema
    return frame.select(schema.names()).cast(dict(schema))  # type: ignore[arg-type]
