"""Two transformations at once: where the first changes nothing, the second one's change is there, in each column."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from logpost.analyzer.findings.cures.program import COLUMNS_OF_CHANGE, PARTS, Transformation


def test_each_column_is_known() -> None:
    assert {one.name for one in fields(Transformation)} == {
        *COLUMNS_OF_CHANGE,
        "edges",
        "further_nodes",
        "nics_per_node",
    }


@pytest.mark.parametrize("name", COLUMNS_OF_CHANGE)
def test_the_second_change_fills_what_the_first_leaves(name: str) -> None:
    kind, unchanged = COLUMNS_OF_CHANGE[name]
    first = Transformation(**{name: np.array([7, unchanged, unchanged], dtype=kind)})  # type: ignore[arg-type]
    second = Transformation(**{name: np.array([8, 9, unchanged], dtype=kind)})  # type: ignore[arg-type]
    assert getattr(first.then(second), name).tolist() == ([15, 9, 0] if name in PARTS else [7, 9, unchanged])
    for one, other in ((first, Transformation()), (Transformation(), first)):
        assert getattr(one.then(other), name).tolist() == [7, unchanged, unchanged]


def test_further_nodes_of_the_second_follow_those_of_the_first() -> None:
    ends = np.array([-1, 4]), np.array([2, -2]), np.array([5, 6])
    first = Transformation(edges=(ends,), further_nodes=2)
    both = first.then(Transformation(edges=(ends,), further_nodes=2))
    assert both.further_nodes == 4
    assert [edge[0].tolist() for edge in both.edges] == [[-1, 4], [-3, 4]]
    assert [edge[1].tolist() for edge in both.edges] == [[2, -2], [2, -4]]


def test_code_is_as_short_as_either_makes_it() -> None:
    longer, parts = np.array([0, -5, -5, 4]), np.array([3, 3, 7, 1])
    both = Transformation(longer_ps=longer).then(Transformation(shorter_parts_ps=parts))
    assert both.code_ps is not None
    assert both.code_ps.tolist() == [-3, -5, -7, 3]
