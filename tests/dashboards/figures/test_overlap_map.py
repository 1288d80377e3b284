"""The map of message sizes and bursts: the best cell is marked and said, what the model cannot say stays empty."""

from __future__ import annotations

import numpy as np
from tests.said import facts

from logpost.dashboards.figures.overlap_map import Overlapped, overlap_map


def test_sizes_are_whole_bytes() -> None:
    # 4096 B in 512 messages: 8 B each; 5808 B: 11.34, so that some of them have 12.
    made = overlap_map(Overlapped([5808 / 512, 5808 / 256], [1], np.array([[1e6, 2e6]]), np.array([[True, True]]), 3e6))
    assert list(made.figure.layout.xaxis.ticktext) == ["12 B", "23 B"]
    assert "messages of 12 B" in made.summary


def test_the_best_decomposition_is_marked_and_said() -> None:
    # 4 KiB in one message of 20 us, or two of 2 KiB: 15 us one by one, 12 us in a burst of two.
    times = np.array([[15e6, 20e6], [12e6, np.nan], [np.nan, np.nan]])
    hidden = np.array([[True, True], [False, False], [False, False]])
    made = overlap_map(Overlapped([2048.0, 4096.0], [1, 2, 4], times, hidden, 30e6))
    assert facts(made.summary) == ["2.00 KiB", "2", "12.0 µs", "60.0 %", "30.0 µs"]
    cells, star = made.figure.data
    assert (star.x, star.y) == ((0,), (1,))
    assert facts(cells.text[1][0]) == ["2.00 KiB", "2", "12.0 µs"]
    assert list(cells.text[2]) == ["", ""]
    assert list(made.figure.layout.yaxis.ticktext) == ["1", "2", "4"]
