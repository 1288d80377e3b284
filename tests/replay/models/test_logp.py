"""LogP against LOGP section 2.1, and its properties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from logpost.replay.models import LogGPParameters, ModelError, logp
from logpost.replay.models.papers.logp import MEIKO, MYRINET, PARAGON
from logpost.replay.models.units import MICROSECOND

from .strategies import counts, parameters, times


def test_one_and_many_messages_of_the_paragon() -> None:
    assert logp.one_message(PARAGON) == pytest.approx(9.9)  # 1.4 + 6.3 + 2.2
    assert logp.messages(PARAGON, 10) == pytest.approx(78.3)  # 9.9 + 9 * 7.6
    np.testing.assert_allclose(logp.messages(PARAGON, np.array([1, 2, 3])), [9.9, 17.5, 25.1])


def test_round_trips_of_table_3() -> None:
    # 2 (1.4 + 6.3 + 2.2): L = 6.3, not the 7.5 of the text, which is Meiko's and would give 22.2.
    assert logp.round_trip(PARAGON) == pytest.approx(19.8)  # printed 19.9 - 20.1
    assert logp.round_trip(MEIKO) == pytest.approx(21.6)  # printed 20.3 - 21.6: the maximum
    assert logp.round_trip(MYRINET) == pytest.approx(31.4)  # printed 30.6 - 31.5: the maximum


def test_senders_to_one_receiver_share_its_gap() -> None:
    # Table 4 measures 3 for 3 nodes (Myrinet), 6 for 7 (Paragon), 16.8 for 15 (Meiko); the model says k.
    for p, k in ((MYRINET, 3), (PARAGON, 7), (MEIKO, 15)):
        assert logp.sender_rate(p, 1) / logp.sender_rate(p, k) == pytest.approx(k)


def test_capacity() -> None:
    assert logp.capacity(PARAGON) == 1  # ceil(6.3/7.6)
    assert logp.capacity(LogGPParameters(L=10, o_s=1, o_r=1, g=3, unit=MICROSECOND)) == 4  # ceil(10/3)


def test_without_any_gap_rate_and_capacity_are_unlimited() -> None:
    free = LogGPParameters(L=1, o_s=0, o_r=0, g=0, unit=MICROSECOND)
    assert logp.sender_rate(free, 2) == float("inf")
    assert logp.capacity(free) == float("inf")
    nothing = LogGPParameters(L=0, o_s=0, o_r=0, g=0, unit=MICROSECOND)
    assert logp.capacity(nothing) == float("inf")


def test_a_gap_below_the_overhead_is_the_overhead() -> None:
    # 100 sends of 5 us keep the CPU busy for 500 us, whatever the interface could do.
    p = LogGPParameters(L=1, o_s=5, o_r=2, g=1, unit=MICROSECOND)
    assert logp.messages(p, 100) == 5 + 99 * 5 + 1 + 2


@pytest.mark.parametrize("call", [lambda: logp.messages(PARAGON, 0), lambda: logp.sender_rate(PARAGON, 0)])
def test_fewer_than_one_message_or_sender_is_refused(call: object) -> None:
    with pytest.raises(ModelError, match=r"[nk] = 0 must be at least 1"):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("name", ["n", "k"])
def test_messages_and_senders_are_counted(name: str) -> None:
    for value in (3.5, np.array([1.0, 3.5])):
        with pytest.raises(ModelError, match=rf"{name} = 3.5 must be a whole number"):
            logp.MODEL.predict(**{"L": 5, "o": 1, name: value})
    with pytest.raises(ModelError, match=r"k = 1.5 must be a whole number"):
        logp.sender_rate(PARAGON, 1.5)


@given(parameters(), times, counts)
def test_no_time_shrinks_when_a_parameter_grows(p: LogGPParameters, more: float, n: float) -> None:
    for name in ("L", "o_s", "o_r", "g"):
        slower = replace(p, **{name: getattr(p, name) + more})
        for time in (logp.one_message, logp.round_trip, lambda q: logp.messages(q, n)):
            assert time(slower) >= time(p) >= 0.0


def test_the_slowest_stage_may_be_the_receiver() -> None:
    # Receiving costs 7 us: two senders get a turn every 14 us each, and ten messages need 9 of its turns.
    p = LogGPParameters(L=1, o_s=2, o_r=7, g=3, unit=MICROSECOND)
    assert logp.effective_gap(p) == 7
    assert logp.sender_rate(p, 2) == 1 / 14
    assert logp.messages(p, 10) == 2 + 9 * 7 + 1 + 7
    assert logp.capacity(LogGPParameters(L=15, o_s=2, o_r=7, g=3, unit=MICROSECOND)) == 3  # ceil(15/7)
