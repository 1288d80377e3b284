"""SENS's regions between the points of a sweep are those of the elasticity, and neighbours of one name are one band."""

from __future__ import annotations

import pytest

from logpost.dashboards.figures.chart import figure
from logpost.dashboards.figures.sens_regions import Band, sens_regions, shaded


def test_each_region_has_its_band() -> None:
    # Elasticities ln(T2/T1) / ln 2: 0.014; 0.58 and 1; ln(4) / ln 2 = 2.
    found = sens_regions([1, 2, 4, 8, 16], [100, 101, 151, 302, 1208], worse_upwards=True)
    assert found == [
        Band(1, 2, "latency hiding"),
        Band(2, 8, "latency dominated"),
        Band(8, 16, "congestion dominated"),
    ]


def test_a_bandwidth_is_worse_where_it_is_smaller() -> None:
    found = sens_regions([1, 2, 4], [400, 100, 100], worse_upwards=False)
    assert found == [Band(1, 2, "congestion dominated"), Band(2, 4, "latency hiding")]


@pytest.mark.parametrize(("settings", "times"), [([0, 1], [5, 6]), ([1, 2], [0, 6]), ([], [])])
def test_what_has_no_logarithm_has_no_bands(settings: list[float], times: list[float]) -> None:
    assert sens_regions(settings, times, worse_upwards=True) == []
    shaded(figure(), [])


def test_narrow_bands_bear_no_name() -> None:
    fig = figure()
    shaded(fig, [Band(1, 1.1, "latency hiding"), Band(1.1, 16, "latency dominated")])
    assert [shape.label.text for shape in fig.layout.shapes] == ["", "latency dominated"]
