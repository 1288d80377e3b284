"""Machines for the tests: a small document to be changed at one place, and the text of a file."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from logpost.machines.schema import Machine
from logpost.machines.schema.load import check_machine

DOCUMENT: dict[str, Any] = {
    "format": 1,
    "name": "toy",
    "title": "A toy",
    "date": "2026-01",
    "kind": "measurement",
    "source": "BENCH",
    "units": ["us", "ns/B"],
    "sources": {
        "BENCH": {
            "kind": "measurement",
            "text": "ping-pong",
            "date": "2026-01-02",
            "host": "n1",
            "method": "minimum of 100",
        }
    },
    "loggp": {"other_node": {"L": 5, "o_s": 1, "o_r": 2, "g": 3, "G": 4}},
}


def document(**changes: Any) -> dict[str, Any]:
    """The document with some top-level keys replaced (or removed when None)."""
    made = copy.deepcopy(DOCUMENT)
    for key, item in changes.items():
        if item is None:
            made.pop(key, None)
        else:
            made[key] = item
    return made


def machine(**changes: Any) -> Machine:
    """The document as a machine; fails the test when it is refused."""
    made, problems = check_machine(document(**changes), "toy.toml")
    assert made is not None, problems
    return made


def problems(**changes: Any) -> list[str]:
    """What the check says about the changed document."""
    return check_machine(document(**changes), "toy.toml")[1]


def stated(name: str, units: Sequence[str], tables: str) -> str:
    """The text of a machine file whose values a test states."""
    return f"""format = 1
name = "{name}"
title = "Values that a test states"
date = "2026-01"
kind = "template"
source = "TEST"
units = [{", ".join(f'"{unit}"' for unit in units)}]
sources.TEST = {{kind = "manual", text = "invented for tests"}}
{tables}"""
