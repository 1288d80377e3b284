"""SENS's regions between the points of a sweep are those of the elasticity, and neighbours of one name are one band."""

from __future__ import annotations

import pytest

from logpost.replay.graph.regions import Band, bands


def test_each_region_has_its_band() -> None:
    # Elasticities ln(T2/T1) / ln 2: 0.014; 0.58 and 1; ln(4) / ln 2 = 2.
    found = bands([1, 2, 4, 8, 16], [100, 101, 151, 302, 1208], worse_upwards=True)
    assert found == [
        Band(1, 2, "latency hiding"),
        Band(2, 8, "latency dominated"),
        Band(8, 16, "congestion dominated"),
    ]


def test_a_bandwidth_is_worse_where_it_is_smaller() -> None:
    found = bands([1, 2, 4], [400, 100, 100], worse_upwards=False)
    assert found == [Band(1, 2, "congestion dominated"), Band(2, 4, "latency hiding")]


@pytest.mark.parametrize(("settings", "times"), [([0, 1], [5, 6]), ([1, 2], [0, 6]), ([], [])])
def test_what_has_no_logarithm_has_no_bands(settings: list[float], times: list[float]) -> None:
    assert bands(settings, times, worse_upwards=True) == []


def test_values_may_fall() -> None:
    found = bands([4, 2, 1], [100, 100, 400], worse_upwards=False)
    assert found == [Band(4, 2, "latency hiding"), Band(2, 1, "congestion dominated")]


def test_without_contention_nothing_is_congested() -> None:
    assert [one.name for one in bands([1, 2], [100, 400], worse_upwards=True, congests=False)] == ["latency dominated"]
