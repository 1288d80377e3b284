"""A machine as one JSON object: what `logpost machines show --json` prints.

    tables  the tables that the file has, as the schema reads them: every value in its long form with unit and source,
            the file's defaults filled in. Values directly in a locality class are its one `range`.
    values  the same values in a flat list by their place in `tables`; `at` are the coordinates of a value of a list:
            up_to_bytes of a range, size_bytes, stride_bytes and block_bytes of a log3P point, access and home of a
            miss, name and what of an observation. null: a range of any larger size, contiguous data, not stated.

A value without `uncertainty`, `interval` and `range` has none that its source states. All numbers are finite.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from logpost.machines.parameters.feeds import feeds
from logpost.machines.parameters.verbs import verbs
from logpost.machines.schema import Machine
from logpost.machines.schema.places import key_name, located
from logpost.machines.values.quantity import Quantity, quantity_type

HEAD = ("format", "name", "title", "date", "kind", "notes", "sources")
"""The parts that are stated once, apart from the tables."""


def summary(machine: Machine) -> dict[str, Any]:
    """What `list` says of a machine: its head, its topology in words, the verbs and models that it feeds."""
    return {
        "name": machine.name,
        "title": machine.title,
        "year": machine.year,
        "date": machine.date,
        "kind": machine.kind,
        "topology": machine.topology.describe() if machine.topology is not None else None,
        "verbs": {verb: {"able": not gaps, "missing": gaps} for verb, gaps in verbs(machine).items()},
        "feeds": {model: {"able": not gaps, "missing": gaps} for model, gaps in feeds(machine).items()},
    }


def document(machine: Machine) -> dict[str, Any]:
    """All that the file says, see the module's text."""
    return {
        **summary(machine),
        "notes": machine.notes,
        "sources": {key: source.model_dump(exclude_none=True) for key, source in machine.sources.items()},
        "topology_table": _without_quantities(machine.topology),
        "mapping": _without_quantities(machine.mapping),
        "topology_facts": machine.topology.facts() if machine.topology is not None else None,
        "values": values(machine),
        "tables": tables(machine),
    }


def values(machine: Machine) -> dict[str, Any]:
    """Every value by its place, with `at` where it is one of a list."""
    return {
        key_name(found.place): {
            **({} if found.entry is None else {"at": coordinates(found.entry)}),
            **found.quantity.model_dump(mode="json", exclude_none=True),
        }
        for found in located(machine)
    }


def coordinates(entry: BaseModel) -> dict[str, Any]:
    """What distinguishes an entry of a list from the others: all in it that is no quantity."""
    return {
        field.alias or name: getattr(entry, name)
        for name, field in type(entry).model_fields.items()
        if quantity_type(field.annotation) is None
    }


def tables(machine: Machine) -> dict[str, Any]:
    """The tables that the file has."""
    given = {key for key in machine.model_fields_set if key not in HEAD}
    dumped: dict[str, Any] = machine.model_dump(mode="json", by_alias=True, exclude_none=True, include=given)
    return {key: _filled(table) for key, table in dumped.items() if _filled(table)}


def _filled(item: Any) -> Any:
    """Without the lists and tables that hold nothing."""
    if isinstance(item, dict):
        inner = {key: _filled(part) for key, part in item.items()}
        return {key: part for key, part in inner.items() if part not in ([], {})}
    return [_filled(part) for part in item] if isinstance(item, list) else item


def _without_quantities(table: BaseModel | None) -> dict[str, Any] | None:
    if table is None:
        return None
    own = {name for name, item in table if isinstance(item, Quantity)}
    return table.model_dump(mode="json", exclude_none=True, exclude=own)
