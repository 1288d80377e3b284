"""A selection: a stretch of time, some ranks, a call path. None of the three: everything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from logpost.errors import InputError

KEYS = ("from", "to", "ranks", "path")
"""What a URL calls the parts: picoseconds, picoseconds, `0,3-5`, and a row of the table `callpaths`."""

_RANKS = re.compile(r"\d{1,9}(-\d{1,9})?(,\d{1,9}(-\d{1,9})?)*")
_NUMBER = re.compile(r"\d{1,18}")
MOST_SPANS = 5_000
"""Every second of 10,000 ranks."""


@dataclass(frozen=True)
class Selection:
    """Times are ps from the trace's start; None: no bound."""

    begin_ps: int | None = None
    end_ps: int | None = None
    ranks: tuple[tuple[int, int], ...] = ()
    """Spans of ranks, first and last; empty: all."""
    callpath: int | None = None
    """It and what it calls."""

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self == Selection()

    @property
    def timed(self) -> bool:
        """Whether a stretch of time is chosen."""
        return self.begin_ps is not None or self.end_ps is not None

    @property
    def ranks_text(self) -> str:
        """`0,3-5`, as in a URL."""
        return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in self.ranks)

    def query(self) -> dict[str, str]:
        """The parts as a URL has them; what is not chosen is absent."""
        parts = {
            "from": None if self.begin_ps is None else str(self.begin_ps),
            "to": None if self.end_ps is None else str(self.end_ps),
            "ranks": self.ranks_text or None,
            "path": None if self.callpath is None else str(self.callpath),
        }
        return {key: text for key, text in parts.items() if text is not None}


def spans_of(ranks: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Ranks as spans of consecutive ones, ascending."""
    found: list[tuple[int, int]] = []
    for rank in sorted(set(ranks)):
        if found and found[-1][1] == rank - 1:
            found[-1] = (found[-1][0], rank)
        else:
            found.append((rank, rank))
    return tuple(found)


def parse(query: Mapping[str, str]) -> Selection:
    """The selection of a URL's query.

    Raises:
        InputError: a part cannot be read.
    """
    begin, end, callpath = (_number(query, key) for key in ("from", "to", "path"))
    if begin is not None and end is not None and begin >= end:
        raise InputError(f"the selection's begin, {begin} ps, is not before its end, {end} ps; clear the selection")
    text = query.get("ranks", "")
    if text and not _RANKS.fullmatch(text):
        raise InputError("the selection's ranks cannot be read; write ranks=0,3-5")
    pieces = [piece.partition("-") for piece in text.split(",")] if text else []
    if len(pieces) > MOST_SPANS:
        raise InputError(f"the selection names more than {MOST_SPANS} spans of ranks; choose fewer")
    ranks = sorted((int(a), int(b or a)) for a, _, b in pieces)
    if any(a > b for a, b in ranks):
        raise InputError("a span of the selection's ranks ends before it begins; write ranks=0,3-5")
    return Selection(begin, end, tuple(ranks), callpath)


def _number(query: Mapping[str, str], key: str) -> int | None:
    text = query.get(key)
    if text is None:
        return None
    if not _NUMBER.fullmatch(text):
        raise InputError(f"{key} in the address is no number; clear the selection")
    return int(text)
