"""The grid on which ranks exchange messages, as far as their partners show it, and the same grid of another size.

Ranks are on a grid where every message is sent to a neighbour: no coordinate differs by more than 1 (around the end,
where the grid is closed). A ring and a chain are grids of one dimension. Dimension 0 is the one in which neighbours
have consecutive ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ranks = npt.NDArray[np.int64]
MOST_DIMENSIONS = 4
"""Of a grid of ranks: the three of space and that of time, as lattice QCD has."""


@dataclass(frozen=True)
class Grid:
    """Extent of each dimension, and whether it is closed to a ring."""

    extents: tuple[int, ...]
    closed: tuple[bool, ...]

    @property
    def ranks(self) -> int:
        """How many there are."""
        return int(np.prod(self.extents))

    def coordinates(self, ranks: Ranks) -> Ranks:
        """Of each rank, a row."""
        found, rest = [], ranks
        for extent in self.extents:
            found.append(rest % extent)
            rest = rest // extent
        return np.stack(found, axis=-1)

    def rank(self, coordinates: Ranks) -> Ranks:
        """Of coordinates, which wrap around the end in closed dimensions; -1: outside of the grid."""
        found = np.zeros(coordinates.shape[:-1], dtype=np.int64)
        outside = np.zeros(found.shape, dtype=np.bool_)
        step = 1
        for k, (extent, closed) in enumerate(zip(self.extents, self.closed, strict=True)):
            here = coordinates[..., k]
            if closed:
                here = here % extent
            else:
                outside |= (here < 0) | (here >= extent)
            found += here * step
            step *= extent
        return np.where(outside, -1, found)

    def steps(self, senders: Ranks, receivers: Ranks) -> Ranks:
        """From each sender to its receiver, by dimension: the shorter way around where the grid is closed."""
        way = self.coordinates(receivers) - self.coordinates(senders)
        for k, (extent, closed) in enumerate(zip(self.extents, self.closed, strict=True)):
            if closed and extent > 2:
                way[..., k] = (way[..., k] + (extent - 1) // 2) % extent - (extent - 1) // 2
        return way

    @property
    def text(self) -> str:
        """For people: a ring of 8, a 4 x 4 torus."""
        shape = " x ".join(map(str, self.extents))
        if len(self.extents) == 1:
            return f"{'ring' if self.closed[0] else 'chain'} of {shape} ranks"
        kind = "torus" if all(self.closed) else "grid, closed in part" if any(self.closed) else "grid"
        return f"{shape} {kind} of ranks"


def recognize(ranks: int, senders: Ranks, receivers: Ranks) -> Grid | None:
    """The grid of the fewest dimensions on which all messages go to neighbours, those along one dimension first; None
    where there is none."""
    if ranks < 2:
        return None
    pairs = np.unique(np.stack([senders, receivers]), axis=1)
    for diagonal in (False, True):
        for extents in _factorizations(ranks):
            if diagonal and 3 ** len(extents) >= ranks:  # everybody would be a neighbour of everybody
                continue
            found = _fits(extents, pairs, diagonal=diagonal)
            if found is not None:
                return found
    return None


def _fits(extents: tuple[int, ...], pairs: Ranks, *, diagonal: bool) -> Grid | None:
    grid = Grid(extents, tuple(False for _ in extents))
    way = grid.coordinates(pairs[1]) - grid.coordinates(pairs[0])
    closed = []
    for k, extent in enumerate(extents):
        around = (np.abs(way[:, k]) == extent - 1) & (extent > 2)
        closed.append(bool(around.any()))
        way[around, k] = -np.sign(way[around, k])
    if (np.abs(way) > 1).any() or (not diagonal and (np.abs(way).sum(axis=1) > 1).any()):
        return None
    return Grid(extents, tuple(closed))


def _factorizations(number: int, most: int = MOST_DIMENSIONS) -> Iterator[tuple[int, ...]]:
    """Every ordered product of factors above 1, the shortest first."""

    def of(rest: int, count: int) -> Iterator[tuple[int, ...]]:
        if count == 1:
            if rest > 1:
                yield (rest,)
            return
        for factor in range(2, rest // 2 + 1):
            if rest % factor == 0:
                for others in of(rest // factor, count - 1):
                    yield (factor, *others)

    for count in range(1, most + 1):
        yield from of(number, count)


def balanced(number: int, dimensions: int) -> tuple[int, ...]:
    """Extents as near to each other as MPI_Dims_create makes them, in descending order."""
    extents = [1] * dimensions
    for factor in reversed(_primes(number)):
        extents[extents.index(min(extents))] *= factor
    return tuple(sorted(extents, reverse=True))


def _primes(number: int) -> list[int]:
    found, factor = [], 2
    while number > 1:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1 if factor * factor <= number else max(1, number - factor)
    return found


def enlarged(grids: Sequence[Grid], ranks: int) -> Grid | None:
    """The grid that a program would take on so many ranks, by the rule that gives all of its known grids; None where
    no rule does."""
    last = grids[-1]
    if any(len(one.extents) != len(last.extents) for one in grids):
        return None
    for rule in _rules(last):
        if all(rule(one.ranks) == one.extents for one in grids) and (extents := rule(ranks)) is not None:
            return Grid(extents, last.closed)
    return None


def _rules(last: Grid) -> Iterator[Callable[[int], tuple[int, ...] | None]]:
    """Extents over the number of ranks: balanced, the largest first or last; or one dimension alone grows."""
    dimensions = len(last.extents)
    yield lambda ranks: balanced(ranks, dimensions)
    yield lambda ranks: balanced(ranks, dimensions)[::-1]
    for k in range(dimensions):
        rest = last.ranks // last.extents[k]

        def grown(ranks: int, k: int = k, rest: int = rest) -> tuple[int, ...] | None:
            return (*last.extents[:k], ranks // rest, *last.extents[k + 1 :]) if ranks % rest == 0 else None

        yield grown


def roles(template: Grid, target: Grid) -> Ranks | str:
    """The rank of the template that each rank of the target does as; or why there is none.

    Ends of an open dimension do as its ends, what lies between them as what lies between them, cyclically.
    """
    where = target.coordinates(np.arange(target.ranks))
    for k, (known, wanted, closed) in enumerate(zip(template.extents, target.extents, template.closed, strict=True)):
        if known == wanted:
            continue
        if known < 3:
            return f"a dimension of {known} ranks does not show what ranks inside of a longer one do"
        here = where[:, k]
        inner = 1 + (here - 1) % (known - 2)
        ends = np.where(here == 0, 0, known - 1)
        where[:, k] = here % known if closed else np.where((here == 0) | (here == wanted - 1), ends, inner)
    return template.rank(where)
