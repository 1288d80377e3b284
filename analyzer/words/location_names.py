"""Locations and ranks: two kinds of number, the one conversion between them, and what people call them.

A rank is a process. A location is a stream of events: the rank's own, a thread of it, or a stream of an accelerator.
Text, findings and figures name ranks, and a single location as "thread 1 of rank 3", thread 0 being the one that is the
rank. A rank with a single accounted location is that location. A process that has no rank is "process 2".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NewType

import polars as pl

from logpost.analyzer.words.teams import teams

Location = NewType("Location", int)
"""A row of the table `locations`."""
Rank = NewType("Rank", int)
"""The number of a process in its paradigm's world, 0 or more."""


UNKNOWN = -1
"""The process of a rank that is known by its number only."""


@dataclass(frozen=True)
class Named:
    """A rank as a whole, or one of its threads."""

    rank: Rank | None
    """None: its process has none."""
    process: int
    thread: int | None = None
    """None: all of it"""

    @property
    def number(self) -> int:
        """The rank; without one, the process."""
        return self.process if self.rank is None else self.rank

    @property
    def noun(self) -> str:
        """What that number counts."""
        return "process" if self.rank is None else "rank"

    @property
    def text(self) -> str:
        """`rank 3`, `thread 1 of rank 3`."""
        whole = f"{self.noun} {self.number}"
        return whole if self.thread is None else f"thread {self.thread} of {whole}"

    @property
    def short(self) -> str:
        """`3`, `3.1`: for axes that say what they count."""
        return str(self.number) if self.thread is None else f"{self.number}.{self.thread}"

    @property
    def order(self) -> tuple[bool, int, int]:
        """Ranks first, by number; a whole one before its threads."""
        return (self.rank is None, self.number, -1 if self.thread is None else self.thread)


def owners(locations: pl.DataFrame) -> pl.Series:
    """By row of the table `locations`: the rank of its process, null where that has none.

    Raises:
        ValueError: a row does not say whether it is a rank, which no archive leaves open.
    """
    if locations["rank"].has_nulls():
        raise ValueError("a location without a value of rank: the table is damaged")
    own = pl.col("rank").replace(-1, None)
    of_process = own.drop_nulls().first().over("process")
    return locations.select(owner=pl.coalesce(own, pl.when(pl.col("process") >= 0).then(of_process)))["owner"]


class LocationNames:
    """Location to rank and name.

    Arguments:
        locations: the table of a run.
    """

    def __init__(self, locations: pl.DataFrame) -> None:
        numbers = dict(teams(locations["location"], locations).select("location", "thread").iter_rows())
        self._named: dict[int, Named] = {}
        every: dict[tuple[bool, int], set[int]] = defaultdict(set)
        counted: dict[tuple[bool, int], set[int]] = defaultdict(set)
        rows = locations.select("location", pl.col("process").fill_null(-1), "accounted")
        rows = rows.with_columns(owner=owners(locations))
        for location, process, accounted, owner in rows.iter_rows():
            # A location without a process is a separate one.
            alone = process < 0
            named = Named(owner, location if alone else process, 0 if alone else numbers[location])
            self._named[location] = named
            every[_whole(named)].add(location)
            if accounted:
                counted[_whole(named)].add(location)
        self._whole = every | counted

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """Every rank of the program, ascending."""
        return tuple(sorted({one.rank for one in self._named.values() if one.rank is not None}))

    def rank(self, location: Location) -> Rank | None:
        """The rank of its process; None: it has none."""
        return self._named[location].rank

    def one(self, location: Location) -> Named:
        """What a single location is called."""
        (named,) = self.several([location])
        return named

    def several(self, locations: Iterable[Location]) -> tuple[Named, ...]:
        """What these locations are called, ranks with all of their accounted locations as a whole, in order."""
        given: dict[tuple[bool, int], set[int]] = defaultdict(set)
        for location in locations:
            given[_whole(self._named[location])].add(location)
        found = []
        for process, some in given.items():
            if some >= self._whole[process]:
                first = self._named[next(iter(some))]
                found.append(Named(first.rank, first.process))
            else:
                found += [self._named[location] for location in some]
        return tuple(sorted(found, key=lambda named: named.order))

    def __getitem__(self, location: Location) -> str:
        return self.one(location).text

    def get(self, location: int) -> str:
        """Of what may be no location: its name, or what it is not."""
        return self[Location(location)] if location in self._named else "an unknown rank"


def _whole(named: Named) -> tuple[bool, int]:
    return (named.rank is None, named.number)


def named_text(several: Iterable[Named], limit: int = 8) -> str:
    """`rank 0`, `ranks 3, 5-7`, `rank 0 and thread 1 of ranks 2-3`; after `limit` spans an ellipsis and how many more.

    >>> named_text([Named(Rank(3), 0), Named(Rank(5), 1), Named(Rank(6), 2)])
    'ranks 3, 5-6'
    """
    alike: dict[tuple[int | None, bool], list[int]] = defaultdict(list)
    for named in sorted(several, key=lambda one: (one.thread is not None, one.order)):
        alike[(named.thread, named.rank is None)].append(named.number)
    pieces = []
    for (thread, unranked), numbers in alike.items():
        noun = ("process" if unranked else "rank") + ("" if len(numbers) == 1 else "es" if unranked else "s")
        text = f"{noun} {spans_text(numbers, limit)}"
        pieces.append(text if thread is None else f"thread {thread} of {text}")
    return ", ".join(pieces[:-2]) + (", " if pieces[:-2] else "") + " and ".join(pieces[-2:])


def named_of(ranks: Iterable[int], threads: Iterable[Mapping[str, Any]] | None) -> tuple[Named, ...]:
    """What a row of the table `findings` names. A run of an earlier version has no threads."""
    found = [Named(one["rank"], one["process"], one["thread"]) for one in threads or ()]
    by_thread = {one.rank for one in found}
    whole = [Named(Rank(rank), UNKNOWN) for rank in ranks if rank not in by_thread]
    return tuple(sorted((*whole, *found), key=lambda named: named.order))


def named_of_number(number: Mapping[str, Any]) -> Named:
    """The rank, process or thread that a piece of evidence is."""
    value = int(number["value"])
    rank = Rank(value) if number["unit"].startswith("rank") else None
    return Named(rank, UNKNOWN if rank is not None else value, number.get("thread"))


def spans_text(numbers: Iterable[int], limit: int = 8) -> str:
    """`0`, `3, 5-7`; after `limit` spans an ellipsis and the number of the rest."""
    pieces: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if pieces and number == pieces[-1][1] + 1:
            pieces[-1] = (pieces[-1][0], number)
        else:
            pieces.append((number, number))
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in pieces[:limit]]
    hidden = sum(b - a + 1 for a, b in pieces[limit:])
    return ", ".join(shown) + (f", … ({hidden} more)" if hidden else "")
