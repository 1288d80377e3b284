"""The region of interest as the user names it."""

from __future__ import annotations

from logpost.analyzer.run.roi import RegionOfInterest


def test_what_is_named_is_said() -> None:
    assert RegionOfInterest(from_ps=1_500_000_000_000, region="solve").text == "region solve, from 1.5 s"
    assert RegionOfInterest(to_ps=2 * 10**9, pcontrol=0).text == "level 0 of MPI_Pcontrol, to 0.002 s"


def test_nothing_named_is_everything() -> None:
    assert RegionOfInterest().everything
    assert not RegionOfInterest(from_ps=0).everything
