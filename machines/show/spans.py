"""Long tables of a machine file in a row per quantity: how many values it has, from where to where they reach.

A calibration states hundreds of points, too many to read as text; `machines show --all` and `--json` have each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pydantic import BaseModel

from logpost.machines.schema import Observation
from logpost.machines.show.row import Row
from logpost.machines.values.quantity import NOT_STATED, Quantity
from logpost.machines.values.units import UNITS

MOST = 16
"""Entries of a table up to which each is shown."""


def point_rows(section: str, entries: Sequence[BaseModel]) -> Iterator[Row]:
    """A row for each quantity that the entries of a table have."""
    for name in type(entries[0]).model_fields:
        having = [entry for entry in entries if isinstance(getattr(entry, name), Quantity)]
        if having:
            field = type(entries[0]).model_fields[name]
            yield _row(section, field.alias or name, [getattr(one, name) for one in having], _reach(having))


def observed_rows(observed: Sequence[Observation]) -> Iterator[tuple[Observation, Row | None]]:
    """Each observation; for the first of many whose names differ in numbers alone, their row, and no other of them."""
    families: dict[str, list[Observation]] = {}
    for one in observed:
        families.setdefault(_family(one), []).append(one)
    for one in observed:
        family = families[_family(one)]
        if len(family) <= MOST:
            yield one, None
        elif one is family[0]:
            yield one, _row(_family(one), f"as {one.what}", [each.result for each in family], "")


def _family(one: Observation) -> str:
    return re.split(r"_?\d", one.name, maxsplit=1)[0] or one.name


def _row(section: str, name: str, quantities: Sequence[Quantity], reach: str) -> Row:
    unit = quantities[0].unit
    ends = [end for one in quantities for end in _ends(one, unit)]
    known = sum(one.uncertainty_text() != NOT_STATED for one in quantities)
    levels = {one.confidence for one in quantities}
    (level,) = levels if len(levels) == 1 else (None,)
    at = "" if level is None else f" at {level:.0%}"
    uncertainty = NOT_STATED if not known else f"each its own{at}" if known == len(quantities) else f"stated of {known}"
    sources = dict.fromkeys(one.source for one in quantities)
    return Row(
        section=section,
        key=f"{name}: {len(quantities)} values{', ' + reach if reach else ''}",
        value=f"{min(ends):.4g} to {max(ends):.4g}",
        unit="" if unit == "1" else unit,
        uncertainty=uncertainty,
        source=", ".join(sources),
        basis=", ".join(dict.fromkeys(one.basis for one in quantities)),
        note="",
    )


def _ends(one: Quantity, unit: str) -> tuple[float, ...]:
    """The value, or both ends of its span, in the unit."""
    factor = UNITS[one.unit].factor / UNITS[unit].factor if one.unit != unit else 1.0
    values = (one.value,) if one.value is not None else one.range or ()
    return tuple(value * factor for value in values)


def _reach(entries: Iterable[BaseModel]) -> str:
    """From where to where the entries' numbers reach, e.g. "size 8 to 4096 B, burst 1 to 64"."""
    numbers_of: dict[str, list[int]] = {}
    for entry in entries:
        for name, item in entry:
            if isinstance(item, int) and not isinstance(item, bool):
                numbers_of.setdefault(name, []).append(item)
    parts = []
    for name, numbers in numbers_of.items():
        span = str(numbers[0]) if len(set(numbers)) == 1 else f"{min(numbers)} to {max(numbers)}"
        parts.append(f"{name.removesuffix('_bytes')} {span}{' B' if name.endswith('_bytes') else ''}")
    return ", ".join(parts)
