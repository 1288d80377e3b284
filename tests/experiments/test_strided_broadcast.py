"""LOG3P Fig. 10 and 11: strides matter on this machine, and only log3P knows of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.experiments.reading import number, table

from logpost.experiments.framework.result import Result

NAME = "strided-broadcast"
CONTIGUOUS, STRIDED = "P = 2, 16 KB, 8 B", "P = 2, 16 KB, 512 B"


@pytest.fixture(autouse=True)
def _root_may_start_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


def test_loggp_cannot_tell_strides_apart_and_log3p_can(quick_result: Callable[[str], Result]) -> None:
    linear = table(quick_result(NAME), "Fig. 10")
    assert number(linear, STRIDED, "LogGP") == number(linear, CONTIGUOUS, "LogGP")
    assert number(linear, STRIDED, "log3P") > 1.1 * number(linear, CONTIGUOUS, "log3P")


def test_strided_data_takes_longer_and_log3p_is_nearer(quick_result: Callable[[str], Result]) -> None:
    linear = table(quick_result(NAME), "Fig. 10")
    measured = number(linear, STRIDED, "measured")
    # 2,048 doubles 512 B apart lie in as many cache lines, eight times those of contiguous data.
    assert measured > 1.3 * number(linear, CONTIGUOUS, "measured")
    assert abs(number(linear, STRIDED, "log3P") - measured) < abs(number(linear, STRIDED, "LogGP") - measured)


def test_the_algorithms_follow_their_equations(quick_result: Callable[[str], Result]) -> None:
    result = quick_result(NAME)
    linear, tree = table(result, "Fig. 10"), table(result, "Fig. 11")
    one = number(linear, STRIDED, "log3P")
    # Tree: h (o_mw + l_mw + o_net) with h = log2 4 = 2, twice one message; linear: P/2 (o_mw + l_mw) + o_net, less.
    assert number(tree, "P = 4, 16 KB, 512 B", "log3P") == pytest.approx(2 * one)
    assert one < number(linear, "P = 4, 16 KB, 512 B", "log3P") <= 2 * one


def test_ranks_beyond_cores_are_said(quick_result: Callable[[str], Result]) -> None:
    assert any("cores" in note for note in quick_result(NAME).notes)
