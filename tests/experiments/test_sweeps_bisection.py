"""SENS Fig. 8: what the quick form of the bisection sweep must show."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.experiments.reading import number, table

from logpost.experiments.framework.result import Result
from logpost.experiments.support.cross_traffic import crossed
from logpost.experiments.support.sens import POLLING, SHARED
from logpost.experiments.support.sens_regions import crossings, regions_text, slopes
from logpost.experiments.support.sens_sweep import Swept
from logpost.replay.graph.regions import CONGESTION, HIDING, LATENCY, region

NAME = "bisection-sweep"
VALUES = ("18 B/cycle", "10.5 B/cycle", "3 B/cycle")


def test_a_miss_alone_lasts_its_hops_and_its_bytes() -> None:
    # 24 B at 0.5 cycle, twice; 0.8 cycles for each of 4 hops on average between distinct nodes of 8 x 4, and for the
    # way into the node: 24 + 2 x 0.8 x 5 = 32. The mean of 2,000 random pairs.
    assert crossed(18.0, 64.0, 2000).miss == pytest.approx(32.0, rel=0.02)


def test_cross_traffic_leaves_the_bisection_that_is_wanted() -> None:
    # 6 of 18 bytes per cycle are 0.75 of each channel's 2; a message of 64 B every 85 cycles.
    some = crossed(12.0, 64.0, 300)
    assert some.bisection == pytest.approx(12.0, rel=0.03)
    # A miss finds 32 cycles of occupied channel in 85: it waits, but for less than two messages either way.
    assert 32.0 + 4.0 < some.miss < 32.0 + 4 * 32.0


def test_short_messages_of_cross_traffic_cannot_fill_the_channels(quick_result: Callable[[str], Result]) -> None:
    rate, claim = (
        next(one for one in quick_result(NAME).claims if one.text.startswith(start))
        for start in ("Small messages limit", "The smaller the cross-traffic")
    )
    assert rate.holds
    assert claim.holds


def test_less_bisection_is_never_faster(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "Fig. 8")
    for mechanism in ("shared memory", "messages, polling"):
        seconds = [number(times, f"EM3D, {mechanism}", value) for value in VALUES]
        # Overheads and barriers may shift against each other by a little, as when a message misses its barrier.
        assert seconds[0] <= seconds[1] * 1.005
        assert seconds[1] <= seconds[2] * 1.005
        assert seconds[0] < seconds[2]


def test_shared_memory_suffers_more_than_messages(quick_result: Callable[[str], Result]) -> None:
    times = table(quick_result(NAME), "Fig. 8")
    growth = {
        m: number(times, f"EM3D, {m}", VALUES[-1]) / number(times, f"EM3D, {m}", VALUES[0])
        for m in ("shared memory", "messages, polling")
    }
    assert growth["shared memory"] > 1.2
    assert growth["shared memory"] - 1 > 1.5 * (growth["messages, polling"] - 1)


def test_every_curve_has_its_regions(quick_result: Callable[[str], Result]) -> None:
    regions = table(quick_result(NAME), "Regions")
    for row in regions.rows:
        assert "18 to " in str(row[2])
        assert str(row[2]).endswith("to 3 B/cycle")


def curve(*seconds: float) -> Swept:
    """Of 18, 12 and 6 bytes per cycle."""
    return Swept("EM3D", SHARED, (18.0, 12.0, 6.0), seconds)


def test_regions_follow_their_rule() -> None:
    # A third of the bisection is lost at each step. 1 % more run time over 1/3 is 0.03; 30 % over 1/3 is 0.9.
    assert slopes(curve(1.0, 1.01, 1.31), 18.0) == pytest.approx([0.03, 0.9])
    assert regions_text(curve(1.0, 1.01, 1.31), 18.0, "B/cycle", congests=True) == (
        f"{HIDING} 18 to 12, {LATENCY} 12 to 6 B/cycle"
    )
    # 50 % over 1/3 is 1.5: more than the linear decrease of the axis.
    assert regions_text(curve(1.0, 1.0, 1.5), 18.0, "B/cycle", congests=True) == (
        f"{HIDING} 18 to 12, {CONGESTION} 12 to 6 B/cycle"
    )
    assert regions_text(curve(1.0, 1.1, 1.2), 18.0, "B/cycle", congests=True) == f"{LATENCY} 18 to 6 B/cycle"
    assert region(1.5, congests=False) == LATENCY


def test_crossings_are_interpolated() -> None:
    # 0.2 ahead at 12 and 0.1 behind at 6: two thirds of the way, at 8.
    flat = Swept("EM3D", POLLING, (18.0, 12.0, 6.0), (1.3, 1.3, 1.3))
    assert crossings(curve(1.0, 1.1, 1.4), flat) == pytest.approx([8.0])
    assert crossings(curve(1.0, 1.1, 1.2), flat) == []
    assert curve(1.0, 1.1, 1.4).at(9.0) == pytest.approx(1.25)
