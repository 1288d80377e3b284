"""Whatever a document holds, the check returns a machine or sentences, never a traceback."""

from __future__ import annotations

import copy
import datetime
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.machines.builders import machine

from logpost.machines.schema.load import TEMPLATE, check_machine, check_machine_file, load_machine_file
from logpost.machines.schema.write import to_toml
from logpost.machines.values.toml import tomllib

GOOD: dict[str, Any] = tomllib.loads(TEMPLATE.read_text(encoding="utf-8"))

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(
        ["us", "cycle/B", "BENCH", "mesh", "range", 2**63, datetime.date(2026, 1, 31), datetime.time(1, 2)]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    found: list[tuple[Any, Any]] = []
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, item in items:
        found.append((document, key))
        found += places(item)
    return found


@pytest.mark.slow
@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_damaged_document_is_accepted_or_explained(data: st.DataObject) -> None:
    document = copy.deepcopy(GOOD)
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(document)))
        if isinstance(container, dict) and data.draw(st.booleans()):
            container[data.draw(st.sampled_from([*container, "L", "range", "unit", "where", "extra"]))] = data.draw(
                VALUES
            )
        elif data.draw(st.booleans()):
            container[key] = data.draw(VALUES)
        else:
            del container[key]
    found, problems = check_machine(document, "file.toml")
    assert (found is None) == bool(problems)
    for line in problems:
        assert line.startswith("file.toml: ")


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_explained(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bytes.toml"
        path.write_bytes(content)
        assert check_machine_file(path)[1]


# With s as the unit up to 9e6 s: int64 holds 9.22e18 ps.
NUMBERS = st.floats(0, 9e6, allow_nan=False)


@given(NUMBERS, NUMBERS, st.sampled_from(["us", "ns", "s", "ps"]), st.text(max_size=20))
@settings(max_examples=100, deadline=None)
def test_any_number_and_text_survive_writing(L: float, error: float, unit: str, note: str) -> None:
    given_machine = machine(
        notes=[note] if note else [],
        loggp={"other_node": {"L": {"value": L, "unit": unit, "uncertainty": error, "note": note or None}}}
        if note
        else {"other_node": {"L": {"value": L, "unit": unit, "uncertainty": error}}},
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.toml"
        path.write_text(to_toml(given_machine), encoding="utf-8", newline="")
        assert load_machine_file(path) == given_machine


@pytest.mark.parametrize("wrong", [5, -1, 1.5, "x", "", True, [], [1], [1, 2, 3], {}, {"x": 1}], ids=repr)
def test_no_mistake_is_reported_in_the_words_of_the_validator(wrong: object) -> None:
    for i in range(len(places(GOOD))):
        document = copy.deepcopy(GOOD)
        container, key = places(document)[i]
        container[key] = wrong
        for line in check_machine(document, "toy.toml")[1]:
            assert line.startswith("toy.toml: ")
            assert "\n" not in line
            assert not re.search(r"Input|should|valid |parse|dictionary|tuple|string|union|None", line), line
