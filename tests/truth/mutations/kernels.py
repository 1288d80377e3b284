"""Programs without a loss: communication patterns of NPB's and the papers' programs, nine tenths of whose time is
computation, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from .script import Lists, Op, Program, Region

LARGE = 32768
"""Bytes above the eager limits of the machines that the programs run on."""


def _same(ranks: int, *ops: Op) -> Lists:
    return tuple(ops for _ in range(ranks))


def _halo(neighbours: list[list[int]], size: int) -> Lists:
    """Receives, then sends, to every neighbour, from the next higher rank on."""
    lists = []
    for rank, several in enumerate(neighbours):
        rotated = sorted(several, key=lambda other: (other - rank) % len(neighbours))
        receives = [Op("IRECV", peer=other, size=size) for other in sorted(several)]
        lists.append((*receives, *(Op("ISEND", peer=other, size=size) for other in rotated)))
    return tuple(lists)


def stencil(rng: Random) -> Program:
    """A halo exchange on a torus with work between start and wait, and a norm every fourth step (NPB's BT, SP)."""
    wide, high = rng.choice([(2, 4), (3, 3), (4, 4)])
    neighbours = []
    for rank in range(wide * high):
        x, y = rank % wide, rank // wide
        steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
        others = {(x + dx) % wide + (y + dy) % high * wide for dx, dy in steps} - {rank}
        neighbours.append(sorted(others))
    ranks, us = wide * high, rng.uniform(3000, 6000)
    return Program(
        "stencil",
        rng.randint(20, 40),
        (
            Region("start_halo", _halo(neighbours, rng.choice([2048, 8192, LARGE]))),
            Region("interior", _same(ranks, Op("COMPUTE", us=us, key=1))),
            Region("finish_halo", _same(ranks, Op("WAITALL"), Op("COMPUTE", us=us / 4, key=2))),
            Region("norm", _same(ranks, Op("ALLREDUCE", size=8, every=4, phase=3))),
        ),
        rng.getrandbits(31),
    )


def transpose(rng: Random) -> Program:
    """Lines, an exchange of every rank with every other one, each in another order, and planes (NPB's FT)."""
    ranks, us, size = rng.choice([6, 8, 12]), rng.uniform(4000, 8000), rng.choice([2048, 8192])
    everyone = [[other for other in range(ranks) if other != rank] for rank in range(ranks)]
    exchange = tuple((*ops, Op("WAITALL")) for ops in _halo(everyone, size))
    return Program(
        "transpose",
        rng.randint(15, 30),
        (
            Region("lines", _same(ranks, Op("COMPUTE", us=us, key=1))),
            Region("exchange", exchange),
            Region("planes", _same(ranks, Op("COMPUTE", us=us / 2, key=2))),
        ),
        rng.getrandbits(31),
    )


def solver(rng: Random) -> Program:
    """A product of an irregular sparse matrix and two dot products (NPB's CG, EM3D's graph)."""
    ranks, us = rng.choice([6, 8, 12]), rng.uniform(2000, 5000)
    edges = {frozenset((rank, (rank + 1) % ranks)) for rank in range(ranks)}
    edges |= {frozenset(rng.sample(range(ranks), 2)) for _ in range(ranks)}
    neighbours = [sorted(other for edge in edges if rank in edge for other in edge - {rank}) for rank in range(ranks)]
    return Program(
        "solver",
        rng.randint(20, 40),
        (
            Region("start_product", _halo(neighbours, rng.choice([512, 4096]))),
            Region("inner_rows", _same(ranks, Op("COMPUTE", us=us, key=1))),
            Region("finish_product", _same(ranks, Op("WAITALL"), Op("COMPUTE", us=us / 4, key=2))),
            Region("dot_product", _same(ranks, Op("COMPUTE", us=us / 10, key=3), Op("ALLREDUCE", size=16))),
        ),
        rng.getrandbits(31),
    )


def ring(rng: Random) -> Program:
    """Blocks of bodies move around a ring while the forces of the block before are computed (n-body)."""
    ranks, us, size = rng.choice([4, 6, 8]), rng.uniform(3000, 6000), rng.choice([4096, LARGE])
    passes = tuple(
        (
            Op("IRECV", peer=(rank - 1) % ranks, size=size),
            Op("ISEND", peer=(rank + 1) % ranks, size=size),
            Op("COMPUTE", us=us, key=1),
            Op("WAITALL"),
        )
        for rank in range(ranks)
    )
    return Program(
        "ring",
        rng.randint(30, 60),
        (
            Region("pass_block", passes),
            Region("move_bodies", _same(ranks, Op("COMPUTE", us=us / 5, key=2))),
            Region("energy", _same(ranks, Op("ALLREDUCE", size=8, every=10, phase=9))),
        ),
        rng.getrandbits(31),
    )


def stream(rng: Random) -> Program:
    """A pipeline of stages of equal work that stays full: each sends its block on and begins the next (NPB's LU)."""
    ranks, us, size = rng.choice([4, 6]), rng.uniform(2000, 4000), rng.choice([512, 2048])
    stages = []
    for rank in range(ranks):
        before = (Op("RECV", peer=rank - 1, size=size),) if rank else ()
        behind = (Op("SEND", peer=rank + 1, size=size),) if rank < ranks - 1 else ()
        stages.append((*before, Op("COMPUTE", us=us, key=1), *behind))
    local = _same(ranks, Op("COMPUTE", us=us / 3, key=2))
    return Program(
        "stream",
        rng.randint(150, 250),
        (Region("stage", tuple(stages)), Region("right_hand_side", local)),
        rng.getrandbits(31),
    )


def uneven_phases(rng: Random) -> Program:
    """Two kinds of steps alternate on even and odd ranks; no step waits for another but by its neighbour's halo."""
    ranks, us, size = rng.choice([4, 6, 8]), rng.uniform(2000, 4000), 1024
    pairs = [[rank ^ 1] for rank in range(ranks)]
    work = tuple(
        (
            Op("COMPUTE", us=us * (2 if rank // 2 % 2 else 1), key=1, every=2, phase=0),
            Op("COMPUTE", us=us * (1 if rank // 2 % 2 else 2), key=2, every=2, phase=1),
        )
        for rank in range(ranks)
    )
    return Program(
        "uneven_phases",
        rng.randint(30, 50) * 2,
        (
            Region("react", work),
            Region("couple", tuple((*ops, Op("WAITALL")) for ops in _halo(pairs, size))),
        ),
        rng.getrandbits(31),
    )


KERNELS: Mapping[str, Callable[[Random], Program]] = {
    kernel.__name__: kernel for kernel in (stencil, transpose, solver, ring, stream, uneven_phases)
}
