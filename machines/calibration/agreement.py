"""Compare two calibrations: which values' intervals overlap, and which do not.

Two values agree when their intervals have a point in common; a value without an interval is a point. Values are matched
by what they are, not by their place in the list: a table's row by its coordinates (size, stride, burst, ...), a LogGP
range by the sizes that it holds for: where the two files divide the sizes differently, a range of the first is
compared with the range of the second that holds the middle of its sizes. No value is left out because its neighbour
changed place; one that the other file does not have is counted as missing, never as agreeing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from logpost.machines.localities import LOCALITIES
from logpost.machines.schema import LogGP, Machine, Range
from logpost.machines.values.quantity import Quantity
from logpost.machines.values.units import to_base

LARGEST = 4 * 2**20
"""Where an open range ends for the comparison."""
TABLES = ("loggp", "overlap", "log3p", "memory", "observed")
"""The tables that a calibration fills, in the order in which they are counted; others follow."""


@dataclass(frozen=True)
class Pair:
    """One value in both files, in the first one's unit."""

    name: str
    unit: str
    a: tuple[float, float, float]
    """Value, lower and upper end of the interval."""
    b: tuple[float, float, float]

    @property
    def agrees(self) -> bool:
        """Whether the intervals have a point in common."""
        return self.a[1] <= self.b[2] and self.b[1] <= self.a[2]

    @property
    def apart(self) -> float:
        """Width of the gap between the intervals over the larger one of the two values; 0 where they overlap."""
        gap = max(self.a[1] - self.b[2], self.b[1] - self.a[2], 0.0)
        # No value is negative, so between two that are 0 there is no gap.
        return gap / max(abs(self.a[0]), abs(self.b[0])) if gap else 0.0


@dataclass(frozen=True)
class Count:
    """How many values were compared, and how many of them agree."""

    agreeing: int
    compared: int


@dataclass(frozen=True)
class Agreement:
    """The values that both files have, and the names that only one has."""

    pairs: tuple[Pair, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def agreeing(self) -> int:
        """How many of `pairs` agree."""
        return sum(pair.agrees for pair in self.pairs)

    @property
    def share(self) -> float:
        """Agreeing over compared; 1 when there is nothing to compare."""
        return self.agreeing / len(self.pairs) if self.pairs else 1.0

    def by_table(self) -> dict[str, Count]:
        """The same for each table of the file (loggp, overlap, log3p, ...): points of log3p outnumber the rest."""
        found: dict[str, list[Pair]] = {}
        for pair in self.pairs:
            found.setdefault(_table_of(pair.name), []).append(pair)
        order = sorted(found, key=lambda table: TABLES.index(table) if table in TABLES else len(TABLES))
        return {table: Count(sum(pair.agrees for pair in found[table]), len(found[table])) for table in order}

    @property
    def differing(self) -> list[Pair]:
        """Pairs whose intervals do not meet, farthest apart first."""
        return sorted((pair for pair in self.pairs if not pair.agrees), key=lambda pair: -pair.apart)


def agree(a: Machine, b: Machine) -> Agreement:
    """Compare every value of two machine files that are parameters (observations are compared, too)."""
    here, there = dict(_values(a)), dict(_values(b))
    pairs = [_pair(name, quantity, there[name], a, b) for name, quantity in here.items() if name in there]
    only_here = [name for name in here if name not in there]
    more, only_a, only_b = _ranges(a, b)
    return Agreement(
        tuple(pairs + more), (*only_here, *only_a), (*(name for name in there if name not in here), *only_b)
    )


def _values(machine: Machine) -> Iterator[tuple[str, Quantity]]:
    """Every quantity but those of LogGP ranges, under a name that does not depend on its position."""
    yield from _below(machine, "")


def _below(table: BaseModel, place: str) -> Iterator[tuple[str, Quantity]]:
    for name, field in type(table).model_fields.items():
        item = getattr(table, name)
        here = f"{place}.{field.alias or name}" if place else (field.alias or name)
        if isinstance(item, Quantity):
            yield here, item
        elif isinstance(item, LogGP):
            for locality in LOCALITIES:
                limit = item.eager_limit(locality)
                if limit is not None:
                    yield f"{here}.{locality}.eager_limit", limit
        elif isinstance(item, BaseModel):
            yield from _below(item, here)
        elif isinstance(item, list):
            for entry in item:
                if isinstance(entry, BaseModel):
                    yield from _below(entry, f"{here}[{_coordinates(entry)}]")


def _coordinates(entry: BaseModel) -> str:
    plain = [(name, item) for name, item in entry if isinstance(item, (int, str)) and name not in ("what", "note")]
    return ", ".join(f"{name} {item}" for name, item in plain)


def _ranges(a: Machine, b: Machine) -> tuple[list[Pair], list[str], list[str]]:
    pairs: list[Pair] = []
    only_a: list[str] = []
    only_b: list[str] = []
    for locality in LOCALITIES:
        mine, other = a.loggp.of(locality), b.loggp.of(locality)
        if mine is None or other is None:
            rest, lacking = (mine, only_a) if mine is not None else (other, only_b)
            lacking += [] if rest is None else [f"loggp.{locality}"]
            continue
        for low, high, found in mine.spans(1, LARGEST):
            middle = math.sqrt(low * high)
            against = next((r for lo, hi, r in other.spans(1, LARGEST) if lo <= middle <= hi), other.range[-1])
            for name in Range.model_fields:
                x, y = getattr(found, name), getattr(against, name)
                where = f"loggp.{locality}.{name} ({_sizes_text(low, found)})"
                if isinstance(x, Quantity) and isinstance(y, Quantity):
                    pairs.append(_pair(where, x, y, a, b))
                elif isinstance(x, Quantity):
                    only_a.append(where)
                elif isinstance(y, Quantity):
                    only_b.append(where)
    return pairs, only_a, only_b


def _table_of(name: str) -> str:
    """The first part of a value's name: log3p of log3p.point[size_bytes 8].o_mw, observed of observed[name L]."""
    return name.partition(".")[0].partition("[")[0]


def _sizes_text(low: int, found: Range) -> str:
    if found.up_to_bytes:
        return f"up to {found.up_to_bytes} B"
    return f"above {low - 1} B" if low > 1 else "any size"


def _pair(name: str, x: Quantity, y: Quantity, a: Machine, b: Machine) -> Pair:
    in_unit_of_x = 1.0 / to_base(1.0, x.unit, a.clock_hz)
    ends = [tuple(v * in_unit_of_x for v in _interval(q, m)) for q, m in ((x, a), (y, b))]
    return Pair(name, x.unit, (ends[0][0], ends[0][1], ends[0][2]), (ends[1][0], ends[1][1], ends[1][2]))


def _interval(quantity: Quantity, machine: Machine) -> tuple[float, float, float]:
    """Value and interval in base units."""
    clock = machine.clock_hz
    value = quantity.base(clock)
    span = quantity.interval or quantity.range
    if span is not None:
        return value, to_base(span[0], quantity.unit, clock), to_base(span[1], quantity.unit, clock)
    half = quantity.base_error(clock) or 0.0
    return value, value - half, value + half
