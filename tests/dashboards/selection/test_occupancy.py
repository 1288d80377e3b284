"""Occupancy of intervals by calls against counting picosecond by picosecond."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from logpost.dashboards.selection.occupancy import occupancy

CALLS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60), st.integers(1, 40), st.floats(0, 1)), max_size=12)
EDGES = st.lists(st.integers(0, 100), min_size=2, max_size=8, unique=True).map(sorted)
# Of equal width; the last interval may be shorter.
EQUAL = st.tuples(st.integers(0, 40), st.integers(1, 30), st.integers(1, 6), st.integers(0, 29)).map(
    lambda made: [made[0] + made[1] * i for i in range(made[2])] + [made[0] + made[1] * made[2] - made[3] % made[1]]
)


@given(CALLS, EDGES | EQUAL)
def test_a_call_counts_for_the_part_that_is_within(calls: list[tuple[int, int, int, float]], edges: list[int]) -> None:
    rows = [
        {"row": r, "enter_ps": t, "leave_ps": t + n, "a_ps": round(share * n), "b_ps": n - round(share * n)}
        for r, t, n, share in calls
    ]
    schema = dict.fromkeys(("row", "enter_ps", "leave_ps", "a_ps", "b_ps"), pl.Int64)
    found = occupancy(pl.LazyFrame(rows, schema=schema), 2, np.array(edges), ("a", "b"))
    expected = np.zeros((2, len(edges) - 1, 2))
    for row in rows:
        for ps in range(row["enter_ps"], row["leave_ps"]):
            for b in range(len(edges) - 1):
                if edges[b] <= ps < edges[b + 1]:
                    length = row["leave_ps"] - row["enter_ps"]
                    expected[row["row"], b] += np.array([row["a_ps"], row["b_ps"]]) / length
    np.testing.assert_allclose(found, expected, atol=1e-9)
