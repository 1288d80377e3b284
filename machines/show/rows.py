"""The content of `logpost machines show` as plain data: rows of parameters, sources and observations."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from logpost.machines.schema import Machine, Observation, Range
from logpost.machines.show.row import Row
from logpost.machines.show.spans import MOST, observed_rows, point_rows
from logpost.machines.values.quantity import Quantity
from logpost.machines.values.text import shown

MOST_ENTRIES = 32
"""Entries of a list (the nodes of ranks) that are shown."""


def rows(machine: Machine, most: int | None = None) -> list[Row]:
    """Every value of the file but the observations, and what its tables say in words, in the file's order.

    Args:
        machine: whose file it is.
        most: entries of a table up to which each has separate rows; None: each of any table.
    """
    return list(_rows(machine, "", most))


def shortened(machine: Machine) -> list[Row]:
    """The same, a long table in a row per quantity."""
    return rows(machine, MOST)


def _rows(table: BaseModel, section: str, most: int | None) -> Iterator[Row]:
    for name, field in type(table).model_fields.items():
        item = getattr(table, name)
        key = field.alias or name
        inner = f"{section}.{key}" if section else key
        if isinstance(item, Quantity):
            yield _row(section, key, item)
        elif isinstance(item, BaseModel):
            yield from _facts(item, inner)
            yield from _rows(item, inner, most)
        elif isinstance(item, list):
            before = None
            points = [one for one in item if isinstance(one, BaseModel) and not isinstance(one, (Range, Observation))]
            if most is not None and len(points) > most:
                yield from point_rows(inner, points)
                continue
            for entry in item:
                if isinstance(entry, Range):
                    yield from _rows(entry, section + _sizes(entry, before), most)
                    before = entry
                elif isinstance(entry, BaseModel) and not isinstance(entry, Observation):
                    yield from _entry_rows(inner, entry)


def _facts(table: BaseModel, section: str) -> Iterator[Row]:
    """What a table says in words or in plain numbers, with the source of the table where it keeps one."""
    source = getattr(table, "source", None)
    where = getattr(table, "where", None)
    cited = ", ".join(part for part in (source, where) if part) if isinstance(source, str) else ""
    for name, item in table:
        if name not in table.model_fields_set or name in ("source", "where", "note"):
            continue
        if not isinstance(item, (str, int, list)) or _tables(item):
            continue
        text = f"{name} = {_words(item)}"
        note = getattr(table, "note", None) or ""
        yield Row(section, text, "", "", "", cited, "printed", note if name == "kind" else "")


def _words(item: object) -> str:
    """A plain value as TOML writes it, lists without their brackets and no longer than a few lines."""
    if isinstance(item, list):
        shown = ", ".join(map(_words, item[:MOST_ENTRIES]))
        return shown if len(item) <= MOST_ENTRIES else f"{shown}, ... ({len(item)} entries)"
    return str(item).lower() if isinstance(item, bool) else str(item)


def _sizes(entry: Range, before: Range | None) -> str:
    """The sizes of a range, after the name of its class."""
    if entry.up_to_bytes is not None:
        return f", up to {entry.up_to_bytes} B"
    return "" if before is None else f", above {before.up_to_bytes} B"


def _tables(item: object) -> bool:
    return isinstance(item, list) and (not item or isinstance(item[0], BaseModel))


def _entry_rows(section: str, entry: BaseModel) -> Iterator[Row]:
    """One entry of a list: a separate row when it holds one value, a section when it holds several."""
    values = [(name, item) for name, item in entry if isinstance(item, Quantity)]
    if len(values) == 1:
        yield _row(section, f"{values[0][0]}: {entry_name(entry)}", values[0][1])
    else:
        yield from _rows(entry, f"{section}: {entry_name(entry)}", None)


def entry_name(entry: BaseModel) -> str:
    """What distinguishes one entry of a list from the others, e.g. "size 1024 B, burst 8"."""
    plain = []
    for name, item in entry:
        if isinstance(item, int):
            plain.append(f"{name.removesuffix('_bytes')} {item} B" if name.endswith("_bytes") else f"{name} {item}")
        elif isinstance(item, str):
            plain.append(item)
    return ", ".join(plain)


def source_lines(machine: Machine) -> list[str]:
    """Each source in a sentence: what it is, where to look it up; of a measurement date, host and method.

    What a source says like one before it is not said again.
    """
    found: list[str] = []
    first: dict[str, str] = {}
    for key, source in machine.sources.items():
        place = " ".join(part for part in (f"<{source.url}>" if source.url else "", source.path or "") if part)
        made = ", ".join(part for part in (source.date, f"on {source.host}" if source.host else None) if part)
        text = "; ".join(part for part in (source.text, place, made) if part)
        shown = f"as {first[text]}" if text in first else text
        first.setdefault(text, key)
        found.append(f"{key}: {shown}" + (f"; {source.method}" if source.method else ""))
    return found


def observation_rows(machine: Machine) -> list[Row]:
    """The observations, with their sentence as the key."""
    return [_row(o.name, o.what, o.result) for o in machine.observed]


def shortened_observations(machine: Machine) -> list[Row]:
    """The same, those of one kind in a row where they are many."""
    return [row or _row(o.name, o.what, o.result) for o, row in observed_rows(machine.observed)]


def _row(section: str, key: str, quantity: Quantity) -> Row:
    where = f", {quantity.where}" if quantity.where else ""
    found = shown(quantity)
    level = f" at {quantity.confidence:.0%}" if quantity.confidence is not None else ""
    return Row(
        section=section,
        key=key,
        value=value_text(quantity) if found.identifiable else found.value,
        # The unit of a pure number says nothing.
        unit="" if quantity.unit == "1" or not found.identifiable else quantity.unit,
        uncertainty=quantity.uncertainty_text() if found.identifiable else found.interval + level,
        source=quantity.source + where,
        basis=quantity.basis,
        note=quantity.note or "",
    )


def value_text(quantity: Quantity) -> str:
    """The number as the source prints it; a span as "300 to 600"."""
    if quantity.value is not None:
        return f"{quantity.value:.12g}"
    assert quantity.range is not None
    return f"{quantity.range[0]:.12g} to {quantity.range[1]:.12g}"
