"""The place of a value in a machine file: the table, the entry of a list, the key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from logpost.machines.values.quantity import Quantity

Place = tuple[int | str, ...]


@dataclass(frozen=True)
class Located:
    """A value, its place, and the entry of a list that holds it: the entry's plain fields are its coordinates."""

    place: Place
    quantity: Quantity
    entry: BaseModel | None


def located(table: BaseModel, place: Place = (), entry: BaseModel | None = None) -> Iterator[Located]:
    """Every quantity below `table`, in the file's order."""
    for name, field in type(table).model_fields.items():
        item = getattr(table, name)
        here = (*place, field.alias or name)
        if isinstance(item, Quantity):
            yield Located(here, item, entry)
        elif isinstance(item, BaseModel):
            yield from located(item, here, entry)
        elif isinstance(item, list):
            for i, one in enumerate(item):
                if isinstance(one, BaseModel):
                    yield from located(one, (*here, i), one)


def quantities(table: BaseModel) -> Iterator[tuple[str, Quantity]]:
    """Every quantity below `table` with its place in words, e.g. ("loggp.other_node.range[0].L", 6.3 us)."""
    for found in located(table):
        yield key_name(found.place), found.quantity


def whole_numbers(table: BaseModel, place: Place = ()) -> Iterator[tuple[Place, int]]:
    """Every plain whole number below `table` with its place: coordinates of tables, dimensions of a topology."""
    for name, field in type(table).model_fields.items():
        item = getattr(table, name)
        here = (*place, field.alias or name)
        for part, at in zip(item, range(len(item)), strict=True) if isinstance(item, list) else ((item, None),):
            where = here if at is None else (*here, at)
            if isinstance(part, int) and not isinstance(part, bool):
                yield where, part
            elif isinstance(part, BaseModel) and not isinstance(part, Quantity):
                yield from whole_numbers(part, where)


def key_name(place: Sequence[int | str]) -> str:
    """A place in the file as a TOML reader would write it: loggp.other_node.range[0].L."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text
