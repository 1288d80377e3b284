"""Sets of ranks by name: as short text."""

from __future__ import annotations

from collections.abc import Iterable


def ranks_text(ranks: Iterable[int], limit: int = 8) -> str:
    """`0`, `3, 5-7`; after `limit` pieces an ellipsis and the number of the rest.

    >>> ranks_text([7, 3, 5, 6])
    '3, 5-7'
    """
    ordered = sorted(set(ranks))
    pieces: list[tuple[int, int]] = []
    for rank in ordered:
        if pieces and rank == pieces[-1][1] + 1:
            pieces[-1] = (pieces[-1][0], rank)
        else:
            pieces.append((rank, rank))
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in pieces[:limit]]
    hidden = sum(b - a + 1 for a, b in pieces[limit:])
    return ", ".join(shown) + (f", … ({hidden} more)" if hidden else "")


def ranks_noun(ranks: Iterable[int]) -> str:
    """`rank 0` or `ranks 3, 5-7`."""
    unique = set(ranks)
    return f"{'rank' if len(unique) == 1 else 'ranks'} {ranks_text(unique)}"
