"""A stencil with a hot receiver, written as a `Story`; each of its times follows from the constants below.

Per iteration each rank r computes `COMPUTE_PS + r * SKEW_PS`, sends to its right neighbour, receives from its left one,
sends a block to rank 0 (rank 0 receives them in order of arrival through a NIC that serves one at a time), and joins
an allreduce. Names and findings are data, so that tests can put hostile text there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from tests.analyzer.story import US, Story

from logpost.analyzer.run.directory import Run
from logpost.analyzer.run.manifest import Clock, Hosts, MachineUsed, MachineValue, Manifest, QualityCount, Source

COMPUTE_PS, SKEW_PS = 400 * US, 5 * US
SEND_PS, LATENCY_PS, WIRE_PS, RECV_PS, COLLECTIVE_PS = 2 * US, 3 * US, 8 * US, 2 * US, 12 * US
INIT_PS = 150 * US
HALO_BYTES, BLOCK_BYTES = 8192, 65536
MAIN, EXCHANGE, SEND, RECV, ALLREDUCE, INIT = range(6)
"""Regions and callpaths, by their ids; `Names.regions` says what they are called."""


def _kind(region: int) -> str:
    return "init_finalize" if region == INIT else "user" if region < SEND else "mpi"


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
    finding: dict[str, Any] = field(default_factory=dict)


class Stencil(Story):
    """A story whose places, machine and findings are those of `names`."""

    def __init__(
        self, names: Names, ranks: int, length: int, windows: int, *, per_node: int, oversubscribed: bool | None
    ) -> None:
        super().__init__(ranks, length, windows)
        self.has_machine_file = False
        self.names, self.per_node = names, per_node
        nodes = -(-ranks // per_node)
        self.hosts = Hosts(
            nodes=nodes,
            ranks_per_node=[min(per_node, ranks - i * per_node) for i in range(nodes)],
            cores_per_node=[2 if oversubscribed else 64] * nodes,
            oversubscribed=oversubscribed,
        )
        self.program = dict.fromkeys(range(ranks), (INIT_PS, length))
        paths = [names.regions[MAIN], " / ".join(names.regions[: EXCHANGE + 1])]
        paths += [f"{paths[EXCHANGE]} / {name}" for name in names.regions[SEND:]]
        # Not by `path`: different regions may bear one name.
        self.callpath_rows = [
            {
                "callpath": i,
                "parent": min(i - 1, 1),
                "region": i,
                "depth": min(i, 2),
                "line": 0,
                "path": path,
                "file": "",
            }
            for i, path in enumerate(paths)
        ]
        self.rows["communicators"].append({"comm": 0, "parent": -1, "size": ranks, "name": names.comm, "ref": 0})

    def _tables(self) -> dict[str, pl.DataFrame]:
        frames = super()._tables()
        schema = frames["regions"].schema
        frames["regions"] = pl.DataFrame(
            [
                {"region": i, "line": 10 * i, "name": name, "file": "em3d.c", "kind": _kind(i)}
                for i, name in enumerate(self.names.regions)
            ],
            schema=schema,
        )
        node = pl.col("rank") // self.per_node
        host = pl.lit(self.names.host) + node.cast(pl.String).str.zfill(2)
        frames["locations"] = frames["locations"].with_columns(
            node=node.cast(pl.Int32), host=host, name=pl.lit(self.names.location)
        )
        return frames

    def findings(self) -> pl.DataFrame:
        """A hot receiver and a load imbalance, in the order of what they gain."""
        names, end = self.names, self.length
        base: dict[str, Any] = {
            "ranks": [0],
            "threads": [],
            "region": names.regions[RECV],
            "cause_region": "",
            "callpath": RECV,
            "first_window": 0,
            "last_window": 9,
            "gain_low": None,
            "gain_high": None,
            "path_share": None,
        }
        rows = [
            {
                **base,
                "kind": "hot_receiver",
                "title": f"Rank 0 receives from every other rank at once in {names.regions[RECV]}",
                "evidence": [
                    {"name": "its NIC was busy", "value": 71.0, "unit": "% of the busiest windows"},
                    {"name": "others on average", "value": 4.0, "unit": "%"},
                ],
                "advice": "spread the order of the sends, so that no two ranks start with the same receiver",
                "confidence": 1.0,
                "certainty": "seen in all 12 iterations",
                "exposed_ps": end // 9,
                "share": 1 / 9,
                "gain": 1 / 9,
            },
            {
                **base,
                "kind": "load_imbalance",
                "title": f"Later ranks compute longer than earlier ones before {names.regions[ALLREDUCE]}",
                "ranks": [0, 1, 2],
                "threads": [],
                "region": names.regions[ALLREDUCE],
                "cause_region": names.regions[EXCHANGE],
                "evidence": [{"name": "the slowest rank computes longer than the mean by", "value": 31.0, "unit": "%"}],
                "advice": "give each rank the same work",
                "confidence": 0.75,
                "certainty": "waits also contain scheduling",
                "exposed_ps": end // 23,
                "share": 1 / 23,
                "gain": 1 / 23,
            },
        ]
        return pl.DataFrame([{**row, **names.finding} for row in rows])

    def manifest(self) -> Manifest:
        """With an estimated machine of four values and a counted oddity."""
        names = self.names

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
            clock=Clock(ticks_per_second=1_000_000_000, length_ps=self.length),
            ranks=self.ranks,
            locations=self.ranks,
            events=100 * self.ranks,
            communication_events=2 * len(self.rows["calls"]),
            messages=len(self.rows["messages"]),
            paradigms=["MPI"],
            hosts=self.hosts,
            windows=self.windows,
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
                notes=["No arrival stamps: network contention behind a late receiver counts as lateness."],
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


Act = Callable[[Stencil], object]


class Plan:
    """The calls of the ranks, one after another; written to a story once its length is known."""

    def __init__(self, ranks: int, iterations: int, messages: bool) -> None:
        self.acts: list[Act] = []
        self.lengths: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.waits: dict[tuple[int, str], list[int]] = defaultdict(list)
        now = [INIT_PS] * ranks
        for r in range(ranks):
            self._call(r, 0, INIT_PS, INIT, mpi_other=INIT_PS)
        for _ in range(iterations):
            ready = [now[r] + COMPUTE_PS + r * SKEW_PS for r in range(ranks)]
            if messages and ranks > 1:
                ready = self._gather(self._halo(ready))
            now = [self._allreduce(ready)] * ranks
        self.end = now[0]

    def _call(self, rank: int, enter: int, leave: int, path: int, **parts: int) -> None:
        self.lengths[path, rank].append(leave - enter)
        self.acts.append(lambda story: story.call(rank, enter, leave, path, **parts))

    def _send(self, rank: int, enter: int) -> None:
        self._call(rank, enter, enter + SEND_PS, SEND, send_overhead=SEND_PS)

    def _allreduce(self, ready: list[int]) -> int:
        last = max(ready)
        for r, enter in enumerate(ready):
            self.lengths[ALLREDUCE, r].append(last + COLLECTIVE_PS - enter)
            if enter < last:
                self.waits[r, "wait_at_nxn"].append(last - enter)
        members = {r: (enter, last + COLLECTIVE_PS) for r, enter in enumerate(ready)}
        self.acts.append(lambda story: story.collective(ALLREDUCE, "Allreduce", members))
        return last + COLLECTIVE_PS

    def _halo(self, ready: list[int]) -> list[int]:
        n = len(ready)
        for r in range(n):
            self._send(r, ready[r])
        return [
            self._receive((r - 1) % n, r, ready[(r - 1) % n], ready[r] + SEND_PS, 0, HALO_BYTES, WIRE_PS // 8)
            for r in range(n)
        ]

    def _gather(self, ready: list[int]) -> list[int]:
        after = list(ready)
        free, at = 0, ready[0]
        for r in sorted(range(1, len(ready)), key=lambda r: (ready[r], r)):
            self._send(r, ready[r])
            after[r] = ready[r] + SEND_PS
            arrival = ready[r] + SEND_PS + LATENCY_PS
            queued = max(0, free - arrival)
            free = arrival + queued + WIRE_PS
            at = self._receive(r, 0, ready[r], at, queued, BLOCK_BYTES, WIRE_PS)
        after[0] = at
        return after

    def _receive(self, sender: int, receiver: int, sent: int, enter: int, queued: int, size: int, wire: int) -> int:
        """A receive of a message sent at `sent`; returns when it is left."""
        plan = {
            "send_overhead": SEND_PS,
            "latency": LATENCY_PS,
            "endpoint_contention": queued,
            "serialization": wire,
        }
        arrived = sent + sum(plan.values())
        leave = max(enter, arrived) + RECV_PS
        late = max(0, sent - enter)
        # The part of the message within the call: its lateness, the plan from the enter on, the overhead.
        inside = {"late_sender": late}
        at = sent
        for part, length in plan.items():
            inside[part] = max(0, at + length - max(at, enter))
            at += length
        inside["recv_overhead"] = RECV_PS
        self._call(receiver, enter, leave, RECV, **{part: time for part, time in inside.items() if time})
        if late:
            self.waits[receiver, "late_sender"].append(late)
        parts: dict[str, Any] = {
            "late_sender": late,
            **plan,
            "late_receiver": max(0, enter - arrived),
            "recv_overhead": RECV_PS,
        }
        self.acts.append(
            lambda story: story.message(
                *(sender, receiver, size, (sent, sent + SEND_PS), (enter, leave), (SEND, RECV)), service=wire, **parts
            )
        )
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
) -> Run:
    """Simulate and write a run; every table is filled and every sum of the accounting holds."""
    plan = Plan(ranks, iterations, messages)
    per_node = ranks if oversubscribed else max(1, -(-ranks // 4))
    story = Stencil(names or Names(), ranks, plan.end, windows, per_node=per_node, oversubscribed=oversubscribed)
    for act in plan.acts:
        act(story)
    for (callpath, rank), lengths in sorted(plan.lengths.items()):
        story.user(rank, callpath, sum(lengths), visits=len(lengths))
    for (rank, pattern), waits in sorted(plan.waits.items()):
        story.wait_state(rank, pattern, sum(waits), len(waits))
    return story.write(path)
