"""Which function samples name, with which error, and where they do not say."""

from __future__ import annotations

from math import sqrt

import numpy as np
import polars as pl
import pytest

from logpost.analyzer.findings.evidence.sampled import Frame, sampled_code, share_of, time_on_processor
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
    table = [(location, callpath, 10 * at, line) for at, (callpath, line) in enumerate(each)]
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
    share, error = share_of(8, 8)
    assert share == 1.0
    assert error == pytest.approx(1 / 16 / 1.125)


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
    inside = [(0, RELAX, at, 1) for at in range(210, 210 + count)]
    samples = pl.DataFrame([(0, RELAX, 0, 1), *inside], schema=schema.SAMPLES.schema, orient="row")
    found = time_on_processor(samples, period, 0, begins, ends)
    assert {one.name: one.value for one in found} == stated


def test_a_location_without_any_sample_may_not_have_been_sampled() -> None:
    assert time_on_processor(_samples((20, RELAX, 6), location=1), 10, 0, *WHOLE) == ()
