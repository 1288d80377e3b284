"""LOGPC Fig. 11: the order of communication makes the hot spot, and the analyzer names it."""

from __future__ import annotations

from collections.abc import Callable

from tests.experiments.reading import number, table

from logpost.experiments.framework.result import Result

NAME = "em3d-order"


def test_the_improved_order_stalls_less_than_half_as_long(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "Fig. 11")
    assert number(times, 15, "stall, improved") < 0.5 * number(times, 15, "stall, original")
    assert number(times, 15, "improved") < 0.9 * number(times, 15, "original")


def test_the_hot_spot_grows_with_the_span(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "Fig. 11")
    assert number(times, 15, "stall, original") > 1.5 * number(times, 1, "stall, original")
    assert number(times, 15, "original") > number(times, 1, "original")


def test_nothing_is_faster_than_logp(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "Fig. 11")
    for span in (1, 15):
        assert number(times, span, "improved") > number(times, span, "LogP = LoGPC, no stalls")


def test_the_first_finding_of_the_original_order_is_the_hot_spot(quick_result: Callable[[str], Result]) -> None:
    found = table(quick_result(NAME), "What `logpost analyze` finds")
    original = [row for row in found.rows if row[0] == "original"]
    improved = [row for row in found.rows if row[0] == "improved"]
    assert "send to the same rank at once" in str(original[0][2])
    assert original[0][3], "the ranks are named"
    assert original[0][4], "the region is named"
    assert original[0][5] != "–", "the window is named"
    assert not [row for row in improved if "at once" in str(row[2])]
