"""The chart of efficiencies over time."""

from __future__ import annotations

import pytest
from tests.said import facts

from logpost.analyzer.report.efficiency_windows import Stretch
from logpost.dashboards.figures.efficiencies import efficiencies_over_time

MS = 10**9


def test_every_stretch_is_a_step_and_what_nothing_computes_in_has_no_balance() -> None:
    some = (
        Stretch(10 * MS, 20 * MS, 0.8, 1.0, 0.8, 1.0, 0.8, whole=True),
        Stretch(20 * MS, 30 * MS, 0.4, 2 / 3, 0.6, 0.75, 0.8, whole=True),
        Stretch(30 * MS, 40 * MS, 0.0, None, 0.0, None, None, whole=False),
    )
    chart = efficiencies_over_time(some)
    data = {trace["name"]: trace for trace in chart.payload()["figure"]["data"]}
    assert data["parallel efficiency"]["y"] == [80.0, 40.0, 0.0, 0.0]
    assert data["load balance"]["y"] == [100.0, pytest.approx(66.67), None, None]
    assert data["communication efficiency"]["x"] == [10.0, 20.0, 30.0, 40.0]
    assert data["serialization"]["y"] == [100.0, 75.0, None, None]
    assert data["transfer"]["visible"] == "legendonly"
    assert facts(chart.summary) == ["3", "40.0 %", "20.0 ms", "30.0 ms"]
