"""LOGPC Table 4: the models' numbers by arithmetic, the testbed's by where they must lie."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.experiments.reading import number, table

from logpost.experiments.framework.result import Result
from logpost.experiments.support.wormhole_short import remap

NAME = "all-to-all-short"


def test_the_models_give_what_the_paper_prints(quick_result: Callable[[str], Result]) -> None:
    sync = table(quick_result(NAME), "Synchronous")
    model = "logpost's models"
    # o_s 15, L 21, o_r 122: 2 * (15 + 21 + 122) = 316; + 15 + 122 = 453; + 2 * 23 = 499
    assert number(sync, "LogP: 2(o_s + L + o_r)", model) == 316
    assert number(sync, "LoPC: + C_r, rule of thumb", model) == 453
    assert number(sync, "LoGPC: + C_r + 2 C_n, with the printed C_n = 23", model) == 499


def test_c_n_of_a_short_message_is_not_the_printed_one(quick_result: Callable[[str], Result]) -> None:
    one_way = table(quick_result(NAME), "Asynchronous")
    # (n+1)(k_d-1) B^2 m/2 / (1 - m B k_d/2), n 2, k_d 2, B 16, m 1/137:
    # 3 * 128/137 / (1 - 16/137) = 2.803/0.8832 = 3.174
    assert number(one_way, "C_n, 16 bytes, hidden from the sender", "logpost's models") == pytest.approx(
        3.174, abs=1e-3
    )


def test_the_testbed_lies_between_logp_and_logpc(quick_result: Callable[[str], Result]) -> None:
    sync = table(quick_result(NAME), "Synchronous")
    measured = number(sync, "measured: random destinations", "remap, 32 ranks")
    staggered = number(sync, "measured: staggered destinations", "remap, 32 ranks")
    assert 316 < measured < 499
    # With staggered partners no messages collide: less queueing than by chance, never less than LogP.
    assert 316 <= staggered < measured


def test_one_way_messages_cost_less_than_half_a_round_trip(quick_result: Callable[[str], Result]) -> None:
    result = quick_result(NAME)
    one_way = number(table(result, "Asynchronous"), "measured", "remap, 32 ranks")
    both = number(table(result, "Synchronous"), "measured: random destinations", "remap, 32 ranks")
    assert 137 <= one_way < both / 2


def test_requests_hardly_wait_for_links() -> None:
    free, contended = (remap(300, 0.0, synchronous=True, seed=1, contended=links) for links in (False, True))
    assert free.links == 0
    # 32 requests or replies of 8 cycles each in 460 cycles, on links of which each is on the route of few.
    assert 0 < contended.links < 8
    assert free.others < contended.others < free.others + 8
