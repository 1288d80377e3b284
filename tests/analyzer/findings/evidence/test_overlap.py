"""Overlaps of calls and intervals against time counted picosecond by picosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from logpost.analyzer.findings.evidence.overlap import Overlap

steps = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=8)
intervals = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), min_size=1, max_size=6)


@given(steps, intervals)
def test_both_sides_count_the_same_time(gaps: list[tuple[int, int]], wanted: list[tuple[int, int]]) -> None:
    edges = np.cumsum(np.array(gaps, dtype=np.int64).ravel())
    enter, leave = edges[0::2], edges[1::2]
    begin = np.array([at for at, _ in wanted], dtype=np.int64)
    end = begin + np.array([length for _, length in wanted], dtype=np.int64)
    overlap = Overlap(enter, leave, begin, end)
    each = np.maximum(0, np.minimum.outer(leave, end) - np.maximum.outer(enter, begin))
    np.testing.assert_array_equal(overlap.of_intervals(), each.sum(axis=0))
    np.testing.assert_array_equal(overlap.of_calls(), each.sum(axis=1))
