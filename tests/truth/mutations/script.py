"""A program as a list of operations per region and rank, and the C source that plays it by real MPI calls.

The regions are functions, so recordings show them under their names. Computation varies by a seeded share of +-`noise`
per operation, rank and iteration, equally in a program and in its mutations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

PLAYER = Path(__file__).with_name("player.c")
CALLS = {
    "SEND": "MPI_Send",
    "SSEND": "MPI_Ssend",
    "RECV": "MPI_Recv",
    "ISEND": "MPI_Isend",
    "ISSEND": "MPI_Issend",
    "IRECV": "MPI_Irecv",
    "WAITALL": "MPI_Waitall",
    "WAIT_RECEIVE": "MPI_Wait",
    "BARRIER": "MPI_Barrier",
    "ALLREDUCE": "MPI_Allreduce",
    "BCAST": "MPI_Bcast",
    "LOCK": "MPI_Win_lock",
    "UNLOCK": "MPI_Win_unlock",
    "STRIDED_SEND": "MPI_Send",
}
KINDS = ("COMPUTE", *CALLS)
SENDS = ("SEND", "SSEND", "ISEND", "ISSEND", "STRIDED_SEND")
RECEIVES = ("RECV", "IRECV")
EAGER = 4096
"""Bytes beyond which some machine that programs run on sends synchronously (`machine.py`)."""
COLLECTIVES = ("BARRIER", "ALLREDUCE", "BCAST")


@dataclass(frozen=True)
class Op:
    """One operation of a rank, in the iterations whose number modulo `every` is `phase`."""

    kind: str
    peer: int = 0
    """The other rank; the root of a broadcast; the owner of a lock."""
    size: int = 0
    """Bytes."""
    tag: int = 0
    us: float = 0.0
    """Of a computation."""
    key: int = 0
    """Selects the noise of a computation; a mutation that moves it keeps it."""
    every: int = 1
    phase: int = 0


Lists = tuple[tuple[Op, ...], ...]


@dataclass(frozen=True)
class Region:
    """A function and the operations of each rank in it."""

    name: str
    ops: Lists


@dataclass(frozen=True)
class Program:
    """Regions, called one after another in each iteration."""

    name: str
    iterations: int
    regions: tuple[Region, ...]
    seed: int
    noise: float = 0.05

    @property
    def ranks(self) -> int:
        """How many ranks it has."""
        return len(self.regions[0].ops)

    def with_region(self, index: int, ops: Lists) -> Program:
        """The program with other operations in one region."""
        regions = list(self.regions)
        regions[index] = replace(regions[index], ops=ops)
        return replace(self, regions=tuple(regions))

    def of(self, rank: int, iteration: int) -> Iterator[Op]:
        """What a rank does in an iteration."""
        for region in self.regions:
            for op in region.ops[rank]:
                if iteration % op.every == op.phase:
                    yield op


def source(program: Program) -> str:
    """One C file: the operations as tables, a function a region, and the player."""
    assert all(re.fullmatch(r"[a-z_]+", region.name) for region in program.regions)
    lines = [
        f"#define RANKS {program.ranks}",
        f"#define ITERATIONS {program.iterations}",
        f"#define NOISE {program.noise!r}",
        f"#define SEED {program.seed}u",
        f"#define LOCKS {int(any(op.kind == 'LOCK' for one in program.regions for ops in one.ops for op in ops))}",
        f"enum kind {{ {', '.join(KINDS)} }};",
        "struct op { enum kind kind; int peer, size, tag, every, phase; double us; unsigned key; };",
        "struct list { const struct op* ops; int count; };",
    ]
    for number, region in enumerate(program.regions):
        for rank, ops in enumerate(region.ops):
            rows = ", ".join(
                f"{{{op.kind}, {op.peer}, {op.size}, {op.tag}, {op.every}, {op.phase}, {op.us!r}, {op.key}u}}"
                for op in ops
            )
            if ops:
                lines.append(f"static const struct op ops_{number}_{rank}[] = {{{rows}}};")
        lists = ", ".join(
            f"{{ops_{number}_{rank}, {len(ops)}}}" if ops else "{0, 0}" for rank, ops in enumerate(region.ops)
        )
        lines.append(f"static const struct list lists_{number}[RANKS] = {{{lists}}};")
    player = PLAYER.read_text()
    calls = "\n".join(
        f"__attribute__((noinline)) static void {region.name}(int iteration) {{ play(&lists_{number}[rank], iteration);"
        ' __asm__ volatile(""); }'
        for number, region in enumerate(program.regions)
    )
    body = " ".join(f"{region.name}(iteration);" for region in program.regions)
    return "\n".join(
        (*lines, player.replace("/* REGIONS */", calls).replace("/* ITERATION */", body)),
    )


def unmatched(program: Program) -> list[str]:
    """What keeps a program from ending: messages without a receive, collective operations that differ between ranks,
    or ranks that wait for each other. Eager sends never wait here; larger and synchronous ones wait for their
    receive."""
    problems = []
    period = min(program.iterations, 12)
    for iteration in range(period):
        lists = [list(program.of(rank, iteration)) for rank in range(program.ranks)]
        sent = Counter(
            (rank, op.peer, op.tag, op.size) for rank, ops in enumerate(lists) for op in ops if op.kind in SENDS
        )
        received = Counter(
            (op.peer, rank, op.tag, op.size) for rank, ops in enumerate(lists) for op in ops if op.kind in RECEIVES
        )
        problems += [f"iteration {iteration}: {one}" for one in (sent - received) + (received - sent)]
        together = [[(op.kind, op.peer, op.size) for op in ops if op.kind in COLLECTIVES] for ops in lists]
        if any(one != together[0] for one in together):
            problems.append(f"iteration {iteration}: collective operations differ")
        if not problems:
            problems += _stuck(lists, iteration)
    return problems


def _stuck(lists: list[list[Op]], iteration: int) -> list[str]:
    """Ranks that never reach the end of an iteration."""
    at = [0] * len(lists)
    posted: Counter[tuple[int, int, int]] = Counter()
    sent: Counter[tuple[int, int, int]] = Counter()
    pending: list[list[tuple[str, tuple[int, int, int], int]]] = [[] for _ in lists]
    entered: set[int] = set()
    holder: int | None = None
    begun: set[int] = set()
    moved = True
    while moved:
        moved = False
        for rank, ops in enumerate(lists):
            while at[rank] < len(ops):
                op = ops[at[rank]]
                out, back = (rank, op.peer, op.tag), (op.peer, rank, op.tag)
                if rank not in begun:  # its effect on others, once
                    if op.kind in SENDS:
                        sent[out] += 1
                    if op.kind in RECEIVES:
                        posted[back] += 1
                    if op.kind in ("SSEND", "ISSEND") or (op.kind in SENDS and op.size > EAGER):
                        pending[rank].append(("posted", out, sent[out]))
                    if op.kind in RECEIVES:
                        pending[rank].append(("sent", back, posted[back]))
                    if op.kind in COLLECTIVES:
                        entered.add(rank)
                    begun.add(rank)
                blocks = op.kind in ("SSEND", "RECV") or (op.kind in ("SEND", "STRIDED_SEND") and op.size > EAGER)
                if blocks:
                    due = pending[rank][-1:]
                elif op.kind == "WAITALL":
                    due = pending[rank]
                elif op.kind == "WAIT_RECEIVE":
                    due = [one for one in pending[rank] if one[:2] == ("sent", back)][:1]
                else:
                    due = []
                if any((posted if which == "posted" else sent)[channel] < count for which, channel, count in due):
                    break
                if op.kind in COLLECTIVES and rank in entered:
                    if len(entered) < len(lists):
                        break
                    for other in range(len(lists)):  # all are in it: all leave
                        at[other] += 1
                        begun.discard(other)
                    entered.clear()
                    moved = True
                    continue
                if op.kind == "LOCK":
                    if holder is not None:
                        break
                    holder = rank
                if op.kind == "UNLOCK":
                    holder = None
                if blocks:
                    pending[rank].pop()
                elif due:
                    pending[rank] = [one for one in pending[rank] if one not in due]
                at[rank] += 1
                begun.discard(rank)
                moved = True
    return [
        f"iteration {iteration}: rank {rank} never ends {ops[at[rank]].kind}"
        for rank, ops in enumerate(lists)
        if at[rank] < len(ops)
    ] + [
        f"iteration {iteration}: rank {rank} leaves a request behind"
        for rank, left in enumerate(pending)
        if left and at[rank] == len(lists[rank])
    ]
