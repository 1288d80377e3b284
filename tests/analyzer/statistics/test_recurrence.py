"""Periods of values: of any length up to a third of them, and none in noise."""

from __future__ import annotations

import numpy as np
import pytest

from logpost.analyzer.statistics.recurrence import LEAST, SHUFFLES, _left, period


def test_what_is_left_is_the_mean_of_pairs() -> None:
    values = np.random.default_rng(1).integers(0, 100, 31)
    left = _left(values)
    assert len(left) == 11
    for every in range(2, len(left)):
        classes = [values[at::every] for at in range(every)]
        squares = [(b - a) ** 2 / 2 for one in classes for i, a in enumerate(one) for b in one[i + 1 :]]
        assert left[every] == pytest.approx(np.mean(squares) / values.var(ddof=1))


@pytest.mark.parametrize(("count", "every"), [(30, 2), (12, 4), (100, 20), (60, 20), (300, 90), (90, 2)])
def test_periods_are_found_in_noise(count: int, every: int) -> None:
    """The first of four repetitions has three times the others' value, all +- 5 %: neither a period next to the true
    one, nor a multiple of it."""
    peaks = np.where(np.arange(count) % every < max(1, every // 4), 150, 50)
    noise = np.random.default_rng(2).normal(1, 0.05, (20, count))
    assert {period(peaks * one) for one in noise} == {every}


@pytest.mark.parametrize("count", [0, 1, 5])
def test_fewer_than_three_of_the_shortest_period_have_none(count: int) -> None:
    assert period(np.array([12, 8, 12, 8, 12][:count], dtype=np.int64)) == 1


def test_values_that_are_equal_have_none() -> None:
    assert period(np.array([5] * 12)) == 1


@pytest.mark.parametrize("count", [9, 12, 20, 60])
@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_noise_has_a_period_as_rarely_as_its_level(kind: str, count: int) -> None:
    """1 in SHUFFLES + 1 series at most, of 400: +- 2.2 points at two standard deviations."""
    draws = np.random.default_rng(count)
    every = draws.normal(100, 20, (400, count)) if kind == "normal" else draws.exponential(100, (400, count))
    assert np.mean([period(one) > 1 for one in every]) < 1 / (SHUFFLES + 1) + 0.022


def test_two_large_values_are_no_period() -> None:
    """Whatever their distance is, one of all periods divides it; that it is a third of the repetitions is chance."""
    values = np.full(60, 10)
    values[[7, 7 + 60 // LEAST]] = 1000
    assert period(values) == 1


def test_a_drift_is_no_period() -> None:
    assert period(np.arange(100)) == 1
    # What has not returned to where it was is as rarely a period as noise.
    walk = np.random.default_rng(3).normal(0, 1, (100, 100)).cumsum(axis=1)
    assert np.mean([period(one) > 1 for one in walk]) <= 1 / (SHUFFLES + 1)
