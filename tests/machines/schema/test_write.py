"""Machine -> TOML -> the same machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.machines.builders import machine

from logpost.machines.schema.load import TEMPLATE, check_machine_file, library_names, load_machine, load_machine_file
from logpost.machines.schema.write import to_toml


@pytest.mark.parametrize("name", library_names())
def test_library_machines_survive(name: str, tmp_path: Path) -> None:
    given = load_machine(name)
    path = tmp_path / "copy.toml"
    path.write_text(to_toml(given), encoding="utf-8")
    assert load_machine_file(path) == given


def test_template_survives(tmp_path: Path) -> None:
    given, _ = check_machine_file(TEMPLATE)
    assert given is not None
    path = tmp_path / "copy.toml"
    path.write_text(to_toml(given), encoding="utf-8")
    assert load_machine_file(path) == given


def test_names_and_numbers_that_need_care(tmp_path: Path) -> None:
    sources = {
        "my bench": {"kind": "paper", "text": 'quotes " and \\ and \n and µ and \x7f'},
    }
    loggp = {
        "self": {
            "L": 1e-7,
            "o_s": 0.1 + 0.2,
            "o_r": {"value": 2**60, "unit": "ps"},
            "G": {"value": 3, "interval": [2.5, 3.5], "confidence": 0.95},
        }
    }
    given = machine(sources=sources, source="my bench", loggp=loggp, mapping={"ranks_per_node": 3})
    path = tmp_path / "copy.toml"
    path.write_text(to_toml(given), encoding="utf-8")
    assert load_machine_file(path) == given


def test_each_value_is_written_with_its_own_unit_and_source() -> None:
    text = to_toml(machine())
    assert 'L = { value = 5, unit = "us", source = "BENCH" }' in text
    assert "[[loggp.other_node.range]]" in text
