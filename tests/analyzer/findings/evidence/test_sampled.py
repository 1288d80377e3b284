"""Which function samples name, with which error, and where they do not say."""

from __future__ import annotations

from math import sqrt

import numpy as np
import polars as pl
import pytest

from logpost.analyzer.findings.evidence.sampled import (
    Frame,
    effective_number,
    sampled_code,
    share_error,
    time_on_processor,
)
from logpost.analyzer.run import schema

PROGRAM, MAIN, WORK, RELAX, SMOOTH = range(5)
FRAMES = {
    PROGRAM: Frame(-1, "app", "", 0),
    MAIN: Frame(PROGRAM, "main", "/src/app.c", 0),
    WORK: Frame(MAIN, "work", "/src/app.c", 30),
    RELAX: Frame(WORK, "relax", "/src/relax.c", 20),
    SMOOTH: Frame(MAIN, "smooth", "/src/app.c", 31),
}
WHOLE = (np.array([0]), np.array([10**6]))


def _samples(*rows: tuple[int, int, int], location: int = 0) -> pl.DataFrame:
    """Rows of (how many, callpath, line), one instant after the other."""
    each = [(callpath, line) for count, callpath, line in rows for _ in range(count)]
    table = [(location, callpath, 10 * at, line, 1) for at, (callpath, line) in enumerate(each)]
    return pl.DataFrame(table, schema=schema.SAMPLES.schema, orient="row")


def test_the_innermost_function_with_most_samples_is_named_with_its_line_and_error() -> None:
    samples = _samples((60, RELAX, 6), (37, RELAX, 7), (3, SMOOTH, 12))
    found = sampled_code(samples, FRAMES, 0, *WHOLE)
    assert found is not None
    assert (found.text, found.samples, found.share) == ("relax at relax.c:6", 100, 0.97)
    # Wilson: sqrt(0.97 * 0.03 / 100 + 1 / 40000) / 1.01
    assert found.error == pytest.approx(sqrt(0.000291 + 0.000025) / 1.01)
    assert {one.name: one.value for one in found.numbers}["samples"] == 100


def test_a_caller_is_named_where_no_function_that_it_calls_has_most() -> None:
    # 97 of 100 in main's callees, of which neither has most: the line is that of the call with more of them.
    found = sampled_code(_samples((50, RELAX, 6), (47, SMOOTH, 12), (3, MAIN, 40)), FRAMES, 0, *WHOLE)
    assert found is not None
    assert (found.text, found.share) == ("main at app.c:30", 1.0)


def test_a_majority_by_chance_is_none() -> None:
    # 6 of 10: 0.6 is less than three standard errors of 0.15 from one half
    found = sampled_code(_samples((6, RELAX, 6), (4, SMOOTH, 12)), FRAMES, 0, *WHOLE)
    assert found is not None
    assert found.region == "main"


def test_all_samples_alike_have_an_error() -> None:
    assert share_error(1.0, 8) == pytest.approx(1 / 16 / 1.125)


def test_a_sample_weighs_the_periods_since_the_one_before() -> None:
    # 20 samples in relax, of 4 periods each, and 40 of one period in smooth: 80 of 120 periods are relax's
    samples = _samples((20, RELAX, 6), (40, SMOOTH, 12)).with_columns(periods=pl.Series([4] * 20 + [1] * 40))
    found = sampled_code(samples, {**FRAMES, SMOOTH: FRAMES[RELAX]}, 0, *WHOLE)
    assert found is not None
    assert (found.region, found.line, found.samples) == ("relax", 6, 60)
    assert effective_number([4] * 20 + [1] * 40) == 120**2 / (20 * 16 + 40)
    # 12 samples, of which one was held back for 100 periods, weigh as 1.2
    held_back = _samples((12, RELAX, 6)).with_columns(periods=pl.Series([100] + [1] * 11))
    assert sampled_code(held_back, FRAMES, 0, *WHOLE) is None


@pytest.mark.parametrize(
    ("samples", "location"),
    [(_samples((7, RELAX, 6)), 0), (_samples((50, RELAX, 6)), 1), (_samples((50, PROGRAM, 0)), 0), (_samples(), 0)],
    ids=["too few", "of another rank", "the whole program", "none"],
)
def test_nothing_is_named(samples: pl.DataFrame, location: int) -> None:
    assert sampled_code(samples, FRAMES, location, *WHOLE) is None


def test_samples_outside_of_the_stretches_do_not_count() -> None:
    # instants 0 to 490 in relax, 500 to 990 in smooth; the stretches hold 20 of the one and none of the other
    samples = _samples((50, RELAX, 6), (50, SMOOTH, 12))
    found = sampled_code(samples, FRAMES, 0, np.array([0, 300]), np.array([95, 395]))
    assert found is not None
    assert (found.region, found.samples) == ("relax", 20)


@pytest.mark.parametrize(
    ("count", "period", "stated"),
    [
        (4, 10, {"on_processor": 40, "of_code": 100}),
        (6, 10, {}),  # more than half
        (0, 10, {"on_processor": 0, "of_code": 100}),
        (4, 0, {}),  # the time from sample to sample is not known
        (1, 13, {}),  # code of fewer than eight samples
    ],
)
def test_code_that_mostly_has_no_processor_is_stated(count: int, period: int, stated: dict[str, float]) -> None:
    begins, ends = np.array([200, 1000]), np.array([250, 1050])
    inside = [(0, RELAX, at, 1, 1) for at in range(210, 210 + count)]
    samples = pl.DataFrame([(0, RELAX, 0, 1, 1), *inside], schema=schema.SAMPLES.schema, orient="row")
    found = time_on_processor(samples, period, 0, begins, ends)
    assert {one.name: one.value for one in found} == stated


def test_processor_time_counts_the_periods_of_a_coarser_clock() -> None:
    # 4 samples of 4 periods of 10 in code of 500
    begins, ends = np.array([200]), np.array([700])
    samples = pl.DataFrame([(0, RELAX, at, 1, 4) for at in (210, 220, 230, 240)], schema.SAMPLES.schema, orient="row")
    found = time_on_processor(samples, 10, 0, begins, ends)
    assert {one.name: one.value for one in found} == {"on_processor": 160, "of_code": 500}


def test_a_location_without_any_sample_may_not_have_been_sampled() -> None:
    assert time_on_processor(_samples((20, RELAX, 6), location=1), 10, 0, *WHOLE) == ()
