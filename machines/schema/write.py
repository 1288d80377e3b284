"""Machine -> TOML text: every value in its long form, with its own unit and source."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from logpost.machines.schema import Machine
from logpost.machines.values.quantity import Quantity


def to_toml(machine: Machine) -> str:
    """The machine as a TOML document that `load_machine` reads back to an equal machine."""
    lines: list[str] = []
    _table("", machine, lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(path: str, table: BaseModel, lines: list[str]) -> None:
    plain: list[str] = []
    below: list[tuple[str, Any]] = []
    for name, field in type(table).model_fields.items():
        item = getattr(table, name)
        key = field.alias or name
        if item is None or item == [] or item == field.get_default(call_default_factory=True):
            continue
        if isinstance(item, Quantity):
            plain.append(f"{key} = {_quantity(item)}")
        elif isinstance(item, (BaseModel, dict)) or _holds_models(item):
            below.append((key, item))
        else:
            plain.append(f"{key} = {_value(item)}")
    lines += plain
    for key, item in below:
        place = f"{path}.{_key(key)}" if path else _key(key)
        if isinstance(item, list):
            for entry in item:
                lines += ["", f"[[{place}]]"]
                _table(place, entry, lines)
        elif isinstance(item, dict):
            if _holds_models(item):
                for name, entry in item.items():
                    lines += ["", f"[{place}.{_key(name)}]"]
                    _table(f"{place}.{_key(name)}", entry, lines)
            else:
                lines += ["", f"[{place}]", *(f"{_key(name)} = {_value(entry)}" for name, entry in item.items())]
        else:
            lines += ["", f"[{place}]"]
            _table(place, item, lines)


def _holds_models(item: Any) -> bool:
    entries = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    return any(isinstance(entry, BaseModel) for entry in entries)


def _quantity(quantity: Quantity) -> str:
    parts = []
    for name in type(quantity).model_fields:
        item = getattr(quantity, name)
        if item is None or (name == "basis" and item == "printed"):
            continue
        parts.append(f"{name} = {_value(item)}")
    return "{ " + ", ".join(parts) + " }"


def _value(item: Any) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, float):
        return repr(int(item)) if item.is_integer() and abs(item) < 2**53 else repr(item)
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(_value(entry) for entry in item) + "]"
    if isinstance(item, str):
        return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(item)


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else json.dumps(name)
