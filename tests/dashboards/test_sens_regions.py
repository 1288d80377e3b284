"""SENS's regions are the grounds of a sweep's figure."""

from __future__ import annotations

from logpost.dashboards.figures.chart import figure
from logpost.dashboards.figures.sens_regions import shaded
from logpost.replay.whatif.regions import Band


def test_without_bands_there_are_no_grounds() -> None:
    fig = figure()
    shaded(fig, [])
    assert not fig.layout.shapes


def test_narrow_bands_bear_no_name() -> None:
    fig = figure()
    shaded(fig, [Band(1, 1.1, "latency hiding"), Band(1.1, 16, "latency dominated")])
    assert [shape.label.text for shape in fig.layout.shapes] == ["", "latency dominated"]
