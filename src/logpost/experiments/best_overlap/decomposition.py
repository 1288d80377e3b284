"""How a volume is cut: messages of S bytes in bursts of b."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DOUBLE = 8
"""Bytes: the smallest message, and an element of the volumes in "doubles" (Table 2)."""


@dataclass(frozen=True)
class Decomposed:
    """A volume cut into messages of S bytes in bursts of b."""

    V: int
    S: int
    b: int


def whole(V: int) -> Decomposed:
    """All in one message."""
    return Decomposed(V, V, 1)


def decompositions(V: int, most: int, bursts: Sequence[int]) -> list[Decomposed]:
    """S = V/1, V/2, ... of at least a double, at most `most` messages; b of the bursts, at most V/S."""
    sizes = []
    count = 1
    while count <= most and V // count >= DOUBLE:
        sizes.append(V // count)
        count *= 2
    return [Decomposed(V, S, b) for S in sizes for b in bursts if b <= V // S]


def short_size(value: int) -> str:
    """Bytes without their unit, for an axis that has it: 16 K."""
    for unit, factor in (("M", 1024 * 1024), ("K", 1024)):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return str(value)


def size_text(value: int) -> str:
    """Bytes as people read them: 16 KB."""
    short = short_size(value)
    return f"{short}B" if " " in short else f"{value} B"


def doubles_text(V: int) -> str:
    """A volume as the paper's tables have it: 64 K doubles."""
    return f"{V // (DOUBLE * 1024):,} K doubles"


def case_text(case: Decomposed | None) -> str:
    """S × b: 16 KB × 4; `none` where the model has no choice."""
    return "none" if case is None else f"{size_text(case.S)} × {case.b}"
