"""LOGPC Fig. 3 to 5: a long message through the input queue."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.experiments.reading import number, table

from logpost.experiments.framework.result import Result
from logpost.experiments.long_message import MEMORY, delivery, drawn_down


def test_a_short_message_waits_for_its_interrupt() -> None:
    # 16 B: the first byte arrives after 25 + 8, the header after 4 more, the interrupt costs 129, then 16 x 0.25.
    assert delivery(16, 0.25).end == pytest.approx(25 + 8 + 4 + 129 + 4)


def test_a_long_message_is_taken_as_it_arrives() -> None:
    # The last of 10,000 bytes arrives after 25 + 8 + 9,999 x 0.5 and is taken in a quarter of a cycle.
    assert delivery(10_000, 0.25).end == pytest.approx(33 + 4999.5 + 0.25)


def test_the_queue_grows_while_the_interrupt_is_handled() -> None:
    # 133 cycles after the first byte 267 have arrived (one at once) and none is taken; nothing is left in the end.
    one = delivery(2000, 0.25)
    assert one.queue(np.array([33 + 132.9]))[0] == 266
    assert one.queue(np.array([one.end + 1]))[0] == 0


@pytest.mark.parametrize(("memory", "size"), [(MEMORY, 534), (MEMORY * 1.45, 970)])
def test_the_queue_is_empty_from_where_both_forms_of_2_meet(memory: float, size: int) -> None:
    # o_rl + a G + (B - 1) G_m = (B - 1) G at B - 1 = 133 / (0.5 - G_m): 532 and 967.3.
    assert drawn_down(memory) == pytest.approx(133 / (0.5 - memory) + 1, abs=2)
    assert drawn_down(memory) == pytest.approx(size, abs=3)


def test_the_result_agrees_with_the_formula(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result("long-message"), "Delivery")
    for size in (64, 1024, 65536):
        assert number(times, size, "played byte by byte") == pytest.approx(number(times, size, "(2)"), abs=1)
