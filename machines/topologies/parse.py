"""A topology as people write it on the command line: mesh:8x4, torus:4x4x2, fat-tree:4x4, crossbar:16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from logpost.errors import InputError
from logpost.machines.topologies import AnyTopology
from logpost.machines.topologies.base import Topology

HOW = "mesh:8x4, torus:4x4, ring:8, crossbar:16, hypercube:4, fat-tree:4x4 or dragonfly:3x2x2"


def parse_topology(text: str, source: str) -> Topology:
    """The topology of its kind and numbers; `source` is the key of what set it.

    Raises:
        InputError: there is no such kind, or its numbers do not make one.
    """
    kind, _, rest = text.partition(":")
    numbers = [int(part) for part in rest.split("x") if part.isdecimal()]
    fields: Mapping[str, dict[str, Any]] = {
        "mesh": {"dims": numbers},
        "torus": {"dims": numbers},
        "ring": {"nodes": numbers[:1]},
        "crossbar": {"nodes": numbers[:1]},
        "hypercube": {"n": numbers[:1]},
        "fat-tree": {"children": numbers},
        "dragonfly": dict(zip(("groups", "routers", "nodes_per_router"), ([n] for n in numbers), strict=False)),
    }
    if kind not in fields or not numbers or len(numbers) != len(rest.split("x")):
        raise InputError(f"topology = {text} is not known; write {HOW}")
    single = {"nodes", "n", "groups", "routers", "nodes_per_router"}
    given = {key: value[0] if key in single else value for key, value in fields[kind].items()}
    try:
        adapter: TypeAdapter[Topology] = TypeAdapter(AnyTopology)
        return adapter.validate_python({"kind": kind.replace("-", " "), "source": source, **given})
    except ValueError as error:
        raise InputError(f"topology = {text} is not known; write {HOW}") from error
