"""Small programs as tables, for replays: blocking messages and barriers, one step after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from logpost.replay._native import Program, call_kinds, operations

NONE = -1


@dataclass
class Story:
    """Ranks on separate nodes, or `per_node` on each; times in picoseconds. Calls are of a callpath by kind."""

    ranks: int
    per_node: int = 1
    calls: list[list[tuple[int, int, int]]] = field(init=False)
    messages: list[tuple[int, ...]] = field(default_factory=list)
    members: list[tuple[int, ...]] = field(default_factory=list)
    instances: int = 0

    def __post_init__(self) -> None:
        self.calls = [[] for _ in range(self.ranks)]

    def now(self, rank: int) -> int:
        """When the rank's last call ended."""
        return self.calls[rank][-1][2] if self.calls[rank] else 0

    def call(self, rank: int, kind: str, enter: int, leave: int) -> int:
        """The call's number on its rank."""
        self.calls[rank].append((call_kinds().index(kind), enter, leave))
        return len(self.calls[rank]) - 1

    def message(self, sender: int, receiver: int, size: int, gaps: tuple[int, int], lasts: tuple[int, int]) -> None:
        """A blocking send and receive; each after computation of `gaps`, the receive `lasts` behind what it needs."""
        begins = self.now(sender) + gaps[0]
        posts = self.now(receiver) + gaps[1]
        send = self.call(sender, "send", begins, begins + lasts[0])
        receive = self.call(receiver, "receive", posts, max(begins, posts) + lasts[1])
        self.messages.append((sender, receiver, send, receive, size, receive))

    def request(self, sender: int, send: int, receiver: int, post: int, wait: int, size: int) -> None:
        """A message whose receive is posted by one call and completed by another."""
        self.messages.append((sender, receiver, send, wait, size, post))

    def barrier(self, gaps: Sequence[int], lasts: int) -> None:
        """All ranks enter; each leaves `lasts` after the last rank has entered."""
        enters = [self.now(rank) + gap for rank, gap in enumerate(gaps)]
        for rank, enter in enumerate(enters):
            call = self.call(rank, "barrier", enter, max(enters) + lasts)
            self.members.append((self.instances, rank, call, enter, max(enters) + lasts))
        self.instances += 1

    def program(self) -> Program:
        """The program of the steps so far."""
        kinds = len(call_kinds())
        counts = [len(calls) for calls in self.calls]
        before = np.concatenate([[0], np.cumsum(counts)])
        ends = [self.now(rank) for rank in range(self.ranks)]
        rows = [(rank, *call) for rank, calls in enumerate(self.calls) for call in calls]
        calls = np.asarray(rows, dtype=np.int64).reshape(-1, 4)
        messages = np.asarray(self.messages, dtype=np.int64).reshape(-1, 6)
        members = np.asarray(self.members, dtype=np.int64).reshape(-1, 5)
        own = np.arange(self.ranks, dtype=np.int32)
        ints = np.ones(len(members), dtype=np.int32)
        return Program(
            ticks_per_second=10**12,
            length_ps=max(ends),
            callers=np.full(kinds, NONE, dtype=np.int32),
            kinds=list(range(kinds)),
            layouts=[(0, 0, 0)],
            members=[own.tolist()],
            locations={
                "process": own,
                "socket": own,
                "node": own // np.int32(self.per_node),
                "rank": own,
                "accounted": np.ones(self.ranks, dtype=np.uint8),
                "first_ps": np.zeros(self.ranks, dtype=np.int64),
                "last_ps": np.asarray(ends, dtype=np.int64),
            },
            calls={
                "location": calls[:, 0].astype(np.int32),
                "region": calls[:, 1].astype(np.int32),
                "callpath": calls[:, 1].astype(np.int32),
                "enter_ps": calls[:, 2].copy(),
                "leave_ps": calls[:, 3].copy(),
            },
            messages=_messages(messages, before),
            unmatched=_empty("location number call complete_call peer comm tag", "direction", "bytes"),
            collectives={
                "instance": members[:, 0].astype(np.int32),
                "location": members[:, 1].astype(np.int32),
                "comm": 0 * ints,
                "root": NONE * ints,
                "call": (before[members[:, 1]] + members[:, 2]).astype(np.int32),
                "complete_call": (before[members[:, 1]] + members[:, 2]).astype(np.int32),
                "rma_window": NONE * ints,
                "layout": NONE * ints,
                "received_layout": NONE * ints,
                "operation": np.full(len(members), operations().index("Barrier"), dtype=np.uint8),
                "enter_ps": members[:, 3].copy(),
                "leave_ps": members[:, 4].copy(),
                "bytes_sent": np.zeros(len(members), dtype=np.uint64),
                "bytes_received": np.zeros(len(members), dtype=np.uint64),
            },
            transfers=_empty(
                "location target rma_window call complete_call remote_call layout target_layout", "kind", "bytes"
            ),
            epochs={
                **_empty("location peer rma_window begin_call end_call match", "kind lock", ""),
                "acquired_ps": np.zeros(0, dtype=np.int64),
            },
        )


def _messages(messages: np.ndarray, before: np.ndarray) -> dict[str, np.ndarray]:
    sends = before[messages[:, 0]] + messages[:, 2]
    receives = before[messages[:, 1]] + messages[:, 3]
    posts = before[messages[:, 1]] + messages[:, 5]
    numbers = np.zeros((len(messages), 2), dtype=np.int32)
    for side, begun in ((0, 2), (1, 5)):
        for rank in np.unique(messages[:, side]):
            mine = np.flatnonzero(messages[:, side] == rank)
            numbers[mine[np.argsort(messages[mine, begun], kind="stable")], side] = np.arange(len(mine))
    columns = {
        "send_location": messages[:, 0],
        "recv_location": messages[:, 1],
        "comm": 0 * sends,
        "tag": 0 * sends,
        "layout": 0 * sends,
        "send_call": sends,
        "send_complete_call": sends,
        "recv_post_call": posts,
        "recv_call": receives,
        "send_number": numbers[:, 0],
        "recv_number": numbers[:, 1],
    }
    sizes = messages[:, 4].astype(np.uint64)
    return {**{name: one.astype(np.int32) for name, one in columns.items()}, "bytes": sizes, "recv_bytes": sizes}


def _empty(ints: str, bytes_: str, longs: str) -> dict[str, np.ndarray]:
    kinds = ((ints, np.int32), (bytes_, np.uint8), (longs, np.uint64))
    return {name: np.zeros(0, dtype=kind) for names, kind in kinds for name in names.split()}
