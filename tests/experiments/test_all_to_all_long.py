"""LOGPC 5.1.3: the bound on contention under both readings of the units, and the testbed's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.experiments.reading import table

from logpost.experiments.framework.result import Number, Result

NAME = "all-to-all-long"


def factor(result: Result, what: str, occupied: str, column: int) -> float:
    """Of the table of factors: the number of a row that begins so, in a column."""
    [cell] = [
        row[column]
        for row in table(result, "Time between two messages").rows
        if str(row[0]).startswith(what) and str(row[1]).startswith(occupied)
    ]
    assert isinstance(cell, Number)
    return cell.value


def test_the_printed_2_22_needs_the_printed_units_and_distinct_pairs(quick_result: Callable[[str], Result]) -> None:
    result = quick_result(NAME)
    # F = {(2G + k_d/2) + sqrt((2G - k_d/2)^2 + 2(n+1)(k_d-1))}/2 with k_d = 2, G = 0.5, n = 2:
    # {2 + sqrt(0 + 6)}/2 = 2.2247; with channel time 0.5: {(1 + 0.5) + sqrt(0.25 + 1.5)}/2 = 1.4114
    assert factor(result, "(13), k_d = 2", "1 cycle", 2) == pytest.approx(2.2247, abs=1e-4)
    assert factor(result, "(13), k_d = 2", "0.5 cycle", 2) == pytest.approx(1.4114, abs=1e-4)
    # k_d = 1.9375: {1.96875 + sqrt(0.03125^2 + 6 * 0.9375)}/2 = {1.96875 + 2.37191}/2 = 2.1703
    assert factor(result, "(13), k_d = 1.9375", "1 cycle", 2) == pytest.approx(2.1703, abs=1e-4)


def test_contention_costs_on_the_testbed_and_slower_links_cost_more(quick_result: Callable[[str], Result]) -> None:
    result = quick_result(NAME)
    fast = factor(result, "testbed, one message", "0.5 cycle", 3)
    slow = factor(result, "testbed, one message", "1 cycle", 3)
    # LogGP's bound without contention is 2 G = 1 B.
    assert 1.2 < fast < slow


def test_a_second_message_in_flight_hides_some_of_it(quick_result: Callable[[str], Result]) -> None:
    result = quick_result(NAME)
    one = factor(result, "testbed, one message", "0.5 cycle", 3)
    assert factor(result, "testbed, two messages", "0.5 cycle", 3) < one
