"""Losses that are put into a program, at random: each is a change that a programmer might have made.

The list was written before the cures and without the kinds of findings. A mutation returns nothing where a program has
no place for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random

from tests.truth.expected import Expected

from .script import CALLS, RECEIVES, SENDS, Lists, Op, Program

SOME_COMPUTE = ("balance", "faster ranks", "send earlier")
SYNCHRONOUS = {"SEND": "SSEND", "ISEND": "ISSEND"}
OWN_TAG = 1000
"""Tags of inserted messages; programs have smaller ones."""


@dataclass(frozen=True)
class Loss:
    """What was put in, where, and what a first finding about it must say."""

    name: str
    region: str
    expected: Expected

    def is_like(self, other: Loss) -> bool:
        """Whether both are the same change; calls of a region may differ where it has another loss, too."""
        mine, its = (replace(one.expected, place=()) for one in (self, other))
        return (self.name, self.region, mine) == (other.name, other.region, its)

    def of(self, program: Program) -> Loss:
        """The same loss in a program with another one, too, where calls of its region may differ."""
        return replace(self, expected=replace(self.expected, place=_place(program, self.region)))


Mutated = tuple[Program, Loss]


def delay(program: Program, rng: Random) -> Mutated | None:
    """One rank computes longer in a region."""
    found = _choose(program, rng, "COMPUTE")
    if found is None:
        return None
    index, rank = found, rng.randrange(program.ranks)
    extra = Op("COMPUTE", us=rng.uniform(0.15, 0.6) * _compute_us(program, rank), key=101)
    lists = _edit(program, index, lambda one, ops: _behind_first(ops, "COMPUTE", extra) if one == rank else ops)
    cause = ("imbalance", "balance", "slow", "more (work|time)", "late sender", "computes longer")
    return _mutated(program, index, lists, "delay", cause, SOME_COMPUTE, {rank})


def late_every_kth(program: Program, rng: Random) -> Mutated | None:
    """One rank sends late in each k-th iteration."""
    found = _choose(program, rng, *SENDS)
    if found is None:
        return None
    index = found
    senders = [rank for rank, ops in enumerate(program.regions[index].ops) if any(op.kind in SENDS for op in ops)]
    rank, every = rng.choice(senders), rng.randint(2, 4)
    us = rng.uniform(0.3, 0.8) * every / 2 * _compute_us(program, rank)
    extra = Op("COMPUTE", us=us, key=102, every=every, phase=rng.randrange(every))
    lists = _edit(program, index, lambda one, ops: _before_first(ops, SENDS, extra) if one == rank else ops)
    cause = ("late sender", "sender", "imbalance", "balance", "slow", "late")
    return _mutated(program, index, lists, "late_every_kth", cause, SOME_COMPUTE, {rank})


def barrier(program: Program, rng: Random) -> Mutated | None:
    """A barrier behind a region."""
    index = rng.randrange(len(program.regions))
    lists = _edit(program, index, lambda _, ops: (*ops, Op("BARRIER")))
    return _mutated(program, index, lists, "barrier", ("barrier",), ("drop barrier",))


def same_order(program: Program, rng: Random) -> Mutated | None:
    """Every rank visits its destinations in the order 0, 1, 2, …, synchronously one after another."""
    candidates = [
        index
        for index, region in enumerate(program.regions)
        if all(sum(op.kind == "ISEND" for op in ops) >= 3 for ops in region.ops)
    ]
    if not candidates:
        return None
    index = rng.choice(candidates)

    def sort(_: int, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        sends = sorted((op for op in ops if op.kind == "ISEND"), key=lambda op: op.peer)
        first = next(i for i, op in enumerate(ops) if op.kind == "ISEND")
        rest = [op for op in ops if op.kind != "ISEND"]
        return (*rest[:first], *(replace(op, kind="SEND") for op in sends), *rest[first:])

    cause = ("same order", "hot receiver", "contention", "same (rank|receiver|destination)", "queue")
    return _mutated(program, index, _edit(program, index, sort), "same_order", cause, ("reorder",))


def split(program: Program, rng: Random) -> Mutated | None:
    """Every message of a region becomes many small ones."""
    found = _choose(program, rng, *SENDS)
    if found is None:
        return None
    tags = {op.tag for ops in program.regions[found].ops for op in ops if op.kind in SENDS}
    size = max(op.size for ops in program.regions[found].ops for op in ops if op.kind in SENDS)
    into = min(rng.choice([32, 64, 128]), size // 8)

    def divide(_: int, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        divided: list[Op] = []
        for op in ops:
            one = op.kind in (*SENDS, *RECEIVES, "WAIT_RECEIVE") and op.tag in tags
            divided += [replace(op, size=op.size // into)] * into if one else [op]
        return tuple(divided)

    changed = program
    for index in range(len(program.regions)):
        changed = changed.with_region(index, _edit(changed, index, divide))
    cause = ("small messages", "many messages", "many .*small", "overhead")
    return _mutated(changed, found, changed.regions[found].ops, "split", cause, ("aggregate",))


def stride(program: Program, rng: Random) -> Mutated | None:
    """Blocking messages are sent as strided elements (costs on a real machine; the testbed packs for nothing)."""
    found = _choose(program, rng, "SEND")
    if found is None:
        return None
    lists = _edit(
        program,
        found,
        lambda _, ops: tuple(replace(op, kind="STRIDED_SEND") if op.kind == "SEND" else op for op in ops),
    )
    cause = ("strid", "contiguous", "datatype", "layout")
    return _mutated(program, found, lists, "stride", cause, ("contiguous",))


def late_post(program: Program, rng: Random) -> Mutated | None:
    """Receives are posted behind the computation that followed them, and sends are synchronous."""
    return _move(program, rng, RECEIVES, "late_post", ("late receiver", "late receive", "posted"), ("receive earlier",))


def missing_overlap(program: Program, rng: Random) -> Mutated | None:
    """Computation between start and wait of messages is moved behind the wait; of ranks that wait for a receive before
    that, some of it needs what has been received."""
    starts = [i for i, region in enumerate(program.regions) if any(op.kind == "ISEND" for op in region.ops[0])]
    waits = [i for i, region in enumerate(program.regions) if any(op.kind == "WAITALL" for op in region.ops[0])]
    pairs = [(a, b) for a in starts for b in waits if a <= b]
    if not pairs:
        return None
    start, wait = rng.choice(pairs)
    if any(
        op.kind == "WAIT_RECEIVE" for region in program.regions[start : wait + 1] for ops in region.ops for op in ops
    ):
        return None
    moved = tuple(
        tuple(op for i in range(start, wait + 1) for op in program.regions[i].ops[rank] if _between(program, i, op))
        for rank in range(program.ranks)
    )
    if not any(moved):
        return None
    changed = program
    for index in range(start, wait + 1):
        kept = _edit(changed, index, lambda _, ops, index=index: _without(program, index, ops))  # type: ignore[misc]
        changed = changed.with_region(index, kept)
    lists = _edit(changed, wait, lambda rank, ops: (*ops, *moved[rank]))
    cause = ("overlap", "late sender", "bandwidth", "transfer")
    return _mutated(changed, wait, lists, "missing_overlap", cause, ("overlap",))


def synchronous(program: Program, rng: Random) -> Mutated | None:
    """Sends of a region are synchronous."""
    found = _choose(program, rng, *SYNCHRONOUS)
    if found is None:
        return None
    lists = _edit(
        program, found, lambda _, ops: tuple(replace(op, kind=SYNCHRONOUS.get(op.kind, op.kind)) for op in ops)
    )
    cause = ("synchronous", "ssend", "handshake", "late receiver", "rendezvous")
    cures = ("drop barrier", "receive earlier")
    return _mutated(program, found, lists, "synchronous", cause, cures)


def funnel(program: Program, rng: Random) -> Mutated | None:
    """Each rank reports values to rank 0 by small synchronous messages at the end of a region."""
    index, count = rng.randrange(len(program.regions)), rng.choice([10, 20, 40])
    small = Op("SSEND", peer=0, size=8, tag=OWN_TAG)

    def report(rank: int, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        if rank:
            return (*ops, *[small] * count)
        ranks = range(1, program.ranks)
        return (*ops, *(Op("RECV", peer=one, size=8, tag=OWN_TAG) for _ in range(count) for one in ranks))

    cause = ("hot receiver", "synchronous", "small messages", "many messages", "one receiver", "funnel", "handshake")
    lists = _edit(program, index, report)
    return _mutated(program, index, lists, "funnel", cause, ("aggregate", "spread load", "other collective"))


def shared_lock(program: Program, rng: Random) -> Mutated | None:
    """A share of a region's computation is done with the exclusive lock of rank 0."""
    found = _choose(program, rng, "COMPUTE")
    if found is None:
        return None
    share = rng.uniform(1.5, 3) / program.ranks
    share = min(share, 0.6)

    def lock(_: int, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        first = next(i for i, op in enumerate(ops) if op.kind == "COMPUTE")
        whole = ops[first]
        inside = (Op("LOCK"), replace(whole, us=share * whole.us), Op("UNLOCK", size=8))
        return (*ops[:first], replace(whole, us=(1 - share) * whole.us), *inside, *ops[first + 1 :])

    lists = _edit(program, found, lock)
    return _mutated(program, found, lists, "shared_lock", ("lock",), ("shorter lock",))


def serial_part(program: Program, rng: Random) -> Mutated | None:
    """A share of a region's computation on all ranks is done by one rank alone and broadcast."""
    found = _choose(program, rng, "COMPUTE")
    if found is None:
        return None
    root, share = rng.randrange(program.ranks), rng.uniform(0.5, 1.5) / program.ranks

    def serialise(rank: int, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        first = next(i for i, op in enumerate(ops) if op.kind == "COMPUTE")
        whole = ops[first]
        alone = (replace(whole, us=program.ranks * share * whole.us),) if rank == root else ()
        rest = replace(whole, us=(1 - share) * whole.us)
        return (*ops[:first], *alone, Op("BCAST", peer=root, size=1024), rest, *ops[first + 1 :])

    lists = _edit(program, found, serialise)
    cause = ("serial", "late broadcast", "root", "imbalance", "balance", "slow", "late")
    return _mutated(program, found, lists, "serial_part", cause, ("parallelise", "balance"), {root})


def larger_data(program: Program, rng: Random) -> Mutated | None:
    """One rank has more data: its computation everywhere and its messages grow."""
    rank, more = rng.randrange(program.ranks), rng.uniform(1.2, 1.8)
    changed = program
    for index in range(len(program.regions)):

        def grow(one: int, ops: tuple[Op, ...]) -> tuple[Op, ...]:
            return tuple(
                replace(op, us=more * op.us if one == rank else op.us, size=_grown(op, one, rank, more)) for op in ops
            )

        changed = changed.with_region(index, _edit(changed, index, grow))
    index = max(range(len(program.regions)), key=lambda i: sum(op.us for op in program.regions[i].ops[rank]))
    cause = ("imbalance", "balance", "more (work|data)", "slow", "late sender", "larger")
    return _mutated(changed, index, changed.regions[index].ops, "larger_data", cause, SOME_COMPUTE, {rank})


def one_after_another(program: Program, rng: Random) -> Mutated | None:
    """A token runs through the ranks: a share of a region's computation is done by one rank after another."""
    found = _choose(program, rng, "COMPUTE")
    if found is None:
        return None
    share, last = rng.uniform(0.3, 0.8) / program.ranks, program.ranks - 1

    def chain(rank: int, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        first = next(i for i, op in enumerate(ops) if op.kind == "COMPUTE")
        whole = ops[first]
        before = (Op("RECV", peer=rank - 1, size=8, tag=OWN_TAG + 1),) if rank else ()
        behind = (Op("SEND", peer=rank + 1, size=8, tag=OWN_TAG + 1),) if rank < last else ()
        turn = (*before, replace(whole, us=share * whole.us), *behind)
        return (*ops[:first], *turn, replace(whole, us=(1 - share) * whole.us), *ops[first + 1 :])

    lists = _edit(program, found, chain)
    cause = ("serial", "chain", "one after another", "wavefront", "pipeline", "late sender")
    return _mutated(program, found, lists, "one_after_another", cause, ("send earlier", "parallelise", "concurrent"))


MUTATIONS: Mapping[str, Callable[[Program, Random], Mutated | None]] = {
    one.__name__: one
    for one in (
        *(delay, late_every_kth, barrier, same_order, split, stride, late_post, missing_overlap, synchronous, funnel),
        *(shared_lock, serial_part, larger_data, one_after_another),
    )
}


def _compute_us(program: Program, rank: int) -> float:
    """What a rank computes in a mean iteration."""
    return sum(op.us / op.every for region in program.regions for op in region.ops[rank])


def _choose(program: Program, rng: Random, *kinds: str) -> int | None:
    """A region in which each rank that communicates or computes there has an operation of these kinds."""
    needed = program.ranks if kinds == ("COMPUTE",) else 1
    having = [
        index
        for index, region in enumerate(program.regions)
        if sum(any(op.kind in kinds for op in ops) for ops in region.ops) >= needed
    ]
    return rng.choice(having) if having else None


def _edit(program: Program, index: int, change: Callable[[int, tuple[Op, ...]], tuple[Op, ...]]) -> Lists:
    return tuple(change(rank, ops) for rank, ops in enumerate(program.regions[index].ops))


def _behind_first(ops: tuple[Op, ...], kind: str, extra: Op) -> tuple[Op, ...]:
    first = next(i for i, op in enumerate(ops) if op.kind == kind)
    return (*ops[: first + 1], extra, *ops[first + 1 :])


def _before_first(ops: tuple[Op, ...], kinds: tuple[str, ...], extra: Op) -> tuple[Op, ...]:
    first = next(i for i, op in enumerate(ops) if op.kind in kinds)
    return (*ops[:first], extra, *ops[first:])


def _between(program: Program, index: int, op: Op) -> bool:
    """Whether an operation of a region is computation in front of the region's wait."""
    ops = program.regions[index].ops[0]
    waits = [i for i, one in enumerate(ops) if one.kind == "WAITALL"]
    keys = [one.key for one in (ops[: waits[0]] if waits else ops) if one.kind == "COMPUTE"]
    return op.kind == "COMPUTE" and op.key in keys


def _without(program: Program, index: int, ops: tuple[Op, ...]) -> tuple[Op, ...]:
    return tuple(op for op in ops if not _between(program, index, op))


def _move(
    program: Program,
    rng: Random,
    kinds: tuple[str, ...],
    name: str,
    cause: tuple[str, ...],
    cures: tuple[str, ...],
) -> Mutated | None:
    """Operations of these kinds move from their region to the front of the next wait, behind computation."""
    regions = program.regions
    starts = [i for i, region in enumerate(regions) if all(any(op.kind == "IRECV" for op in ops) for ops in region.ops)]
    if not starts:
        return None
    start = rng.choice(starts)
    wait = next(i for i in range(start, len(regions)) if any(op.kind == "WAITALL" for op in regions[i].ops[0]))
    if not any(_between(program, i, op) for i in range(start, wait + 1) for op in regions[i].ops[0]):
        return None
    late = tuple(tuple(op for op in ops if op.kind in kinds) for ops in regions[start].ops)
    kept = tuple(
        tuple(replace(op, kind="ISSEND" if op.kind == "ISEND" else op.kind) for op in ops if op.kind not in kinds)
        for ops in regions[start].ops
    )
    changed = program.with_region(start, kept)

    def insert(rank: int, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        first = next(i for i, op in enumerate(ops) if op.kind == "WAITALL")
        return (*ops[:first], *late[rank], *ops[first:])

    return _mutated(changed, wait, _edit(changed, wait, insert), name, cause, cures)


def _grown(op: Op, one: int, rank: int, more: float) -> int:
    """The size of a message with the larger rank at one of its ends, on both of them."""
    is_message = op.kind in (*SENDS, *RECEIVES)
    return int(more * op.size) // 8 * 8 if is_message and rank in (one, op.peer) else op.size


def _mutated(
    program: Program,
    index: int,
    lists: Lists,
    name: str,
    cause: tuple[str, ...],
    cures: tuple[str, ...],
    culprits: set[int] | None = None,
) -> Mutated:
    changed = program.with_region(index, lists)
    region = changed.regions[index].name
    ranks = frozenset(culprits or ())
    return changed, Loss(name, region, Expected(cause=cause, place=_place(changed, region), cures=cures, ranks=ranks))


def _place(program: Program, region: str) -> tuple[str, ...]:
    """The region and the next one with calls, where others wait; the testbed records no call paths, so that their calls
    name them, too."""
    regions = program.regions
    calls = [{CALLS[op.kind] for ops in one.ops for op in ops if op.kind in CALLS} for one in regions]
    index = next(i for i, one in enumerate(regions) if one.name == region)
    behind = next(i % len(regions) for i in range(index + 1, index + 1 + len(regions)) if calls[i % len(regions)])
    return (region, regions[behind].name, *sorted(calls[index] | calls[behind]))
