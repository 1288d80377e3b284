"""Forms of growth: what is put in comes out, and what cannot be distinguished from it stays in the interval."""

from __future__ import annotations

import math

import numpy as np
import pytest

from logpost.analyzer.predict.scale.growth import (
    CONSTANT,
    REPLAY,
    TERMS,
    UNKNOWN,
    counted,
    growth,
    shape,
    stretch,
    sure,
)


@pytest.mark.parametrize("term", [one for one in TERMS if one not in (CONSTANT, "P")])
def test_a_pure_term_is_found_and_continued(term: str) -> None:
    sizes = np.array([16.0, 64.0, 256.0])
    values = 3.0 * shape(term, sizes)
    found = growth(sizes.tolist(), values.tolist(), TERMS)
    assert found.best.term == term
    assert found.error < 1e-9
    assert found.at(4096.0) == pytest.approx(3.0 * shape(term, np.array([4096.0]))[0])


def test_a_constant_and_a_term_are_found_from_four_sizes() -> None:
    """Amdahl: 2 s of every rank, 640 s divided: 2 + 640/P."""
    sizes = [16.0, 32.0, 64.0, 128.0]
    found = growth(sizes, [2 + 640 / one for one in sizes], ("1/P", "P^-1/2", "P"))
    assert found.best.text == "a + c 1/P"
    assert found.at(640.0) == pytest.approx(3.0)
    low, high = found.interval(640.0)
    assert low == pytest.approx(3.0)
    assert high == pytest.approx(3.0)


def test_two_sizes_hold_every_form_that_passes_through_them() -> None:
    """10 and 12 on 64 and 128: 10 + 2 per doubling is 22 on 4096; 8 + P/32 is 136."""
    found = growth([64.0, 128.0], [10.0, 12.0], ("log P", "P"), shown=())
    low, high = found.interval(4096.0)
    # log P without a constant: 10/6, 12/7 and so on: 20 or so; a constant: 11.
    assert low < 11.0
    assert high >= 136.0


def test_what_the_trace_shows_needs_no_alternative() -> None:
    sizes, values = [64.0, 128.0], [63.0, 127.0]
    assert growth(sizes, values, ("P - 1",), shown=("P - 1",)).interval(4096.0) == pytest.approx((4095.0, 4095.0))
    # By chance the same: it may also not grow at all.
    assert growth(sizes, values, ("P - 1",), shown=()).interval(4096.0)[0] < 100


def test_a_replay_is_a_term_and_its_factor_is_judged() -> None:
    replayed = {4.0: 1.0, 8.0: 5.0, 16.0: 2.0, 64.0: 7.0}
    found = growth([4.0, 8.0, 16.0], [1.1, 5.5, 2.2], TERMS, replayed)
    assert found.best.term == REPLAY
    assert found.best.text == "1.10 x replay"
    assert found.at(64.0) == pytest.approx(7.7)


def test_small_values_count_over_the_floor() -> None:
    """0.001 of a rank's 100 is nothing, whether it is 0 on another size or not."""
    assert growth([4.0, 8.0, 16.0], [0.001, 0.0, 0.002], ("P",), floor=[1.0, 1.0, 1.0]).error < 0.01
    assert growth([4.0, 8.0, 16.0], [0.001, 0.0, 0.002], ("P",)).error > 0.5


def test_nothing_stays_nothing() -> None:
    found = growth([4.0, 8.0], [0.0, 0.0], TERMS)
    assert found.interval(4096.0) == pytest.approx((0.0, 0.0), abs=1e-6)


def test_repeats_of_a_size_are_left_out_together() -> None:
    found = growth([4.0, 4.0, 8.0, 8.0], [1.0, 1.2, 1.0, 1.2], ("P",))
    assert found.best.term == CONSTANT
    assert found.at(64.0) == pytest.approx(1.0 + 0.2 / (1 + 1.44), rel=0.05)  # between both, by relative errors


def test_errors_grow_with_the_distance() -> None:
    assert stretch([64.0, 256.0], 128.0) == 1.0
    # 256 to 4096: four doublings, and two are known.
    assert stretch([64.0, 256.0], 4096.0) == pytest.approx(math.hypot(1, 2))


@pytest.mark.parametrize(
    ("values", "term"),
    [((6, 6, 6), "1"), ((15, 63, 255), "P - 1"), ((4, 6, 8), "log P"), ((32, 16, 8), "P^-1/2"), ((5, 1, 9), UNKNOWN)],
)
def test_counts_name_their_term(values: tuple[int, ...], term: str) -> None:
    assert counted([16, 64, 256], values) == term


def test_errors_that_are_estimated_from_few_sizes_hold_nine_of_ten() -> None:
    """Normal errors of three sizes, and a fourth one that their mean size is to bound: 90 % lie within, not 75 %."""
    drawn = np.abs(np.random.default_rng(7).normal(size=(200_000, 4)))
    known, next_one = drawn[:, :3].mean(axis=1), drawn[:, 3]
    assert np.mean(next_one <= sure(3) * known) == pytest.approx(0.91, abs=0.01)
    assert np.mean(next_one <= 1.645 * known) < 0.8
    # Of a deviation that many errors show, the normal quantile over the mean |error|, sqrt(2 / pi).
    assert sure(10_000) == pytest.approx(1.645 / math.sqrt(2 / math.pi), rel=1e-3)
