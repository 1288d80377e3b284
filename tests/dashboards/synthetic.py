"""Runs made in code: a stencil with a hot receiver whose every time follows from the constants below.

Per iteration each rank r computes `COMPUTE_PS + r * SKEW_PS`, sends to its right neighbour, receives from its left one,
sends a block to rank 0 (rank 0 receives them in order of arrival through a NIC that serves one at a time), and joins
an allreduce. Every part is a length of a segment on the time axis, so sums hold exactly.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from logpost.analyzer.manifest import (
    Clock,
    Hosts,
    MachineUsed,
    MachineValue,
    Manifest,
    QualityCount,
    Source,
    Windows,
)
from logpost.analyzer.run import Run, RunWriter
from logpost.analyzer.schema import CATEGORIES, LOCALITIES, PARTS, PROTOCOLS, TABLES

US = 1_000_000
COMPUTE_PS, SKEW_PS = 400 * US, 5 * US
SEND_PS, LATENCY_PS, WIRE_PS, RECV_PS, COLLECTIVE_PS = 2 * US, 3 * US, 8 * US, 2 * US, 12 * US
INIT_PS = 150 * US
HALO_BYTES, BLOCK_BYTES = 8192, 65536


@dataclass
class Names:
    """What the trace calls things; tests put hostile text here."""

    anchor: str = "em3d_original_4/traces.otf2"
    host: str = "node"
    regions: tuple[str, ...] = ("main", "exchange", "MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Init")
    comm: str = "MPI_COMM_WORLD"
    machine: str = "estimated"
    label: str = "estimated from this trace"
    location: str = "Master thread"
    finding: dict[str, str] = field(default_factory=dict)


class Recorder:
    """Collects calls, their labelled segments and messages of the simulated ranks."""

    def __init__(self) -> None:
        self.calls: list[dict[str, int]] = []
        self.segments: list[tuple[int, int, int, str]] = []
        self.messages: list[dict[str, Any]] = []
        self.collectives: list[dict[str, Any]] = []

    def call(self, rank: int, enter: int, leave: int, region: int, parts: list[tuple[int, int, str]]) -> None:
        """One call; `parts` are (begin, end, category) and are clipped to it. What they leave open is residual."""
        row = {"location": rank, "enter_ps": enter, "leave_ps": leave, "region": region, "callpath": region}
        row |= {f"{category}_ps": 0 for category in CATEGORIES[1:]}
        at = enter
        for begin, end, category in sorted(parts):
            begin, end = max(begin, at), min(end, leave)
            if end <= begin:
                continue
            if begin > at:
                self._segment(row, rank, at, begin, "residual")
            self._segment(row, rank, begin, end, category)
            at = end
        if at < leave:
            self._segment(row, rank, at, leave, "residual")
        self.calls.append(row)

    def _segment(self, row: dict[str, int], rank: int, begin: int, end: int, category: str) -> None:
        row[f"{category}_ps"] += end - begin
        self.segments.append((rank, begin, end, category))


def simulate(ranks: int, iterations: int, messages: bool) -> tuple[Recorder, int]:
    """The recorded calls, and the end of the trace."""
    out = Recorder()
    now = [INIT_PS] * ranks
    for r in range(ranks):
        out.call(r, 0, INIT_PS, 5, [(0, INIT_PS, "mpi_other")])
    for iteration in range(iterations):
        ready = [now[r] + COMPUTE_PS + r * SKEW_PS for r in range(ranks)]
        if messages and ranks > 1:
            ready = _halo(out, ready)
            ready = _gather(out, ready)
        last = max(ready)
        for r in range(ranks):
            parts = [(ready[r], last, "collective_wait"), (last, last + COLLECTIVE_PS, "collective")]
            out.call(r, ready[r], last + COLLECTIVE_PS, 4, parts)
            out.collectives.append(
                {
                    "instance": iteration,
                    "location": r,
                    "comm": 0,
                    "root": -1,
                    "callpath": 4,
                    "operation": "Allreduce",
                    "enter_ps": ready[r],
                    "leave_ps": last + COLLECTIVE_PS,
                    "wait_ps": last - ready[r],
                    "bytes_sent": 8,
                    "bytes_received": 8,
                }
            )
        now = [last + COLLECTIVE_PS] * ranks
    return out, now[0]


def _halo(out: Recorder, ready: list[int]) -> list[int]:
    n = len(ready)
    for r in range(n):
        out.call(r, ready[r], ready[r] + SEND_PS, 2, [(ready[r], ready[r] + SEND_PS, "send_overhead")])
    done = []
    for r in range(n):
        left = (r - 1) % n
        done.append(_receive(out, left, r, ready[left], ready[r] + SEND_PS, 0, HALO_BYTES, WIRE_PS // 8))
    return done


def _gather(out: Recorder, ready: list[int]) -> list[int]:
    n = len(ready)
    after = list(ready)
    free, at = 0, ready[0]
    for r in sorted(range(1, n), key=lambda r: (ready[r], r)):
        out.call(r, ready[r], ready[r] + SEND_PS, 2, [(ready[r], ready[r] + SEND_PS, "send_overhead")])
        after[r] = ready[r] + SEND_PS
        arrival = ready[r] + SEND_PS + LATENCY_PS
        queued = max(0, free - arrival)
        free = arrival + queued + WIRE_PS
        at = _receive(out, r, 0, ready[r], at, queued, BLOCK_BYTES, WIRE_PS)
    after[0] = at
    return after


def _receive(
    out: Recorder, sender: int, receiver: int, sent: int, enter: int, queued: int, size: int, wire: int
) -> int:
    """A receive of a message sent at `sent`; returns when it is left."""
    t = sent
    plan = []
    for length, category in (
        (SEND_PS, "send_overhead"),
        (LATENCY_PS, "latency"),
        (queued, "endpoint_contention"),
        (wire, "serialization"),
    ):
        plan.append((t, t + length, category))
        t += length
    leave = max(enter, t) + RECV_PS
    parts = [*plan, (enter, sent, "late_sender"), (leave - RECV_PS, leave, "recv_overhead")]
    out.call(receiver, enter, leave, 3, [p for p in parts if p[1] > p[0]])
    row: dict[str, Any] = dict.fromkeys((f"{part}_ps" for part in PARTS), 0)
    row |= {f"{category}_ps": end - begin for begin, end, category in plan}
    row["late_sender_ps"] = max(0, sent - enter)
    row["late_receiver_ps"] = max(0, enter - t)
    row["recv_overhead_ps"] = RECV_PS
    row |= {
        "send_location": sender,
        "recv_location": receiver,
        "comm": 0,
        "tag": 1,
        "bytes": size,
        "protocol": PROTOCOLS[0],
        "locality": LOCALITIES[3],
        "layout": -1,
        "send_callpath": 2,
        "recv_callpath": 3,
        "send_enter_ps": sent,
        "send_leave_ps": sent + SEND_PS,
        "send_complete_ps": sent + SEND_PS,
        "recv_post_ps": enter,
        "recv_enter_ps": enter,
        "recv_leave_ps": leave,
        "envelope_ps": leave - min(sent, enter),
        "deficit_ps": 0,
        "clock_violation": False,
    }
    assert sum(row[f"{part}_ps"] for part in PARTS) == row["envelope_ps"]
    out.messages.append(row)
    return leave


def make_run(
    path: Path,
    *,
    ranks: int = 4,
    iterations: int = 12,
    windows: int = 64,
    messages: bool = True,
    names: Names | None = None,
    oversubscribed: bool | None = False,
    skew: bool = True,
) -> Run:
    """Simulate and write a run; every table is filled and every sum of the accounting holds."""
    names = names or Names()
    out, end = simulate(ranks, iterations, messages)
    width = -(-end // windows)
    per_node = ranks if oversubscribed else max(1, -(-ranks // 4))
    nodes = -(-ranks // per_node)
    frames = _definitions(names, ranks, per_node, end)
    frames["calls"] = pl.DataFrame(out.calls)
    frames["accounting"] = _accounting(out.segments, ranks, end, width)
    frames["exposure"] = _exposure(out.calls)
    frames["profile"] = frames["calls"].group_by("callpath", "location").agg(
        pl.len().alias("visits"), (pl.col("leave_ps") - pl.col("enter_ps")).sum().alias("inclusive_ps")
    ).with_columns(pl.col("inclusive_ps").alias("exclusive_ps"))  # fmt: skip
    frames["collectives"] = pl.DataFrame(out.collectives)
    if out.messages:
        table = pl.DataFrame(out.messages).with_columns((pl.col("send_enter_ps") // width).alias("window"))
        frames["messages"] = table
        times = ["envelope_ps", *(f"{part}_ps" for part in PARTS), "deficit_ps"]
        frames["pairs"] = table.group_by("send_location", "recv_location").agg(
            pl.len().alias("messages"), pl.col("bytes", *times).sum()
        )
        frames["load"] = _load(table, width)
    frames["wait_states"] = _wait_states(frames["calls"])
    frames["findings"] = _findings(names, frames["wait_states"], end)
    with RunWriter(path, force=True) as writer:
        for name, table in TABLES.items():
            writer.write(name, frames.get(name, table.empty()))
        return writer.finish(_manifest(names, ranks, nodes, per_node, end, windows, width, out, oversubscribed))


def _definitions(names: Names, ranks: int, per_node: int, end: int) -> dict[str, pl.DataFrame]:
    locations = [
        {
            "location": r,
            "rank": r,
            "node": r // per_node,
            "name": names.location,
            "group": f"MPI Rank {r}",
            "host": f"{names.host}{r // per_node:02d}",
            "kind": "cpu",
            "ref": r,
            "accounted": True,
            "first_ps": 0,
            "last_ps": end,
            "wall_ps": end,
            "events": 100,
            "communication_events": 80,
        }
        for r in range(ranks)
    ]
    regions = [
        {"region": i, "line": 10 * i, "name": name, "file": "em3d.c", "kind": "user" if i < 2 else "mpi"}
        for i, name in enumerate(names.regions)
    ]
    paths = [names.regions[0], " / ".join(names.regions[:2])]
    paths += [f"{paths[1]} / {name}" for name in names.regions[2:]]
    callpaths = [
        {"callpath": i, "parent": min(i - 1, 1), "region": i, "depth": min(i, 2), "path": path}
        for i, path in enumerate(paths)
    ]
    comms = [{"comm": 0, "parent": -1, "size": ranks, "name": names.comm, "ref": 0}]
    return {
        "locations": pl.DataFrame(locations),
        "regions": pl.DataFrame(regions),
        "callpaths": pl.DataFrame(callpaths),
        "communicators": pl.DataFrame(comms),
    }


def _accounting(segments: list[tuple[int, int, int, str]], ranks: int, end: int, width: int) -> pl.DataFrame:
    cells: dict[tuple[int, int, str], int] = defaultdict(int)
    inside: dict[tuple[int, int], int] = defaultdict(int)
    for rank, begin, stop, category in segments:
        at = begin
        while at < stop:
            window = at // width
            upto = min(stop, (window + 1) * width)
            cells[rank, window, category] += upto - at
            inside[rank, window] += upto - at
            at = upto
    for rank in range(ranks):
        for window in range(-(-end // width)):
            compute = min(end, (window + 1) * width) - window * width - inside[rank, window]
            assert compute >= 0
            if compute:
                cells[rank, window, "compute"] = compute
    rows = [(r, w, c, t) for (r, w, c), t in sorted(cells.items())]
    return pl.DataFrame(rows, schema=["location", "window", "category", "exposed_ps"], orient="row")


def _exposure(calls: list[dict[str, int]]) -> pl.DataFrame:
    frame = pl.DataFrame(calls)
    counts = frame.group_by("location", "callpath").agg(pl.len().alias("calls"))
    long = frame.unpivot(
        on=[f"{category}_ps" for category in CATEGORIES[1:]],
        index=["location", "callpath"],
        variable_name="category",
        value_name="exposed_ps",
    )
    return (
        long.with_columns(pl.col("category").str.strip_suffix("_ps"))
        .group_by("location", "callpath", "category")
        .agg(pl.col("exposed_ps").sum())
        .filter(pl.col("exposed_ps") > 0)
        .join(counts, on=["location", "callpath"])
        .sort("location", "callpath", "category")
    )


def _load(messages: pl.DataFrame, width: int) -> pl.DataFrame:
    sides = []
    for direction, own, peer, at in (
        ("send", "send_location", "recv_location", "send_enter_ps"),
        ("recv", "recv_location", "send_location", "recv_leave_ps"),
    ):
        sides.append(
            messages.with_columns((pl.col(at) // width).cast(pl.Int32).alias("window"))
            .group_by(pl.col(own).alias("location"), "window")
            .agg(
                pl.lit(direction).alias("direction"),
                pl.len().alias("messages"),
                pl.col("bytes").sum(),
                pl.col(peer).n_unique().alias("peers"),
                pl.col("serialization_ps").sum().alias("busy_ps"),
                (pl.col("endpoint_contention_ps") * (direction == "recv")).sum().alias("queued_ps"),
            )
        )
    return pl.concat(sides).sort("location", "direction", "window")


def _wait_states(calls: pl.DataFrame) -> pl.DataFrame:
    rows = [
        calls.filter(pl.col(column) > 0)
        .group_by("location")
        .agg(
            pl.lit(pattern).alias("pattern"),
            (pl.col(column).sum() // 1000).alias("wait_ticks"),
            pl.len().alias("count"),
        )
        for pattern, column in (("late_sender", "late_sender_ps"), ("wait_at_nxn", "collective_wait_ps"))
    ]
    return pl.concat(rows).sort("location", "pattern")


def _findings(names: Names, waits: pl.DataFrame, end: int) -> pl.DataFrame:
    base: dict[str, Any] = {
        "ranks": "0",
        "region": names.regions[3],
        "cause_region": "",
        "callpath": 3,
        "first_window": 0,
        "last_window": 9,
    }
    rows = [
        {
            **base,
            "kind": "hot_receiver",
            "title": f"Rank 0 receives from every other rank at once in {names.regions[3]}",
            "evidence": "its NIC was busy 71 % of the busiest windows; others 4 % on average",
            "advice": "spread the order of the sends, so that no two ranks start with the same receiver",
            "confidence": "high: seen in all 12 iterations",
            "exposed_ps": end // 9,
            "share": 1 / 9,
        },
        {
            **base,
            "kind": "load_imbalance",
            "title": f"Later ranks compute longer than earlier ones before {names.regions[4]}",
            "ranks": "0-2",
            "region": names.regions[4],
            "cause_region": names.regions[1],
            "evidence": "the slowest rank computes 31 % longer than the mean",
            "advice": "give each rank the same work",
            "confidence": "medium: waits also contain scheduling",
            "exposed_ps": end // 23,
            "share": 1 / 23,
        },
    ]
    return pl.DataFrame([{**row, **names.finding} for row in rows])


def _manifest(
    names: Names,
    ranks: int,
    nodes: int,
    per_node: int,
    end: int,
    windows: int,
    width: int,
    out: Recorder,
    oversubscribed: bool | None,
) -> Manifest:
    def value(letter: str, number: float, unit: str, upto: int | None, give: float | None) -> MachineValue:
        return MachineValue(
            locality="other_node",
            parameter=letter,
            up_to_bytes=upto,
            value=number,
            unit=unit,
            uncertainty=give,
            source="lower envelope of 96 messages of this trace",
        )

    return Manifest(
        tool_version="0.1.0",
        source=Source(anchor=names.anchor, bytes=123_456, properties={}),
        clock=Clock(ticks_per_second=1_000_000_000, length_ps=end),
        ranks=ranks,
        locations=ranks,
        events=100 * ranks,
        communication_events=2 * len(out.calls),
        messages=len(out.messages),
        paradigms=["MPI"],
        hosts=Hosts(
            nodes=nodes,
            ranks_per_node=[min(per_node, ranks - i * per_node) for i in range(nodes)],
            cores_per_node=[2 if oversubscribed else 64] * nodes,
            oversubscribed=oversubscribed,
        ),
        windows=Windows(count=windows, width_ps=width),
        machine=MachineUsed(
            name=names.machine,
            origin="estimated",
            label=names.label,
            values=[
                value("L", 3e6, "ps", None, 2e5),
                value("o_s", 2e6, "ps", None, None),
                value("G", 122, "ps/B", 65536, 4),
                value("eager_limit", 4096, "B", None, None),
            ],
            residual_share=0.031,
            deficit_share=0.004,
            notes=["No arrival stamps: network contention behind a late receiver cannot be told from lateness."],
        ),
        quality=[
            QualityCount(
                name="clock_violations",
                severity="error",
                blame="trace",
                count=3,
                sentence="messages that arrived before they were sent, even with the archive's clock offsets",
            ),
            QualityCount(
                name="unmatched_sends", severity="info", blame="trace", count=0, sentence="sends without a partner"
            ),
        ],
        notes=["Network contention is not split yet: it is 0 here and part of the residual."],
    )
