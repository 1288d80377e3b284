"""The chosen machine as JSON, for the process that analyzes what another one chose it for.

Nothing of the text is carried out: its keys are the fields of `ChosenMachine` and of the classes in it, whose
declarations say what is read. The machine itself is read from its file's text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from logpost.analyzer.machine.choose import ChosenMachine
from logpost.machines import Machine
from logpost.machines.schema.load import check_machine
from logpost.machines.values.toml import tomllib


def text_of(chosen: ChosenMachine) -> str:
    """The machine as JSON."""
    has_machine = chosen.machine is not None
    return json.dumps({"has_machine": has_machine, "chosen": _plain(replace(chosen, machine=None))})


def of_text(text: str) -> ChosenMachine:
    """The machine of `text_of`."""
    read = json.loads(text)
    chosen: ChosenMachine = _as(ChosenMachine, read["chosen"])
    machine = check_machine(tomllib.loads(chosen.text), chosen.label)[0] if read["has_machine"] else None
    return replace(chosen, machine=machine)


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "shape": value.shape, "values": value.ravel().tolist()}
    if isinstance(value, np.generic):
        return value.item()
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _as(declared: Any, value: Any) -> Any:
    """A value of JSON as a declared type has it."""
    origin, inner = get_origin(declared), get_args(declared)
    if value is None or origin is Literal or declared is Machine:
        return value
    if origin in (Union, UnionType):
        return _as(next(one for one in inner if one is not type(None)), value)
    if is_dataclass(declared):
        hints = get_type_hints(declared)
        return declared(**{name: _as(hints[name], one) for name, one in value.items()})  # type: ignore[operator]
    if origin is np.ndarray:
        return np.array(value["values"], dtype=value["dtype"]).reshape(value["shape"])
    if origin is Mapping:
        return {name: _as(inner[1], one) for name, one in value.items()}
    if origin is tuple and inner[-1] is not ...:
        return tuple(map(_as, inner, value))
    if origin in (list, tuple):
        return origin(_as(inner[0], one) for one in value)
    return value
