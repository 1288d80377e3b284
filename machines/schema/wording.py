"""Error messages of the machine-file checker, for an author of a TOML file without knowledge of the schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from logpost.machines.schema import NAME, LocalityClass, Machine, Range
from logpost.machines.topologies import Topology
from logpost.machines.values.quantity import DEFAULT_KEYS, Quantity

MOST_KEYS = 16
"""Keys of a table that a message lists; the template explains more of them better."""

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
    "float_parsing": "must be a number without quotes; write the unit into unit",
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


def meant(place: Sequence[int | str]) -> str:
    """What to do about a key that does not belong there: the one of its table that is meant, or those there are.

    `place` is the checker's: with the kind of a topology after its name.
    """
    key, here = str(place[-1]), _keys_of(tuple(place[:-1]))
    there = " in this table" if key in _keys() else ""
    small = {one.lower(): one for one in here}
    near = get_close_matches(key.lower(), list(small), n=1)
    if near:
        return f"{there}; do you mean {small[near[0]]}?"
    return (
        f"{there}; it has {', '.join(here)}"
        if 0 < len(here) <= MOST_KEYS
        else f"{there}; see `logpost machines template`"
    )


def _keys_of(place: tuple[int | str, ...]) -> tuple[str, ...]:
    """The keys that the table at a place may have, without those of the defaults."""
    kinds: list[type[BaseModel]] = [Machine]
    inside_dict = False
    for part in place:
        if isinstance(part, int) or inside_dict:
            inside_dict = False
            continue
        if any(_kind_of(kind) == part for kind in kinds):
            kinds = [kind for kind in kinds if _kind_of(kind) == part]
            continue
        annotations = [field.annotation for kind in kinds for name, field in _fields(kind) if name == part]
        kinds = [found for annotation in annotations for found in _directly_in(annotation)]
        inside_dict = any(get_origin(annotation) is dict for annotation in annotations)
    if LocalityClass in kinds:
        kinds.append(Range)
    return tuple(dict.fromkeys(name for kind in kinds for name, _ in _fields(kind)))


def _fields(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    return [(field.alias or name, field) for name, field in model.model_fields.items()]


def _kind_of(model: type[BaseModel]) -> str | None:
    """The kind that a topology is chosen by."""
    kind = model.model_fields.get("kind")
    names = get_args(kind.annotation) if kind is not None and issubclass(model, Topology) else ()
    return str(names[0]) if names else None


def _directly_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation names, e.g. each of a union, or that of a list's entries."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _directly_in(part)


@cache
def _keys() -> tuple[str, ...]:
    """Every key that a machine file may have somewhere, tables included."""
    found: set[str] = set(DEFAULT_KEYS)
    for model in _models(Machine):
        found |= {name for name, _ in _fields(model)}
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
