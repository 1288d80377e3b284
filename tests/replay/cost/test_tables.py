"""Measured tables: linear between points, continued beyond the largest size, the second axis logarithmic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from logpost.replay.cost.arrays import ModelError
from logpost.replay.cost.tables import Line, Surface

LINE = Line.through([(16, 131), (1, 10), (4, 20)], what="o_net")
SURFACE = Surface.through([(1, 64, 8), (16, 64, 98), (1, 1024, 30), (16, 1024, 420)], what="l_mw")


def test_at_and_between_the_points() -> None:
    np.testing.assert_array_equal(LINE(np.array([1.0, 4.0, 16.0])), [10, 20, 131])
    assert LINE(10) == 75.5  # halfway from 4 to 16: (20 + 131)/2
    # Halfway in size 53 and 225; stride 256 is halfway from 64 to 1024 in log2.
    assert SURFACE(8.5, 256) == 139
    assert SURFACE(16, 1024) == 420


def test_costs_per_byte_persist_beyond_the_largest_size_and_are_marked() -> None:
    # The last segment has 111 per 12: 131 + 111 at 28. Below the first size the first value holds.
    found, beyond = LINE.read(np.array([0.0, 16.0, 28.0]))
    np.testing.assert_allclose(found, [10, 131, 242])
    assert beyond.tolist() == [False, False, True]


def test_the_nearest_line_holds_outside_of_the_second_axis() -> None:
    found, beyond = SURFACE.read(1, np.array([8.0, 64.0, 1024.0, 4096.0]))
    np.testing.assert_array_equal(found, [8, 8, 30, 30])
    assert beyond.tolist() == [False, False, False, True]


def test_a_falling_last_segment_and_a_single_point_are_not_continued() -> None:
    assert Line.through([(1, 10), (2, 1)], what="o")(100) == 1.0
    assert Line.through([(1, 10), (2, 20)], what="o", extrapolate=False)(100) == 20.0
    assert Line.through([(1, 10)], what="o")(100) == 10.0


def test_columns_keep_their_shape() -> None:
    assert np.shape(LINE(np.ones((2, 3)))) == (2, 3)
    assert np.shape(SURFACE(np.ones((2, 1)), np.ones(3))) == (2, 3)
    assert np.shape(LINE(np.empty(0))) == (0,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Line.through([], what="o_mw"), r"o_mw: the table has no points"),
        (lambda: Line.through([(1, 2), (1, 3)], what="o_mw"), r"o_mw: two values for the same size 1"),
        (lambda: Line.through([(1, -2)], what="o_mw"), r"o_mw = -2 must be at least 0"),
        (lambda: Surface.through([], what="l_mw"), r"l_mw: the table has no points"),
        (lambda: Surface.through([(1, 0, 2)], what="l_mw"), r"l_mw: the second axis must be positive, not 0"),
    ],
)
def test_bad_tables(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call()
