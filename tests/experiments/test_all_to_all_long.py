"""LOGPC 5.1.3: the bound on contention under both readings of the units."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logpost.experiments.framework.result import Number, Result


def test_the_printed_2_22_needs_the_printed_units_and_distinct_pairs(quick_result: Callable[[str], Result]) -> None:
    factors = quick_result("all-to-all-long").tables[0]
    by_reading = {row[0]: row[1].value for row in factors.rows if isinstance(row[1], Number)}
    # F = {(2G + k_d/2) + sqrt((2G - k_d/2)^2 + 2(n+1)(k_d-1))}/2 with k_d = 2, G = 0.5, n = 2:
    # {2 + sqrt(0 + 6)}/2 = 2.2247; with channel time 0.5: {(1 + 0.5) + sqrt(0.25 + 1.5)}/2 = 1.4114
    assert by_reading["k_d = 2 (distinct pairs), a byte occupies a channel for 1 cycle"] == pytest.approx(
        2.2247, abs=1e-4
    )
    assert by_reading["k_d = 2 (distinct pairs), a byte occupies a channel for G = 0.5 cycle"] == pytest.approx(
        1.4114, abs=1e-4
    )
