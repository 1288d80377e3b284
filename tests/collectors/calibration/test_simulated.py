"""The simulated micro-benchmark against hand-drawn time-lines, LOGP's closed forms, and its Table 4."""

from __future__ import annotations

import numpy as np
import pytest

from logpost.collectors.calibration.simulated import Noise, Truth, issue_times
from logpost.errors import InputError

PARAGON = Truth(L=6.3, o_s=1.4, o_r=2.2, g=7.6)
MEIKO = Truth(L=7.5, o_s=1.7, o_r=1.6, g=13.6)
MYRINET = Truth(L=11.1, o_s=2.0, o_r=2.6, g=12.4)


def test_issues_end_when_a_hand_drawn_time_line_says() -> None:
    # L 5, o_s 1, o_r 2, g 4. Issues end at 1, 2, 3, ...; requests leave at 1, 5, 9 (g), arrive at 6, 10, 14. The
    # responder takes 2 + 1 each: replies leave at 9, 13, 17 and arrive at 14, 18, 22. At 14 the requester has issued
    # 14 requests; it handles the first reply (to 16) before issue 15, which ends at 17.
    times = issue_times(Truth(L=5, o_s=1, o_r=2, g=4, capacity=100), 15)
    assert times.tolist() == [*map(float, range(1, 15)), 17.0]


def test_a_full_network_stalls_the_requester() -> None:
    # Two requests outstanding: the third waits for the first reply at 14, handles it (16), and ends at 17.
    times = issue_times(Truth(L=5, o_s=1, o_r=2, g=4, capacity=2), 3)
    assert times.tolist() == [1.0, 2.0, 17.0]


@pytest.mark.parametrize("truth", [PARAGON, MEIKO, MYRINET], ids=["Paragon", "Meiko", "Myrinet"])
@pytest.mark.parametrize("delta", [0.0, 2.0, 16.0, 40.0])
def test_the_steady_state_is_the_larger_of_the_gap_and_the_processor(truth: Truth, delta: float) -> None:
    times = issue_times(truth, 3000, delta)
    assert times[0] == pytest.approx(truth.o_s + delta)
    steady = (times[-1] - times[1999]) / 1000
    assert steady == pytest.approx(max(truth.g, truth.o_s + truth.o_r + delta), rel=1e-3)


@pytest.mark.parametrize(("truth", "senders"), [(PARAGON, 7), (MYRINET, 3)], ids=["Paragon", "Myrinet"])
def test_senders_to_one_receiver_share_its_gap(truth: Truth, senders: int) -> None:
    # LOGP 3.5: the gap grows in proportion to the senders. Table 4 prints 6 for 7 and 3 for 3; the model says K.
    alone = issue_times(truth, 2000)
    crowd = issue_times(truth, 2000, requesters=senders)
    ratio = (crowd[-1] - crowd[999]) / (alone[-1] - alone[999])
    assert ratio == pytest.approx(senders, rel=0.01)


def test_one_sender_to_many_is_its_own_bottleneck() -> None:
    # Each receiver has its own interface, but requests and replies still pass the sender's: g stays.
    alone, many = (issue_times(MYRINET, 2000, responders=n) for n in (1, 4))
    assert (many[-1] - many[999]) == pytest.approx(alone[-1] - alone[999], rel=0.01)


def test_long_messages_occupy_the_interface_for_their_bytes() -> None:
    truth = Truth(L=10, o_s=1, o_r=1, g=2, G=0.01)
    times = issue_times(truth, 2000, size=4096)
    assert (times[-1] - times[999]) / 1000 == pytest.approx(40.96, rel=1e-3)
    assert truth.round_trip(4096) == pytest.approx(1 + 10 + 40.95 + 1 + 1 + 10 + 1)


def test_noise_is_repeatable_and_has_the_mean_it_says() -> None:
    noisy = [issue_times(PARAGON, 500, 16.0, noise=Noise(0.1), seed=3) for _ in range(2)]
    assert (noisy[0] == noisy[1]).all()
    # E[exp(0.1 z)] = exp(0.005) on each of 19.6 us.
    assert noisy[0][-1] / 500 == pytest.approx(19.6 * np.exp(0.005), rel=0.01)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Truth(L=-1, o_s=1, o_r=1, g=1), "L = -1 s .* must be finite and not negative"),
        (lambda: Truth(L=1, o_s=1, o_r=1, g=1, capacity=0), "capacity = 0 .* must be at least 1"),
        (lambda: issue_times(PARAGON, 0), "0 requests; a signature needs 1 to 1000000"),
        (lambda: issue_times(PARAGON, 1, responders=0), "1 requesters and 0 responders; at least one"),
    ],
)
def test_what_is_no_benchmark_is_refused(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]
