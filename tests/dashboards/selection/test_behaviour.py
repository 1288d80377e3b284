"""Ranks grouped by behaviour: outliers alone and first, the rest together, the same on every run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.dashboards.figures.test_folding import locations
from tests.said import facts

from logpost.analyzer.run.undivided import SHOWN
from logpost.dashboards.figures.breakdown import breakdown, lowest_compute
from logpost.dashboards.figures.folding import rows
from logpost.dashboards.selection.behaviour import grouped_rows, groups

MS = 10**9


def spent(*pairs: tuple[float, float]) -> np.ndarray:
    """Ranks that compute and wait for so many ms."""
    found = np.zeros((len(pairs), len(SHOWN)))
    found[:, 0] = [compute * MS for compute, _ in pairs]
    found[:, SHOWN.index("late_sender")] = [wait * MS for _, wait in pairs]
    return found


def test_an_outlier_is_alone_and_first() -> None:
    # 100 ranks compute for 80 ms and wait for 20; rank 37 the other way round, ranks 4 and 90 half and half. The median
    # is (80, 20): rank 37 is (|20 - 80| + |80 - 20|) / 2 = 60 ms of 100 away, ranks 4 and 90 are 30.
    each = spent(*[(80, 20)] * 100)
    each[37], each[[4, 90]] = spent((20, 80)), spent((50, 50))
    made = groups(each, 64)
    assert (made.count, made.radius) == (3, 0.0)
    assert np.flatnonzero(made.of == 0).tolist() == [37]
    assert np.flatnonzero(made.of == 1).tolist() == [4, 90]


def test_a_hundredth_of_the_time_needs_no_group() -> None:
    # 0.8 of 100 ms spent otherwise is below the threshold, 1.2 above.
    assert groups(spent((80, 20), (80, 20), (79.2, 20.8)), 64).count == 1
    assert groups(spent((80, 20), (80, 20), (78.8, 21.2)), 64).count == 2


def test_a_rank_that_ends_early_is_no_rank_like_the_others() -> None:
    # Half as long at the same shares: (|40 - 80| + |10 - 20|) / 2 = 25 % of the longest rank's time.
    made = groups(spent((80, 20), (80, 20), (40, 10)), 1)
    assert made.radius == pytest.approx(0.25)


@given(
    arrays(np.float64, st.tuples(st.integers(0, 40), st.just(3)), elements=st.integers(0, 1000).map(float)),
    st.integers(1, 8),
)
def test_every_rank_has_a_group_no_farther_than_it_says(each: np.ndarray, most: int) -> None:
    made = groups(each, most)
    assert made.count <= most
    assert sorted(set(made.of.tolist())) == list(range(made.count))
    longest = max(each.sum(axis=1).max(initial=0.0), 1.0)
    for group in range(made.count):
        mine = each[made.of == group] / longest
        apart = 0.5 * np.abs(mine[:, None] - mine[None]).sum(axis=2)
        # Some member is the centre: it is within the radius of all.
        assert apart.max(axis=1).min() <= made.radius + 1e-12


def test_rows_state_their_groups() -> None:
    each = spent(*[(80, 20)] * 100)
    each[37] = spent((20, 80))
    every = rows(locations(list(range(100))), 100)
    made = grouped_rows(every, each, 64)
    assert made is not None
    assert made.labels == ("37", "0 +98")
    assert made.titles == ("rank 37 on &lt;h&gt;", "99 ranks: 0–36, 38–99")
    assert made.sizes.tolist() == [1, 99]
    assert made.of["row"].to_list() == [1] * 37 + [0] + [1] * 62
    assert facts(made.note) == ["100", "2", "0.0 %"]


def test_ranks_that_are_all_alike_have_no_groups() -> None:
    assert grouped_rows(rows(locations([0, 1, 2]), 3), spent(*[(1, 1)] * 3), 2) is None


def test_the_breakdown_shows_the_mean_of_each_group_first() -> None:
    # Ranks 1 and 3 wait for 40 and 40.4 of 100 ms: one group, mean 40.2; they are the outliers of five.
    each = spent((80, 20), (60, 40), (80, 20), (59.6, 40.4), (80, 20))
    every = rows(locations(list(range(5))), 5)
    alike = grouped_rows(every, each, 4)
    chart = breakdown(each, every, rows(locations(list(range(5))), 2), alike)
    assert [view.label for view in chart.views] == ["By behaviour", "By rank", "Lowest compute first"]
    assert chart.views[0].traces[1]["x"] == [40.2, 20]
    # Blocks in the order of ranks: (0, 1, 2) waits 80 / 3, (3, 4) waits 60.4 / 2.
    assert chart.views[1].traces[1]["x"] == [26.6667, 30.2]
    assert lowest_compute(each).tolist() == [3, 1, 0, 2, 4]
