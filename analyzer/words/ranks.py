"""Sets of ranks by name: as short text."""

from __future__ import annotations

from collections.abc import Iterable

from logpost.analyzer.words.location_names import Rank, spans_text


def ranks_text(ranks: Iterable[Rank], limit: int = 8) -> str:
    """`0`, `3, 5-7`; after `limit` pieces an ellipsis and the number of the rest.

    >>> ranks_text([Rank(7), Rank(3), Rank(5), Rank(6)])
    '3, 5-7'
    """
    return spans_text(ranks, limit)


def ranks_noun(ranks: Iterable[Rank]) -> str:
    """`rank 0` or `ranks 3, 5-7`."""
    unique = set(ranks)
    return f"{'rank' if len(unique) == 1 else 'ranks'} {ranks_text(unique)}"
