"""Messages in flight to each receiver."""

from __future__ import annotations

import numpy as np
import pytest
from tests.said import facts

from logpost.dashboards.figures.receivers import in_flight, receivers


def test_messages_count_by_the_part_of_an_interval_that_they_are_in_flight() -> None:
    # To row 0: one from 0 to 10, one from 5 to 20; to row 1: one from 12 to 14.
    begin, end = np.array([0, 5, 12]), np.array([10, 20, 14])
    counts = in_flight(begin, end, np.array([0, 0, 1]), 2, np.array([0, 10, 20, 30]))
    # 0-10: 10 + 5 of 10; 10-20: 10 of 10 to row 0, 2 of 10 to row 1
    assert counts.tolist() == [[1.5, 1.0, 0.0], [0.0, 0.2, 0.0]]


def test_the_chart_has_a_gap_where_nothing_is_in_flight_and_states_its_maximum() -> None:
    edges = np.array([0, 10, 20], dtype=np.int64) * 10**9
    chart = receivers(np.array([[8.0, 0.0], [1.0, 2.0]]), edges, ["rank 0", "rank 1"], 10.0, "original order")
    [trace] = chart.figure.data
    # The scale is logarithmic: log10(8) = 0.903
    assert trace.z[0][0] == pytest.approx(0.903, abs=1e-3)
    assert trace.z[0][1] is None
    assert trace.zmax == 1.0
    assert facts(chart.summary) == ["8", "0", "5.00 ms"]
