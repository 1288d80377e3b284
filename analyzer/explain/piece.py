"""A stretch of time with the part of the model that it is given to."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from logpost.analyzer.run.undivided import UNDIVIDED, shown_as


@dataclass(frozen=True)
class Piece:
    """Of a message's time, or of a member's way through a collective operation; ps from the trace's start."""

    part: str
    begin_ps: int
    end_ps: int


def joined(
    pieces: Iterable[Piece], undivided: Sequence[str], alike: Container[str] = (UNDIVIDED,)
) -> tuple[Piece, ...]:
    """The pieces under the names that they are shown under; one of the parts `alike` that then follows itself is one
    piece with it."""
    found: list[Piece] = []
    for piece in pieces:
        part = shown_as(piece.part, undivided)
        if found and part == found[-1].part and part in alike:
            found[-1] = Piece(part, found[-1].begin_ps, piece.end_ps)
        else:
            found.append(Piece(part, piece.begin_ps, piece.end_ps))
    return tuple(found)
