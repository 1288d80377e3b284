"""SENS's regions are the grounds of a sweep's figure."""

from __future__ import annotations

from logpost.dashboards.figures.chart import figure
from logpost.dashboards.figures.sens_regions import shaded
from logpost.replay.graph.regions import Band


def test_without_bands_there_are_no_grounds() -> None:
    fig = figure()
    shaded(fig, [])
    assert not fig.layout.shapes


def test_a_name_is_vertical_in_a_narrow_band_and_left_out_of_a_sliver() -> None:
    fig = figure()
    # Of an axis of 4 doublings: 0.1, 0.8 and 3.1.
    shaded(
        fig,
        [
            Band(1, 2**0.1, "latency hiding"),
            Band(2**0.1, 2**0.9, "latency dominated"),
            Band(2**0.9, 16, "congestion dominated"),
        ],
    )
    named = [(shape.label.text, shape.label.textangle) for shape in fig.layout.shapes]
    assert named == [("", -90), ("latency dominated", -90), ("congestion dominated", 0)]
