"""What a calibration measures: sizes, bursts, strides, and how the time is shared among the programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from logpost.machines.calibration.layouts import CONFLICTS

KIB = 1024
"""Bytes."""


@dataclass(frozen=True)
class Grid:
    """The points of every program. Sizes and strides in bytes.

    ``sizes``: o(n) and T(n). ``signature_sizes``, ``bursts``: cost(M, Delta); Delta follows from the round trip.
    ``burst_sizes``, ``burst_lengths``: o(S, b). ``gap_sizes``: G(P, S). ``layout_sizes``, ``strides``: log3P.
    """

    sizes: tuple[int, ...]
    signature_sizes: tuple[int, ...]
    bursts: tuple[int, ...]
    burst_sizes: tuple[int, ...]
    burst_lengths: tuple[int, ...]
    depth_sizes: tuple[int, ...]
    gap_sizes: tuple[int, ...]
    layout_sizes: tuple[int, ...]
    strides: tuple[int, ...]
    block: int = 8
    largest_eager: int = 1024 * KIB


def _powers(first: int, last: int) -> tuple[int, ...]:
    sizes = []
    while first <= last:
        sizes.append(first)
        first *= 2
    return tuple(sizes)


def _strides(last: int, block: int = 8) -> tuple[int, ...]:
    """Powers of two, which programs like, and from CONFLICTS on also their neighbours a block away.

    Blocks that are a large power of two apart share few sets of a cache and displace each other; a block more or less
    and they don't. Without the neighbours the times of the powers would stand for all strides between them.
    """
    powers = _powers(2 * block, last)
    return tuple(sorted({*powers, *(p + side for p in powers if p >= CONFLICTS for side in (-block, block))}))


DEFAULT = Grid(
    sizes=(1, *_powers(8, 1024 * KIB)),
    signature_sizes=(8, 1 * KIB, 16 * KIB),
    bursts=_powers(1, 512),
    burst_sizes=(8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB),
    burst_lengths=_powers(1, 64),
    depth_sizes=(8, 4 * KIB, 64 * KIB),
    gap_sizes=(64, 512, 4 * KIB, 32 * KIB, 256 * KIB, 1024 * KIB),
    layout_sizes=_powers(256, 128 * KIB),
    strides=_strides(2 * KIB),
)
"""Under three minutes with two ranks."""

THOROUGH = replace(
    DEFAULT,
    sizes=tuple(sorted({1, *_powers(8, 4096 * KIB), *_powers(12, 3072 * KIB)})),
    signature_sizes=(8, 128, 1 * KIB, 4 * KIB, 16 * KIB, 64 * KIB),
    bursts=_powers(1, 1024),
    burst_sizes=_powers(8, 1024 * KIB),
    burst_lengths=_powers(1, 256),
    depth_sizes=_powers(8, 1024 * KIB)[::3],
    gap_sizes=_powers(8, 4096 * KIB),
    layout_sizes=tuple(sorted({*_powers(64, 512 * KIB), *_powers(96, 384 * KIB)})),
    strides=_strides(4 * KIB),
)
"""Finer, and over a wider range."""


def listed(numbers: Sequence[float]) -> str:
    """As the programs take lists: "1,2,4", shortest form."""
    return ",".join(f"{number:.9g}" for number in numbers)


def peers(ranks: int) -> tuple[int, ...]:
    """Numbers of ranks that take part in patterns: powers of two, and all."""
    return tuple(sorted({*_powers(2, ranks), ranks // 2 * 2}))
