"""The table of `machines show`: at any width of the terminal, every value is with its name, unit and source."""

from __future__ import annotations

import pytest
from tests.machines.builders import machine

from logpost.machines.schema.load import library_names, load_machine
from logpost.machines.show.row import Row
from logpost.machines.show.rows import observation_rows, rows
from logpost.machines.show.sheet import sheet

ROW = Row("loggp.other_node", "L", "6.3", "us", "± 0.1", "LOGP, Section 3.3", "printed", "")


def changed(**parts: str) -> Row:
    return Row(**{**ROW.__dict__, **parts})


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", library_names())
def test_lines_keep_the_width_and_names_are_not_broken(name: str, width: int) -> None:
    machine = load_machine(name)
    for found in (rows(machine), observation_rows(machine)):
        lines = sheet("t", found, width).plain.splitlines()
        assert max(map(len, lines)) <= width
        starts = [line.split() for line in lines]
        for row in found:
            # A name of the file, or the first word of a longer one, is whole on its line.
            assert any(words[:1] == row.key.split()[:1] for words in starts), row.key
            if row.value:
                mine = [line for line in lines if row.value in line and row.unit in line]
                assert any(row.source.split(",")[0] in line for line in mine), row.key


def test_a_section_is_above_its_values() -> None:
    plain = sheet("Parameters", [ROW, changed(key="g", value="7.6")], 80).plain
    assert plain.splitlines() == [
        "Parameters",
        "     value  unit  uncertainty  source",
        "loggp.other_node",
        "  L    6.3  us    ± 0.1        LOGP, Section 3.3",
        "  g    7.6  us    ± 0.1        LOGP, Section 3.3",
    ]


def test_what_no_source_states_is_said_once() -> None:
    unstated = changed(uncertainty="not stated by the source")
    assert "uncertainty" not in sheet("t", [unstated, unstated], 80).plain.splitlines()[1]
    assert sheet("t", [unstated], 80).plain.endswith("Uncertainty: not stated by the source.\n")
    mixed = sheet("t", [ROW, unstated], 80).plain
    assert "us    -" in mixed
    assert mixed.endswith("- : uncertainty not stated by the source\n")


def test_one_confidence_is_said_in_the_heading() -> None:
    a, b = changed(uncertainty="1 to 2 at 95%"), changed(uncertainty="± 3 at 95%")
    lines = sheet("t", [a, b], 80).plain.splitlines()
    assert "uncertainty at 95%" in lines[1]
    assert not any("at 95%" in line for line in lines[2:])
    assert "± 3 at 90%" in sheet("t", [a, changed(uncertainty="± 3 at 90%")], 80).plain


def test_remarks_are_numbered_and_equal_ones_are_one() -> None:
    notes = ["±5 % not reached: ±12%", "±5 % not reached: ±3 us", "", "1 / 2"]
    found = [changed(key=f"k{i}", basis="measured", note=note) for i, note in enumerate(notes)]
    lines = sheet("t", found, 80).plain.splitlines()
    assert [line.split("  ")[1] for line in lines[3:7]] == ["k0 [1]", "k1 [1]", "k2 [2]", "k3 [3]"]
    assert lines[7:] == ["[1] measured: ±5 % not reached", "[2] measured", "[3] measured: 1 / 2"]


def test_words_take_the_whole_width() -> None:
    words = Row("nic", "location = " + "far " * 30, "", "", "", "LOGP", "printed", "")
    lines = sheet("t", [ROW, words], 60).plain.splitlines()
    assert lines[5].startswith("  location = far far")
    assert len(lines[5]) > 50


def test_without_values_there_are_no_columns() -> None:
    words = Row("nic", "location = bus", "", "", "", "LOGP", "printed", "")
    assert sheet("t", [words], 60).plain.splitlines() == ["t", "nic", "  location = bus  (LOGP)"]


def test_an_interval_is_not_broken_at_80_characters() -> None:
    """Long names, a number of 16 characters and a source of 9: the name gives way, the interval does not."""
    small = {"unit": "us", "source": "SIGNATURE", "basis": "measured", "confidence": 0.95}
    latency = {"value": 0.0801205, "interval": [0.0136623, 0.163108], **small}
    nothing = {"value": 0.0, "interval": [0, 0.00033912], **small}
    gap = {"value": 3.79012, "interval": [3.43217, 4.06642], **small, "unit": "ns/B"}
    point = {"size_bytes": 1048576, "processors": 2, "pattern": "nearest-neighbour", "level": "highest", "G": gap}
    source = {"kind": "measurement", "text": "t", "date": "2026", "host": "h", "method": "m"}
    made = machine(
        source="SIGNATURE",
        sources={"SIGNATURE": source},
        loggp={"same_socket": {"L": latency, "o_s": nothing, "o_r": nothing, "G": gap}},
        overlap={"G": [point]},
    )
    lines = sheet("Parameters", rows(made), 80).plain.splitlines()
    assert "uncertainty at 95%" in lines[1]
    assert any(
        line.split() == ["L", "[1]", "0.0801205", "us", "0.01366", "to", "0.1631", "SIGNATURE"] for line in lines
    )
    (name,) = [k for k, line in enumerate(lines) if "nearest-neighbour, highest" in line]
    assert lines[name].startswith("  G: processors 2, size 1048576 B")
    assert lines[name + 1].split() == ["3.79012", "ns/B", "3.432", "to", "4.066", "SIGNATURE"]
