"""What the checker of machine files found, in words for somebody who writes TOML and has never seen the schema."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from logpost.machines.quantity import Quantity
from logpost.machines.schema import NAME, Machine

_FIXED = {
    "string_type": "must be text in quotes",
    "string_too_short": "must not be empty",
    "list_type": "must be a list in [ ]; tables of a list are written [[...]]",
    "tuple_type": "must be two numbers, e.g. [4.1, 5.3]",
    "too_long": "must be two numbers, e.g. [4.1, 5.3]",
    "too_short": "must have at least one entry",
    "dict_type": "must be a table, e.g. [sources.KEY]",
    "model_attributes_type": "must be a table",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number without quotes and unit",
    "int_parsing_size": "is too large",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number without quotes; the unit stands in unit",
}
"""Kind of problem (as pydantic names it) -> what the value must be."""

_BOUNDS = {
    "greater_than": "more than",
    "greater_than_equal": "at least",
    "less_than": "less than",
    "less_than_equal": "at most",
}


def must_be(problem: dict[str, Any]) -> str:
    """What the value of this problem must be. The schema's own sentences and unforeseen kinds stay as they are."""
    kind = str(problem["type"])
    context = problem.get("ctx", {})
    if kind == "literal_error":
        expected = str(context["expected"])
        return f"must be {expected}"
    if kind == "union_tag_invalid":
        return f"must be one of {context['expected_tags']}"
    if kind == "string_pattern_mismatch":
        if context["pattern"] != NAME:
            return "must be made of letters, digits, - _ and ., without spaces"
        return "must begin with a small letter or digit; then small letters, digits, - _ and . may follow"
    if kind == "float_type" and isinstance(problem.get("input"), int) and not isinstance(problem["input"], bool):
        return "is too large"
    if kind in _BOUNDS:
        ((_, bound),) = context.items()
        return f"must be {_BOUNDS[kind]} {bound if isinstance(bound, int) else f'{bound:g}'}"
    if kind == "model_type":
        if context.get("class_name") in {made.__name__ for made in _quantities()}:
            return (
                'is not a number, nor a table of value, unit and source such as { value = 1.5, unit = "us", '
                'source = "KEY" }'
            )
        return "must be a table"
    return _FIXED.get(kind, str(problem["msg"]).removeprefix("Value error, "))


def meant(key: str) -> str:
    """What to do about a key that does not belong there: the one that is meant, or where the keys are explained."""
    if key in _keys():
        return " in this table; see `logpost machines template`"
    near = get_close_matches(key, _keys(), n=1)
    return f"; do you mean {near[0]}?" if near else "; see `logpost machines template`"


@cache
def _keys() -> tuple[str, ...]:
    """Every key that a machine file may have somewhere, tables included."""
    found: set[str] = {"source", "where", "units", "basis", "confidence"}
    for model in _models(Machine):
        found |= {field.alias or name for name, field in model.model_fields.items()}
    return tuple(sorted(found))


def _quantities() -> list[type[Quantity]]:
    return [model for model in _models(Machine) if issubclass(model, Quantity)]


def _models(start: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model and all that its fields hold, each once."""
    seen: set[type[BaseModel]] = set()
    waiting: list[Any] = [start]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            if kind not in seen:
                seen.add(kind)
                waiting += [field.annotation for field in kind.model_fields.values()]
                yield kind
        else:
            waiting += get_args(kind)
