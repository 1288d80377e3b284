"""Code before a call moves behind it: gaps of the graph, whose sum stays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np

from logpost.analyzer.findings.evidence.graph import Graph
from logpost.analyzer.findings.evidence.moved_code import moved_behind, stands_directly_before


def calls() -> Graph:
    """Location 0 with four calls behind 5, 10, 20 and 40 ps of code, location 1 with two behind 1 and 2."""
    return cast(
        Graph,
        SimpleNamespace(
            count=6,
            gap_ps=np.array([5, 10, 20, 40, 1, 2]),
            follows=np.array([False, True, True, True, False, True]),
            following=np.array([1, 2, 3, -1, 5, -1]),
        ),
    )


def test_code_moves_before_the_next_call_of_its_location() -> None:
    # Behind call 1 its 10 ps, behind call 4 its 1 ps; behind call 3, its location's last one, nothing follows.
    assert moved_behind(calls(), np.array([1, 3, 4])).tolist() == [5, 0, 30, 40, 0, 3]
    # Two in a row: each passes its own code on.
    assert moved_behind(calls(), np.array([1, 2])).tolist() == [5, 0, 10, 60, 1, 2]


def test_code_for_which_nobody_waits_stays() -> None:
    # Of call 1's 10 ps at most 4, of call 4's 1 ps all; call 3 is its location's last one.
    assert moved_behind(calls(), np.array([1, 3, 4]), np.array([4, 50, 9])).tolist() == [5, 6, 24, 40, 0, 3]


def test_code_before_other_calls_would_have_to_pass_these() -> None:
    since = np.array([True, False, False, False, True, False])
    # Since call 0 there are 10 + 20 + 40 ps before call 3, of which 40 stand directly before it.
    assert not stands_directly_before(calls(), np.array([3]), since)
    assert stands_directly_before(calls(), np.array([1, 5]), since)
    assert stands_directly_before(calls(), np.array([3]), since | (np.arange(6) == 2))
    assert stands_directly_before(calls(), np.array([0, 4]), np.zeros(6, dtype=np.bool_))  # their locations' first
