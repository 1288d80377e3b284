"""Intervals of sums, differences and fits, against closed forms and against what sampling really does."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from logpost.machines.calibration.estimate import Estimate, measured, ratio, shared_rounds
from logpost.machines.calibration.fits import constant, line, segments, through
from logpost.machines.calibration.statistics import Statistics


def _timed(median: float, half_width: float, rounds: Sequence[float]) -> Estimate:
    return measured(Statistics(min(rounds), median, median, half_width, 1, 1, True, tuple(rounds)))


def test_errors_of_independent_sums_and_differences_add_in_quadrature() -> None:
    a, b = Estimate(5.0, 0.3, 10), Estimate(2.0, 0.4, 20)
    # sqrt(0.09 + 0.16) = 0.5
    assert (a + b) == Estimate(7.0, 0.5, 30)
    assert (a - b) == Estimate(3.0, 0.5, 30)
    assert a.scaled(-2.0) == Estimate(-10.0, 0.6, 10)
    assert (a.shifted(1.0).low, a.shifted(1.0).high) == (5.7, 6.3)


def test_what_a_round_does_to_all_times_cancels_in_a_difference() -> None:
    # Round 3 was slower by 2.0 for both, so each is uncertain by that and their difference is not at all.
    T = _timed(10.0, 0.0, (9.9, 10.0, 12.0, 10.1, 10.0, 9.9))
    o = _timed(4.0, 0.0, (3.9, 4.0, 6.0, 4.1, 4.0, 3.9))
    # Six rounds: the interval of their median is from the smallest to the largest (rank 1).
    assert (T.low, T.high) == (9.9, 12.0)
    assert T.half_width == 2.0
    apart = T - o
    assert apart.value == 6.0
    assert apart.half_width == pytest.approx(0.0, abs=1e-12)
    assert (T + o).high == pytest.approx(18.0)
    # Seen as independent, they would be 6 +- 2.8.
    assert (Estimate(10.0, 2.0) - Estimate(4.0, 2.0)).half_width == pytest.approx(8**0.5)


def test_a_point_that_misses_the_first_rounds_shares_the_last_ones() -> None:
    # What was found necessary in the first round is measured from the second on: slow rounds are the same ones.
    early = _timed(10.0, 0.0, (9.0, 10.0, 10.0, 12.0, 12.0, 10.0, 10.0))
    late = _timed(4.0, 0.0, (4.0, 4.0, 6.0, 6.0, 4.0, 4.0))
    apart = early - late
    assert apart.rounds == (6.0, 6.0, 6.0, 6.0, 6.0, 6.0)
    assert apart.half_width == pytest.approx(0.0, abs=1e-12)
    # A line through both kinds of points has rounds, too: slope 6 in each of the last six.
    found = line(np.array([1.0, 2.0]), [late, early])
    assert found.slope.rounds == pytest.approx((6.0,) * 6)
    assert shared_rounds([early, late, Estimate(1.0, 0.1)]) == 6


def test_a_ratio_is_taken_round_by_round() -> None:
    # All rounds have a third more or less in both: the ratio is 2 in each.
    a, b = _timed(6.0, 0.0, (6.0, 8.0, 4.0, 6.0, 6.0, 6.0)), _timed(3.0, 0.0, (3.0, 4.0, 2.0, 3.0, 3.0, 3.0))
    assert (ratio(a, b).value, ratio(a, b).half_width) == (2.0, 0.0)
    # 12 bytes over 6, 8, 4, ... s: from 1.5 to 3 B/s about 2, not symmetric.
    rate = ratio(Estimate(12.0, 0.0), a)
    assert (rate.low, rate.value, rate.high) == (1.5, 2.0, 3.0)
    # Without rounds: sqrt(0.1^2 + 0.05^2) = 0.1118 of 2.
    assert ratio(Estimate(6.0, 0.6), Estimate(3.0, 0.15)).half_width == pytest.approx(2 * 0.1118, rel=1e-3)


def test_rounds_of_very_different_number_are_independent() -> None:
    a = _timed(1.0, 0.0, (0.9, 1.0, 1.1, 1.0, 1.0, 0.9))
    b = _timed(1.0, 0.0, (0.8, 1.2))
    assert (a + b).rounds == ()
    assert (a + b).half_width == pytest.approx(math.hypot(a.half_width, b.half_width))


def test_the_clocks_step_adds_to_the_rounds() -> None:
    # All rounds gave the same, but the clock is no finer than 0.5.
    found = _timed(3.0, 0.5, (3.0, 3.0, 3.0, 3.0, 3.0, 3.0))
    assert (found.low, found.high) == (2.5, 3.5)
    assert (found - Estimate(1.0, 0.0)).half_width == 0.5


def test_a_line_through_exact_points_is_that_line() -> None:
    x = np.array([1.0, 1e3, 1e7])
    found = line(x, [Estimate(2e-6 + 3e-9 * n, 0.0) for n in x])
    assert found.intercept.value == pytest.approx(2e-6, rel=1e-6)
    assert found.slope.value == pytest.approx(3e-9, rel=1e-9)
    assert found(2e7) == pytest.approx(2e-6 + 3e-9 * 2e7)
    with pytest.raises(ValueError, match="points at two places or more, not 1"):
        line(np.array([4.0, 4.0]), [Estimate(1.0, 0.1), Estimate(2.0, 0.1)])


def test_the_intervals_of_a_line_hold_the_truth_in_95_of_100_cases() -> None:
    random = np.random.default_rng(3)
    x = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    inside = np.zeros(2)
    cases = 2000
    for _ in range(cases):
        y = (5.0 + 2.0 * x) * (1 + 0.02 * random.standard_normal(len(x)))
        found = line(x, [Estimate(v, 1.96 * 0.02 * v) for v in y])
        inside += [found.intercept.low <= 5.0 <= found.intercept.high, found.slope.low <= 2.0 <= found.slope.high]
    # Birge's factor, never below 1, makes them a little wider: 95 to 98 %.
    assert (inside / cases > 0.945).all()
    assert (inside / cases < 0.985).all()


def test_a_line_fits_each_round() -> None:
    # Intercepts 1.0, 1.0, 1.5 and slopes 2.0, 2.0, 2.0: what moved in round 3 is the intercept alone.
    x = np.array([1.0, 2.0, 4.0])
    rounds = [(1.0 + 2.0 * n, 1.0 + 2.0 * n, 1.0 + 2.0 * n, 1.5 + 2.0 * n, 1.0 + 2.0 * n, 1.0 + 2.0 * n) for n in x]
    found = line(x, [_timed(1.0 + 2.0 * n, 0.0, r) for n, r in zip(x, rounds, strict=True)])
    assert (found.intercept.low, found.intercept.high) == pytest.approx((1.0, 1.5))
    assert found.slope.half_width == pytest.approx(0.0, abs=1e-9)
    # A constant and a slope through a known intercept are linear in the times, too.
    assert constant([_timed(1.0, 0.0, r[:2]) for r in rounds]).rounds != ()
    again = through(x, [_timed(1 + 2 * n, 0.0, r) for n, r in zip(x, rounds, strict=True)], found.intercept)
    assert again.slope.value == pytest.approx(2.0)
    assert again.slope.half_width == pytest.approx(0.0, abs=1e-9)


def test_points_that_scatter_by_more_than_their_errors_widen_the_line() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    calm = line(x, [Estimate(v, 0.1) for v in (1.0, 2.0, 3.0, 4.0)])
    wild = line(x, [Estimate(v, 0.1) for v in (1.5, 1.5, 3.5, 3.5)])
    assert wild.slope.half_width > 3 * calm.slope.half_width
    assert constant([Estimate(1.0, 0.1), Estimate(2.0, 0.1)]).half_width > 0.9


def test_a_given_intercept_leaves_the_slope() -> None:
    x = np.array([10.0, 20.0])
    found = through(x, [Estimate(12.0, 0.1), Estimate(22.0, 0.1)], Estimate(2.0, 0.5))
    assert found.slope.value == pytest.approx(1.0)
    # The intercept's 0.5 moves the slope by 0.5 * (10 + 20) / (100 + 400) = 0.03.
    assert found.slope.half_width == pytest.approx(math.hypot(0.03, 0.1 / math.sqrt(500)), rel=1e-6)
    with pytest.raises(ValueError, match="needs a point at x > 0"):
        through(np.array([0.0]), [Estimate(1.0, 0.1)], Estimate(1.0, 0.1))


def test_breakpoints_are_found_and_not_invented() -> None:
    x = np.array([2.0**k for k in range(14)])
    bent = [Estimate(1.0 + 0.1 * n if n <= 256 else 10.0 + 0.05 * n, 0.001 * n) for n in x]
    assert segments([(x, bent)]) == [(0, 9), (9, 14)]
    straight = [Estimate((3.0 + 0.2 * n) * (1 + 0.01 * (-1) ** k), 0.0) for k, n in enumerate(x)]
    assert segments([(x, straight)]) == [(0, 14)]
    with pytest.raises(ValueError, match="2 points; a line of this fit needs 3"):
        segments([(x[:2], bent[:2])])
