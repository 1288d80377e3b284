"""The worked examples of docs/split.md are what the code computes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.replay.native.test_split import PARTS, split

from logpost.machines import RangeValues, ReplayParameters, assemble
from logpost.machines.parameters import UNLIMITED
from logpost.replay import _native
from logpost.replay.cost.message_models import MessageModel

PAGE = Path(__file__).resolve().parents[3] / "docs" / "split.md"
NS = 1000


def examples() -> list[list[str]]:
    """The cells of the two rows of section 5."""
    rows = re.findall(r"^\| (the (?:receiver|message) waits \|.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows]


def machine_of_the_page() -> ReplayParameters:
    values = RangeValues(max_bytes=UNLIMITED, L_ps=500 * NS, o_s_ps=100 * NS, o_r_ps=100 * NS, G_ps_per_byte=NS // 10)
    return assemble("page", "docs/split.md", {"other_node": [values]}, eager_limits={}, nics_per_node=1)


@pytest.mark.parametrize("cells", examples(), ids=lambda cells: cells[0])
def test_an_eager_example(cells: list[str]) -> None:
    s0, s1, rw0, rw1 = (NS * int(time) for cell in cells[1:3] for time in cell.split(","))
    wanted = dict(
        zip(
            ("late_sender", "send_overhead", "latency", "serialization", "late_receiver", "recv_overhead", "residual"),
            (NS * int(cell) for cell in cells[3:]),
            strict=True,
        )
    )
    found = split({"s0": s0, "s1": s1, "rw0": rw0, "rw1": rw1}, size=1001, on=machine_of_the_page())
    assert found == {part: time for part, time in wanted.items() if time}


def test_there_are_two_of_them() -> None:
    assert len(examples()) == 2


def test_the_example_of_the_fit() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    said = re.search(
        r"D = (\d+), tiers that want (\d+) and (\d+) \+ (\d+) get (\d+) and (\d+) \+ (\d+); deficit = (\d+)\.", text
    )
    assert said
    measured, *wants = map(int, said.groups()[:4])
    *gets, deficit = map(int, said.groups()[4:])
    assert _native.fit(measured, wants, [0, 1, 1]) == (gets, 0, deficit)


def test_every_part_is_explained() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("## 3. ")[2].partition("## 4. ")[0]
    assert tuple(re.findall(r"^\| (\w+) \|", table, re.MULTILINE))[1:] == PARTS


def test_every_model_has_its_row() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## 8. ")[2].partition("## 9. ")[0]
    rows = re.findall(r"^\| (\w+) \|", section, re.MULTILINE)
    assert rows[0] == "model"
    assert sorted(rows[1:]) == sorted(model.label for model in MessageModel)
