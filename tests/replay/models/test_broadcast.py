"""Linear and tree broadcasts: the printed formulas, and that two processes are one message."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from logpost.replay.models import LogGPParameters, ModelError, broadcast, log3p, loggp
from logpost.replay.models.units import MICROSECOND

from .strategies import parameters, sizes, times

P = LogGPParameters(L=5, o_s=1, o_r=2, g=3, G=0.5, unit=MICROSECOND)


def test_eight_processes_under_loggp() -> None:
    # 11 bytes: k = 10. linear 3 + 5 + 7 * 5 + 6 * 3 = 61; tree 3 (3 + 5 + 5) + 2 * 3 = 45
    assert broadcast.linear_loggp(P, 11, 8) == 61
    assert broadcast.tree_loggp(P, 11, 8) == 45


def test_eight_processes_under_log3p() -> None:
    # Titan's point: 8 * 449/2 + 131 = 1927; 3 * 580
    assert broadcast.linear_log3p(29, 420, 131, 8) == 1927
    assert broadcast.tree_log3p(29, 420, 131, 8) == 1740


def test_a_tree_of_five_has_three_levels() -> None:
    np.testing.assert_array_equal(broadcast.height(np.array([2, 4, 5, 8, 9, 32])), [1, 2, 3, 3, 4, 5])


@given(parameters(), sizes, times, times, times)
def test_two_processes_are_one_message(p: LogGPParameters, B: float, o_mw: float, l_mw: float, o_net: float) -> None:
    one = loggp.one_message(p, B)
    assert broadcast.linear_loggp(p, B, 2) == pytest.approx(one)
    assert broadcast.tree_loggp(p, B, 2) == pytest.approx(one)
    one = log3p.point_to_point(o_mw, l_mw, o_net)
    assert broadcast.linear_log3p(o_mw, l_mw, o_net, 2) == pytest.approx(one)
    assert broadcast.tree_log3p(o_mw, l_mw, o_net, 2) == pytest.approx(one)


@given(parameters(), sizes, st.integers(2, 1000), st.integers(0, 100), times)
def test_more_processes_or_dearer_parts_are_no_faster(
    p: LogGPParameters, B: float, n: int, more: int, extra: float
) -> None:
    for form in (broadcast.linear_loggp, broadcast.tree_loggp):
        assert form(p, B, n + more) >= form(p, B, n) >= 0.0
        assert form(replace(p, L=p.L + extra, g=p.g + extra), B, n) >= form(p, B, n)


def test_the_root_cannot_send_faster_than_its_overhead() -> None:
    # g = 0 and o_s = 4: 9 sends need 36 us of CPU; the printed formula alone would say 4 + 1 + 1.
    p = LogGPParameters(L=1, o_s=4, o_r=1, g=0, G=0, unit=MICROSECOND)
    assert broadcast.linear_loggp(p, 1, 10) == 4 + 1 + 1 + 8 * 4


def test_a_broadcast_needs_two() -> None:
    with pytest.raises(ModelError, match=r"P = 1 must be at least 2"):
        broadcast.tree_log3p(1, 1, 1, 1)
    with pytest.raises(ModelError, match=r"P = 2.5 must be a whole number"):
        broadcast.linear_log3p(1, 1, 1, 2.5)
    with pytest.raises(ModelError, match=r"P = 2.5 must be a whole number"):
        broadcast.linear_loggp(P, 1, 2.5)
